import type { Block, Hex, PublicClient } from 'viem'
import {
  MAX_REORG,
  type ExpiredTransactions,
  type Found,
  type Head,
  type ObservedTransfer,
  type MonitoredTransaction,
  type SkippedRange,
} from '../chain.ts'
import { inParallel, unavailable } from '../endpoints.ts'
import type { EvmEndpoints } from './client.ts'
import type { KnownBlocks } from './known-blocks.ts'
import { readTransfer } from './observe.ts'
import { SentCounts } from './sent-counts.ts'

/** How many blocks one call reads at most, so that a long absence is made up in steps. */
const MAX_BLOCKS = 200
const PARALLEL_BLOCKS = 8

type ScannedBlock = Block<bigint, true, 'latest'>
type Match = { hash: string; landed: NonNullable<Found['landed']> }

/**
 * Reads blocks for transfers that payments wait for. It remembers the hashes it has read, and goes back where a reorg replaced them; to the block that
 * was final then where blocks were skipped, and by `MAX_REORG` where another process read them, as after a restart.
 */
export class BlockScan {
  readonly #endpoints: EvmEndpoints
  readonly #head: () => Promise<Head>
  readonly #known: KnownBlocks
  readonly #sentCounts: SentCounts
  readonly #hashes = new Map<number, Hex>()
  /** The node that told a block. */
  readonly #sources = new WeakMap<ScannedBlock, PublicClient>()
  /** Where the search after `from` began. */
  #last: { from: number; start: number } | undefined
  /** The last final block when blocks were read or skipped: those above it may have been replaced since. */
  #finalized: number | undefined

  /** `head`: read at most a block ago: it costs no call where the caller has asked for it. `known` takes the blocks that are read. */
  constructor(
    endpoints: EvmEndpoints,
    { head, known }: { head: () => Promise<Head>; known: KnownBlocks },
  ) {
    this.#endpoints = endpoints
    this.#head = head
    this.#known = known
    this.#sentCounts = new SentCounts(endpoints)
  }

  async find(
    monitored: readonly MonitoredTransaction[],
    { from, to }: { from: number; to: number },
    expired?: ExpiredTransactions,
  ): Promise<{ found: Found[]; readTo: number }> {
    // No transaction of a payment can be in a block below the one that the payment was built on. That
    // one itself may have been replaced since.
    const oldest = monitored.reduce(
      (least, { builtHeight }) => Math.min(least, builtHeight ?? Infinity),
      expired?.builtHeight ?? Infinity,
    )
    const first = Math.max(from + 1, oldest)
    if (first > to) return { found: [], readTo: Math.max(from, to) }
    const { finalizedHeight } = await this.#head()
    const readByAnother = first > oldest && !this.#hashes.has(from)
    const read = new Map<number, ScannedBlock>()
    const begin = await (readByAnother
      ? this.#afterFinal(first, oldest)
      : this.#beforeReorg(first, read))
    // A caller who has not come further may not have written what was found in replaced blocks.
    const start = this.#last?.from === from ? Math.min(begin, this.#last.start) : begin

    const end = Math.min(to, start + MAX_BLOCKS - 1)
    const heights = Array.from({ length: end - start + 1 }, (_, index) => start + index)
    const blocks = await inParallel(
      heights,
      PARALLEL_BLOCKS,
      async (height) => read.get(height) ?? this.#read(height),
    )
    requireOneChain(blocks)

    const transfers = blocks.flatMap(transfersOf)
    const late = await expired?.equalTo(transfers.map(({ landed }) => landed.transfer))
    const byTerms = Map.groupBy([...monitored, ...(late ?? [])], termsOf)
    const found = transfers.flatMap(({ hash, landed }): Found[] => {
      const fitting = byTerms.get(termsOf(landed.transfer)) ?? []
      const paymentIds = fitting.map(({ paymentId }) => paymentId)
      return paymentIds.length === 0 ? [] : [{ signature: hash, paymentIds, landed }]
    })
    // What was read counts when all of it was: after a failure, replaced blocks are read again.
    for (const block of blocks) {
      this.#hashes.set(Number(block.number), block.hash)
      this.#known.note(this.#sources.get(block), block)
    }
    this.#last = { from, start }
    this.#finalized = finalizedHeight
    this.#forgetBefore(end - MAX_REORG)
    return { found, readTo: end }
  }

  /** Skips blocks where that is certain to leave out no transaction of these wallets. */
  async skip(senders: readonly string[], range: SkippedRange): Promise<boolean> {
    if (!(await this.#sentCounts.areEqual(senders, range))) return false
    this.#finalized = range.finalizedHeight
    return true
  }

  #read(height: number): Promise<ScannedBlock> {
    return this.#endpoints.request(async (client) => {
      const block = await client.getBlock({
        blockNumber: BigInt(height),
        includeTransactions: true,
      })
      this.#sources.set(block, client)
      return block
    })
  }

  /**
   * The first height to read: `height`, or less when blocks read before are no longer the chain's. Each block
   * names the one before it, so none is asked for twice.
   * @param read takes the blocks that were read
   */
  async #beforeReorg(height: number, read: Map<number, ScannedBlock>): Promise<number> {
    let first = height
    while (height - first < MAX_REORG) {
      const known = this.#hashes.get(first - 1)
      // It has replaced everything that was read: nothing shows how far it goes back.
      if (!known) return first === height ? height : this.#afterFinal(first, 0)
      const block = await this.#read(first)
      read.set(first, block)
      if (block.parentHash === known) break
      first--
    }
    return first
  }

  /** Of the blocks before `height`, those that may have been replaced since another process read them. */
  async #afterFinal(height: number, oldest: number): Promise<number> {
    const { finalizedHeight } = await this.#head()
    // What is final now may have replaced what was read; another process does not say when it read.
    const finalized = Math.min(finalizedHeight, this.#finalized ?? 0)
    return Math.max(oldest, height - MAX_REORG, Math.min(height, finalized + 1))
  }

  #forgetBefore(height: number): void {
    for (const known of this.#hashes.keys()) if (known < height) this.#hashes.delete(known)
  }
}

/**
 * A reorganization between two reads, or an endpoint that is behind, gives blocks of two branches: one would
 * be left out.
 * @throws `CHAIN_UNAVAILABLE` where a block does not follow the one before it: the next round reads both again
 */
function requireOneChain(blocks: readonly ScannedBlock[]): void {
  for (const [index, { number, parentHash }] of blocks.entries())
    if (index > 0 && parentHash !== blocks[index - 1]?.hash)
      throw unavailable(`Block ${number} does not follow the block that was read before it.`)
}

function transfersOf(block: ScannedBlock): Match[] {
  const at = { height: Number(block.number), blockTime: new Date(Number(block.timestamp) * 1000) }
  return block.transactions.flatMap((transaction) => {
    const transfer = readTransfer(transaction)
    return transfer ? [{ hash: transaction.hash, landed: { transfer, ...at } }] : []
  })
}

type Terms = Pick<ObservedTransfer, 'sender' | 'recipient' | 'asset' | 'amountAtomic'>

function termsOf({ sender, recipient, asset, amountAtomic }: Terms): string {
  return [sender, recipient, asset, amountAtomic].join()
}
