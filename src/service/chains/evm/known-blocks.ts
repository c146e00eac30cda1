import { BlockNotFoundError, type Hex, type PublicClient } from 'viem'
import type { Chain } from '../chain.ts'
import { isHeadOf, type EvmEndpoints, type Tip } from './client.ts'

/** More than a network makes before its blocks are final. */
const MOST_BLOCKS = 5_000
/** How many blocks that no round has read are read at once, where they are missing in between. */
const MOST_MISSING = 8

type Header = { hash: Hex; parentHash: Hex; timestamp: bigint }
type Place = { height: number; hash: Hex }

/**
 * Blocks that one node told. Each names the one before it by its hash, so they show without a request whether a
 * block is still below the newest one. What another node told is forgotten when the node changes: a false
 * parent must not outlive the node that named it.
 */
export class KnownBlocks {
  readonly #headers = new Map<Hex, Header>()
  #node: PublicClient | undefined

  note(node: PublicClient | undefined, { hash, parentHash, timestamp }: Header): void {
    if (node !== this.#node) this.#headers.clear()
    this.#node = node
    this.#headers.delete(hash)
    this.#headers.set(hash, { hash, parentHash, timestamp })
    const oldest = this.#headers.keys().next()
    if (this.#headers.size > MOST_BLOCKS && !oldest.done) this.#headers.delete(oldest.value)
  }

  /** The block at this height below `tip`; where a block between is not known, the lowest place above it that is. */
  below(tip: Tip, height: number): Place {
    let { height: at, hash } = tip
    if (!this.#node || !isHeadOf(this.#node, tip)) return { height: at, hash }
    for (; at > height; at--) {
      const header = this.#headers.get(hash)
      if (!header) break
      hash = header.parentHash
    }
    return { height: at, hash }
  }

  /** A block that is known and still below `tip`, or is the tip itself. */
  find(tip: Tip, { height, hash }: Place): Header | undefined {
    return this.below(tip, height).hash === hash ? this.#headers.get(hash) : undefined
  }
}

/**
 * Whether another block stands at the height a transaction was seen at. No block there proves nothing: the node is
 * behind. The node is asked where the blocks that were read do not show that it is still there, and where it is
 * final by now: that is the last look at it.
 */
export function openIsGone(
  endpoints: EvmEndpoints,
  known: KnownBlocks,
  readTipSince: (since: number) => Promise<Tip>,
): Chain['isGone'] {
  /** Below this block, others were read already. */
  let filledBelow: Hex | undefined

  return async ({ height, blockHash }, since) => {
    const tip = since === undefined ? undefined : await readTipSince(since)
    const lowest = tip && known.below(tip, height)
    const isThere = lowest?.height === height && lowest.hash === blockHash
    if (isThere && tip && height > tip.finalizedHeight) return false
    const missing =
      lowest && lowest.height > height && lowest.hash !== filledBelow ? lowest : undefined
    if (missing) filledBelow = missing.hash
    try {
      return await endpoints.request(async (client) => {
        const [block] = await Promise.all([
          readBlock(client, height),
          missing && readDown(client, missing.height, height + 1),
        ])
        return block !== undefined && block.hash !== blockHash
      })
    } catch (error) {
      filledBelow = undefined
      throw error
    }
  }

  async function readDown(client: PublicClient, from: number, to: number): Promise<void> {
    const length = Math.min(from - to + 1, MOST_MISSING)
    const heights = Array.from({ length }, (_, index) => from - index)
    for (const block of await Promise.all(heights.map((each) => readBlock(client, each))))
      if (block) known.note(client, block)
  }
}

async function readBlock(client: PublicClient, height: number) {
  try {
    return await client.getBlock({ blockNumber: BigInt(height) })
  } catch (error) {
    if (error instanceof BlockNotFoundError) return undefined
    throw error
  }
}
