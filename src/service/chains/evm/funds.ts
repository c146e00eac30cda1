import type { Hex } from 'viem'
import type { SenderFunds } from '../chain.ts'
import type { EvmEndpoints } from './client.ts'

/** Balance and nonce of one block: what was sent with a smaller nonce is in that balance, everything else is not. */
export function readFunds(endpoints: EvmEndpoints, wallet: string): Promise<SenderFunds> {
  return endpoints.ask(async (client): Promise<SenderFunds> => {
    const address = wallet as Hex
    const blockNumber = await client.getBlockNumber()
    const [balanceAtomic, nonce] = await Promise.all([
      client.getBalance({ address, blockNumber }),
      client.getTransactionCount({ address, blockNumber }),
    ])
    return {
      height: Number(blockNumber),
      balanceAtomic,
      nonce,
      landed: new Set(),
      unproven: new Set(),
      minimumAtomic: 0n,
    }
  })
}
