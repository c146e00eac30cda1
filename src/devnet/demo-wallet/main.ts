import { numberToHex } from 'viem'
import { announceEvm, handleEvmRequest } from './evm-wallet.ts'
import { connected, remember, setup } from './people.ts'
import { chooseAccount, confirmSigning } from './questions.ts'
import { ICON, NAME } from './approval-dialog.ts'
import { registerSolana, solanaHandlers } from './solana-wallet.ts'

/** A wallet for trying out, in place of a browser extension: real keys of this machine, real signatures, both families. A person decides. */

const info = { uuid: crypto.randomUUID(), name: NAME, icon: ICON, rdns: 'local.paydesk.demo' }
const emit = announceEvm({ info }, (method, params) =>
  handleEvmRequest(
    {
      exactNonce: true,
      network: async () => (await setup()).evm,
      account: async () => (await connected('evm'))?.evm,
      connect: async () => {
        const { evm } = await chooseAccount('evm')
        emit('connect', { chainId: numberToHex((await setup()).evm.chainId) })
        emit('accountsChanged', [evm.address])
        return evm
      },
      disconnect: () => {
        remember('evm', null)
        emit('accountsChanged', [])
      },
      approve: (request, { address }) => confirmSigning(request, address),
    },
    method,
    params,
  ),
)

registerSolana(
  { name: NAME, icon: ICON, chains: ['solana:devnet'] },
  solanaHandlers({
    account: async () => (await connected('solana'))?.solana,
    connect: async () => (await chooseAccount('solana')).solana,
    disconnect: () => remember('solana', null),
    approve: (request, { address }) => confirmSigning(request, address),
  }),
)
