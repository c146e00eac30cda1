import { startEpoch } from '../db/deployment.ts'
import type { Commands } from './command-line.ts'

export const restoreCommands: Commands = {
  restore: {
    options: [],
    async run({ db }) {
      const epoch = await startEpoch(db)
      return {
        value: { epoch },
        text: `Epoch ${epoch} begins. Start the service: it compares each network and wallet with its chain, and sends and grants again after that.
Keys that were revoked and wallets that were released since the backup are valid again: check key list and wallet owners.`,
      }
    },
  },
}
