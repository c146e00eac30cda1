import type { Hex } from 'viem'
import type { Audit } from '../chain.ts'
import type { EvmEndpoints } from './client.ts'

/** Balance and nonce of the finalized block. */
export function audit(endpoints: EvmEndpoints, wallet: string): Promise<Audit> {
  return endpoints.ask(async (client): Promise<Audit> => {
    const { number: blockNumber } = await client.getBlock({ blockTag: 'finalized' })
    const address = wallet as Hex
    const [balanceAtomic, nonce] = await Promise.all([
      client.getBalance({ address, blockNumber }),
      client.getTransactionCount({ address, blockNumber }),
    ])
    return { height: Number(blockNumber), exact: true, balanceAtomic, nonce, signed: [] }
  })
}
