import { resolve } from 'node:path'
import * as v from 'valibot'
import { backUpDatabase } from '#postgres/backup.ts'
import { startEpoch } from '../db/deployment.ts'
import { read, type ClosedCommands, type Commands } from './command-line.ts'

export const backupCommands: ClosedCommands = {
  backup: {
    options: ['file'],
    async runClosed(source, values) {
      const file = resolve(
        read(values, 'file', [v.pipe(v.string(), v.nonEmpty()), 'the path of a new file']),
      )
      const bytes = await backUpDatabase(source, file)
      return {
        value: { file, bytes },
        text: `The backup is in ${file}, ${bytes} bytes.
It has neither the vault key nor SIGNER_DIR: keep a copy of the vault key apart from it.`,
      }
    },
  },
}

export const restoreCommands: Commands = {
  restore: {
    options: [],
    declaresRestore: true,
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
