import type { Block, Hex } from 'viem'
import type { Network } from '#contract/network.ts'
import type { Found, Transfer, Wanted } from '../chain.ts'
import { inParallel } from '../in-parallel.ts'
import type { EvmEndpoints } from './client.ts'
import { readTransfer } from './observe.ts'

/** How many blocks one call reads at most, so that a long absence is made up in steps. */
const MAX_BLOCKS = 200
const PARALLEL_BLOCKS = 8
/** How far back a reorg is followed. */
const MAX_REORG = 64
/** How long a transfer that two equal payments wait for stays undecided: the payer's report may still name one of them. */
const UNDECIDED_MS = 10_000

type ScannedBlock = Block<bigint, true>
type Match = { hash: string; transfer: Transfer; height: number }

/** Reads blocks for transfers that payments wait for. It remembers the hashes it has read, and goes back where a reorg replaced them. */
export class BlockScan {
  readonly #endpoints: EvmEndpoints
  readonly #network: Network
  readonly #hashes = new Map<number, Hex>()

  constructor(endpoints: EvmEndpoints, network: Network) {
    this.#endpoints = endpoints
    this.#network = network
  }

  async find(wanted: readonly Wanted[], from: number, to: number): Promise<{ found: Found[]; readTo: number }> {
    // No transaction of a payment can be in a block that was there before the payment was built.
    const oldest = wanted.reduce((least, { builtHeight }) => Math.min(least, builtHeight ?? Infinity), Infinity)
    const first = Math.max(from, oldest) + 1
    if (first > to) return { found: [], readTo: Math.max(from, to) }
    const start = await this.#beforeReorg(first)
    const end = Math.min(to, start + MAX_BLOCKS - 1)
    const heights = Array.from({ length: end - start + 1 }, (_, index) => start + index)
    const blocks = await inParallel(heights, PARALLEL_BLOCKS, (height) => this.#read(height))

    const found: Found[] = []
    let readTo = end
    for (const block of blocks) {
      const height = Number(block.number)
      const undecidedUntil = height + Math.ceil(UNDECIDED_MS / this.#network.blockTimeMs)
      for (const match of transfersOf(block)) {
        const candidates = candidatesFor(match, wanted)
        if (candidates.length > 1 && to < undecidedUntil) readTo = Math.min(readTo, height - 1)
        else if (candidates[0]) found.push({ paymentId: candidates[0].paymentId, signature: match.hash })
      }
    }
    this.#forgetBefore(end - MAX_REORG)
    return { found, readTo }
  }

  async #read(height: number): Promise<ScannedBlock> {
    const block = await this.#endpoints.ask((client) => client.getBlock({ blockNumber: BigInt(height), includeTransactions: true }))
    this.#hashes.set(height, block.hash)
    return block
  }

  /** The first height to read: `height`, or less when blocks read before are no longer the chain's. */
  async #beforeReorg(height: number): Promise<number> {
    let first = height
    while (height - first < MAX_REORG) {
      const known = this.#hashes.get(first - 1)
      if (!known) break
      const block = await this.#endpoints.ask((client) => client.getBlock({ blockNumber: BigInt(first - 1) }))
      if (block.hash === known) break
      first--
    }
    return first
  }

  #forgetBefore(height: number): void {
    for (const known of this.#hashes.keys()) if (known < height) this.#hashes.delete(known)
  }
}

function transfersOf(block: ScannedBlock): Match[] {
  const height = Number(block.number)
  return block.transactions.flatMap((transaction) => {
    const transfer = readTransfer(transaction)
    return transfer ? [{ hash: transaction.hash, transfer, height }] : []
  })
}

/**
 * The payments a transfer can be meant for, the best first: the one reported with this hash; else those built with this nonce; else any
 * between the same parties with the same amount. Payments still waited for go before expired ones, newer before older.
 * More than one means that the chain alone cannot tell.
 */
export function candidatesFor(match: Match, wanted: readonly Wanted[]): Wanted[] {
  const { transfer, hash, height } = match
  const equal = wanted.filter(
    (payment) =>
      payment.sender === transfer.sender &&
      payment.recipient === transfer.recipient &&
      payment.asset === transfer.asset &&
      payment.amountAtomic === transfer.amountAtomic &&
      payment.builtHeight !== null &&
      payment.builtHeight < height &&
      (payment.signed === undefined || payment.nonce === transfer.nonce),
  )
  const narrowed = [
    equal.filter((payment) => payment.reported === hash),
    equal.filter((payment) => payment.open && payment.nonce === transfer.nonce),
    equal.filter((payment) => payment.open),
    equal.filter((payment) => payment.nonce === transfer.nonce),
    equal,
  ].find((group) => group.length > 0)
  return (narrowed ?? []).toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.paymentId < b.paymentId ? 1 : -1))
}
