import { BlockNotFoundError, type Hex } from 'viem'
import type { Network } from '#contract/network.ts'
import type { Chain, Audit, HistoryQuery, SenderFunds, WalletHistory } from '../chain.ts'
import { NO_OBSERVER } from '../endpoints.ts'
import { Recent, remember } from '../recent.ts'
import { broadcast, simulateSigned } from './broadcast.ts'
import { buildNote } from './build-call.ts'
import { build } from './build.ts'
import {
  type EvmEndpoints,
  isHeadOf,
  openEndpoints,
  readHeadSince,
  readTipOf,
  sourceOf,
  type Tip,
} from './client.ts'
import { openContracts } from './contracts.ts'
import { BlockScan } from './find.ts'
import { KnownBlocks, openIsGone } from './known-blocks.ts'
import { canNeverLand } from './never-land.ts'
import { openLooks } from './observe.ts'
import { readToken } from './token.ts'

const TOKEN_TTL_MS = 60_000
const CLOCK_TTL_MS = 1_000
/** After `lastValidBlockHeight` the service waits as long again, for a wallet that signs late. */
const GRACE_MS = 60_000

/** An EVM network behind the port. Opens no connection before it is asked. */
export function openEvmChain(network: Network, observer = NO_OBSERVER): Chain {
  const endpoints = openEndpoints(network, observer)
  const halfBlockMs = network.blockTimeMs / 2
  const known = new KnownBlocks()
  const tip = new Recent(Math.min(CLOCK_TTL_MS, halfBlockMs), async () => {
    const found = await endpoints.requestSoon(readTipOf)
    known.note(sourceOf(found), found)
    observer.sawBlock(network.network, found.height)
    return found
  })
  const head = () => tip.fresh(halfBlockMs)
  const clock = () => tip.fresh()
  const scan = new BlockScan(endpoints, { head, known })
  const looks = openLooks(endpoints, network, { readTip: head, known })
  const token = remember(TOKEN_TTL_MS, (address) => readToken(endpoints, network, address))
  return {
    network,
    scansBlocks: true,
    graceBlocks: Math.ceil(GRACE_MS / network.blockTimeMs),
    head,
    recentHead: () => tip.patient(halfBlockMs),
    clock,
    build: (intent, options) => build(endpoints, network, { intent, ...options }),
    note: (note) => buildNote(endpoints, network, note),
    observe: looks.observe,
    observeTwice: looks.observeTwice,
    find: (monitored, range, expired) => scan.find(monitored, range, expired),
    skip: (senders, range) => scan.skip(senders, range),
    findNamed: async () => [],
    findByMessage: async () => null,
    canNeverLand: (monitored) => canNeverLand(endpoints, monitored),
    isGone: openIsGone(endpoints, known, (since) => tip.fresh(performance.now() - since)),
    simulateSigned: (bytes) => simulateSigned(endpoints, bytes),
    broadcast: (bytes) => broadcast(endpoints, bytes),
    funds: (address) => readFunds(endpoints, address, () => tip.fresh(0)),
    audit: (address) => audit(endpoints, address),
    headSince: (time) => readHeadSince(endpoints, time),
    history: (address, query) => readHistory(endpoints, address, query),
    token,
    contracts: openContracts(endpoints, network, clock),
    check: async () => void (await head()),
    close: async () => {},
  }
}

/** Balance and nonce of the finalized block. */
function audit(endpoints: EvmEndpoints, wallet: string): Promise<Audit> {
  return endpoints.request(async (client): Promise<Audit> => {
    const { number: blockNumber, hash } = await client.getBlock({ blockTag: 'finalized' })
    const address = wallet as Hex
    const [balanceAtomic, nonce] = await Promise.all([
      client.getBalance({ address, blockNumber }),
      client.getTransactionCount({ address, blockNumber }),
    ])
    return {
      height: Number(blockNumber),
      blockHash: hash,
      exact: true,
      balanceAtomic,
      nonce,
      signed: [],
    }
  })
}

/**
 * The nonce counts what waits for a block too: it may have been signed by rows that were lost. It is
 * read at the block that shows how far the node knows the chain.
 */
function readHistory(
  endpoints: EvmEndpoints,
  wallet: string,
  { since, knownTo }: HistoryQuery,
): Promise<WalletHistory> {
  return endpoints.request(async (client): Promise<WalletHistory> => {
    const address = wallet as Hex
    const blockNumber = await client.getBlockNumber()
    if (blockNumber < (knownTo ?? 0))
      throw new Error(`The node knows the chain up to block ${blockNumber}, not ${knownTo}.`)
    const [latest, pending, block] = await Promise.all([
      client.getTransactionCount({ address, blockNumber }),
      client.getTransactionCount({ address, blockTag: 'pending' }),
      since === null ? null : client.getBlock({ blockNumber: BigInt(since) }).catch(noBlock),
    ])
    return { nonce: Math.max(latest, pending), blockHash: block?.hash ?? null, unknown: [] }
  })
}

/** A chain without this block is another chain, or its node is behind. */
function noBlock(error: unknown): null {
  if (error instanceof BlockNotFoundError) return null
  throw error
}

/**
 * Balance and nonce of one block: what was sent with a smaller nonce is in that balance, everything else is not. The newest
 * block is read now, and the watcher that looks for the payment in a moment need not read it.
 */
function readFunds(
  endpoints: EvmEndpoints,
  wallet: string,
  readNewest: () => Promise<Tip>,
): Promise<SenderFunds> {
  return endpoints.request(async (client): Promise<SenderFunds> => {
    const address = wallet as Hex
    const newest = await readNewest()
    const blockNumber = isHeadOf(client, newest)
      ? BigInt(newest.height)
      : await client.getBlockNumber()
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
