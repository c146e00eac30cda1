import type { Hex } from 'viem'
import { BATCH_SIZE } from '../batching-fetch.ts'
import type { EvmEndpoints } from './client.ts'

/** How many transactions wallets had sent at a block. */
type Counted = { height: number; hash: Hex; counts: ReadonlyMap<string, number> }

/** Wallets of one batch, beside both ends of the range. */
const AT_ONCE = BATCH_SIZE - 2

/**
 * Shows without reading blocks that wallets have sent no transaction in them: then as many were sent at
 * the last of these blocks as before the first.
 */
export class SentCounts {
  readonly #endpoints: EvmEndpoints
  #last: Counted | undefined

  constructor(endpoints: EvmEndpoints) {
    this.#endpoints = endpoints
  }

  /**
   * Whether these wallets have sent nothing in the blocks after `from` up to `to`. False where that is
   * not known: at the first call for a wallet, where the last call was for other blocks, and where the
   * block `from` was replaced since, as a transaction may have been replaced with it.
   */
  async areEqual(
    senders: readonly string[],
    { from, to }: { from: number; to: number },
  ): Promise<boolean> {
    // Without a block between them, the block `from` would be compared with itself at the next call.
    if (from >= to) return false
    const before = this.#last?.height === from ? this.#last : undefined
    this.#last = undefined
    const parts = Array.from({ length: Math.ceil(senders.length / AT_ONCE) }, (_, index) =>
      senders.slice(index * AT_ONCE, (index + 1) * AT_ONCE),
    )
    const counted = await this.#endpoints.request((client) =>
      Promise.all(
        parts.map(async (part) => {
          // One batch: a node behind the address that has another branch shows another hash.
          const alone = client.together()
          const [end, start, ...sent] = await Promise.all([
            alone.getBlock({ blockNumber: BigInt(to) }),
            before && alone.getBlock({ blockNumber: BigInt(from) }),
            ...part.map((sender) =>
              alone.getTransactionCount({ address: sender as Hex, blockNumber: BigInt(to) }),
            ),
          ])
          return { hash: end.hash, hashOfFrom: start?.hash, part, sent }
        }),
      ),
    )
    const hash = counted[0]?.hash
    if (!hash || counted.some((part) => part.hash !== hash)) return false
    const counts = new Map(
      counted.flatMap(({ part, sent }) => part.map((sender, index) => [sender, sent[index] ?? 0])),
    )
    this.#last = { height: to, hash, counts }
    return (
      before !== undefined &&
      counted.every(({ hashOfFrom }) => hashOfFrom === before.hash) &&
      senders.every((sender) => before.counts.get(sender) === counts.get(sender))
    )
  }
}
