import { and, eq, inArray, gte, lt } from 'drizzle-orm'
import { EVM_NATIVE, SOLANA_NATIVE } from '#contract/address.ts'
import { formatAmount } from '#contract/amount.ts'
import { nativeAsset, familyOf } from '#contract/network.ts'
import type { PaymentStatus } from '#contract/payment.ts'
import type { Chain, Audit } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import type { Metrics } from '../context/metrics.ts'
import { readLanded, readSigned, type AttemptRecord } from '../db/attempts.ts'
import { releaseLease, takeLease } from '../db/cursors.ts'
import { readEpoch } from '../db/deployment.ts'
import { whileBeating } from '../db/lease.ts'
import type { NonceQueue } from '../db/nonce-queue.ts'
import { findPayments, type PaymentRecord } from '../db/payments.ts'
import { payment, attempt } from '../db/schema/payment.ts'
import {
  openWalletLedger,
  readWalletLedger,
  stopWallet,
  UNCHECKED_MS,
  writeSnapshot,
  type LedgerRecord,
  type LedgerSnapshot,
  countStopped,
  countUnchecked,
  readDue,
} from '../db/wallet-ledger.ts'
import { isNonceTaken } from '../payments/payment-result.ts'
import { affirmAll, forEachWallet } from './affirm.ts'

type Verdict = 'equal' | 'later' | 'stopped'

const MAX_PAUSE_MS = 2_000

type Look =
  | { verdict: 'equal'; ledger: LedgerRecord | undefined; page: LedgerSnapshot }
  | { verdict: 'later' }
  | { verdict: 'stopped' }
  | { verdict: 'differs'; found: string }

/**
 * Compares the ledger of a managed wallet with the chain, to the base unit: the last balance, less
 * what the service signed, is what it holds. A surplus was received and is entered. A deficit, or a
 * signature that is not the service's, stops the wallet: somebody has its key. It is checked twice
 * first.
 */
export async function reconcile(context: Context, chain: Chain, address: string): Promise<Verdict> {
  const nonceQueue = { network: chain.network.network, sender: address }
  let seen = await look(context, chain, nonceQueue)
  if (seen.verdict === 'differs') {
    await new Promise((resolve) =>
      setTimeout(resolve, Math.min(chain.network.blockTimeMs, MAX_PAUSE_MS)),
    )
    seen = await look(context, chain, nonceQueue)
  }
  if (seen.verdict === 'differs') {
    if (await stopWallet(context.db, nonceQueue, seen.found))
      context.log.error({ ...nonceQueue, found: seen.found }, 'sending from a wallet is stopped')
    return 'stopped'
  }
  if (seen.verdict === 'equal')
    await (seen.ledger
      ? writeSnapshot(context.db, seen.ledger, seen.page)
      : openWalletLedger(context.db, nonceQueue, seen.page))
  return seen.verdict
}

async function look(context: Context, chain: Chain, nonceQueue: NonceQueue): Promise<Look> {
  const ledger = await readWalletLedger(context.db, nonceQueue)
  if (ledger?.stoppedAt) return { verdict: 'stopped' }
  // A ledger that began after a restore would take what was lost for what was always there.
  if ((ledger?.affirmedEpoch ?? 0) < (await readEpoch(context.db))) return { verdict: 'later' }
  const quiet = await isQuiet(context, nonceQueue)
  const audit = await chain.audit(nonceQueue.sender, ledger?.height ?? null)
  if (!audit || (!audit.exact && !(quiet && (await isQuiet(context, nonceQueue)))))
    return { verdict: 'later' }
  const { height, blockHash, balanceAtomic: balance, nonce } = audit
  if (!ledger || ledger.height === null || ledger.balance === null)
    return {
      verdict: 'equal',
      ledger: undefined,
      page: { height, blockHash, balance, nonce, received: balance },
    }
  // The node is behind.
  if (height <= ledger.height) return { verdict: 'later' }

  const since = { height: ledger.height, nonce: ledger.nonce }
  const outflows = await readOutflows(context, chain, { nonceQueue, ...since, audit })
  if (outflows.state === 'later') return { verdict: 'later' }
  if (outflows.state === 'foreign') return { verdict: 'differs', found: outflows.found }
  const received = balance - ledger.balance + outflows.atomic
  if (received >= 0n)
    return {
      verdict: 'equal',
      ledger,
      page: { height, blockHash, balance, nonce, received: ledger.received + received },
    }
  const { symbol, decimals } = nativeAsset(chain.network)
  return {
    verdict: 'differs',
    found: `${formatAmount(-received, decimals)} ${symbol} left the wallet between ${ledger.height} and ${height} without a signature of the service.`,
  }
}

/** The chain is asked about so many in one batch. */
const SETTLEMENTS_AT_ONCE = 8

const UNDER_WAY = ['created', 'pending', 'confirmed', 'rolled_back'] as const

async function isQuiet({ db }: Context, { network, sender }: NonceQueue): Promise<boolean> {
  const underWay = and(
    eq(payment.mode, 'hosted'),
    eq(payment.network, network),
    eq(payment.sender, sender),
    inArray(payment.status, [...UNDER_WAY]),
  )
  return (await db.$count(payment, underWay)) === 0
}

/**
 * What left a wallet by its own signature between two snapshots of its ledger. `later`: the rows have not caught up with the chain yet. `foreign`: the chain
 * shows a signature of the wallet that the service did not make, or another outcome than the rows.
 */
type Outflows =
  | { state: 'known'; atomic: bigint }
  | { state: 'later' }
  | { state: 'foreign'; found: string }

type Question = { nonceQueue: NonceQueue; height: number; nonce: number | null; audit: Audit }

function readOutflows(
  context: Context,
  chain: Chain,
  { nonceQueue, height, nonce, audit }: Question,
): Promise<Outflows> {
  return nonce === null || audit.nonce === null
    ? readOutflowsBySignature(context, nonceQueue, { height, audit })
    : readOutflowsByNonce(context, chain, { nonceQueue, from: nonce, to: audit.nonce })
}

async function readOutflowsByNonce(
  context: Context,
  chain: Chain,
  { nonceQueue, from, to }: { nonceQueue: NonceQueue; from: number; to: number },
): Promise<Outflows> {
  const inRange = and(
    eq(payment.mode, 'hosted'),
    eq(payment.network, nonceQueue.network),
    eq(payment.sender, nonceQueue.sender),
    gte(payment.nonce, from),
    lt(payment.nonce, to),
  )
  const hosted = new Map(
    (await context.db.select().from(payment).where(inRange)).map((row) => [row.nonce, row]),
  )
  const settlements = Map.groupBy(
    await readSigned(context.db, nonceQueue, from),
    (each) => each.nonce,
  )
  const costs = new Map<number, ReturnType<typeof readCost>>()
  const readFrom = (first: number) => {
    for (let nonce = first; nonce < Math.min(to, first + SETTLEMENTS_AT_ONCE); nonce++) {
      if (hosted.has(nonce)) continue
      const attempts = settlements.get(nonce) ?? []
      const cost = readCost(context, chain, { signer: nonceQueue.sender, nonce, attempts })
      // It is thrown where it is needed.
      cost.catch(() => {})
      costs.set(nonce, cost)
    }
    return costs.get(first)
  }
  let atomic = 0n
  let open = false
  for (let nonce = from; nonce < to; nonce++) {
    const row = hosted.get(nonce)
    const waits = open && (settlements.get(nonce)?.length ?? 0) > 0
    // Behind one that waits the chain does not count: only what no row has is foreign there, and may be why it waits.
    const cost = row ? costOf(row) : waits ? 'open' : await (costs.get(nonce) ?? readFrom(nonce))
    if (cost === 'open') open = true
    if (cost === undefined)
      return {
        state: 'foreign',
        found: `The nonce ${nonce} was used by a transaction that the service did not sign.`,
      }
    if (cost !== 'open') atomic += cost
  }
  return open ? { state: 'later' } : { state: 'known', atomic }
}

/** What a payment took from its sender in native currency; undefined when none of its transactions has landed. */
function costOf(row: PaymentRecord): bigint | 'open' | undefined {
  if (!isOver(row.status)) return 'open'
  if (row.fee === null) return undefined
  return row.fee + (row.status === 'finalized' && isNative(row) ? row.amount : 0n)
}

/**
 * What the network took for the one of these transactions of a nonce that has landed. Open too where
 * the chain shows none: while the rows show one, or two endpoints do not prove that another
 * transaction has the nonce. That node is behind, or has lost its history.
 */
async function readCost(
  { db }: Context,
  chain: Chain,
  {
    signer,
    nonce,
    attempts,
  }: { signer: string; nonce: number; attempts: readonly AttemptRecord[] },
): Promise<bigint | 'open' | undefined> {
  for (const { signature } of attempts) {
    const observation = await chain.observe(signature)
    if (observation.state === 'landed')
      return observation.finalized ? observation.feeAtomic : 'open'
  }
  const signatures = attempts.map(({ signature }) => signature)
  const rows = await findPayments(
    db,
    attempts.map(({ paymentId }) => paymentId),
  )
  if (rows.some((row) => isOver(row.status) && signatures.includes(row.signature ?? '')))
    return 'open'
  // A payment that a third party executed is over under another name than ours, which is reverted.
  const row = rows.find(({ status }) => !isOver(status)) ?? rows[0]
  if (!row) return undefined
  return (await isNonceTaken(chain, row, { signer, nonce, signatures })) ? undefined : 'open'
}

async function readOutflowsBySignature(
  context: Context,
  nonceQueue: NonceQueue,
  { height, audit: { signed, height: upTo } }: { height: number; audit: Audit },
): Promise<Outflows> {
  const signatures = signed.map(({ signature }) => signature)
  const rows =
    signatures.length === 0
      ? []
      : await context.db
          .select({ signature: attempt.signature, payment })
          .from(attempt)
          .innerJoin(payment, eq(attempt.paymentId, payment.id))
          .where(
            and(eq(attempt.network, nonceQueue.network), inArray(attempt.signature, signatures)),
          )
  const known = new Map(rows.map((row) => [row.signature, row.payment]))
  let atomic = 0n
  for (const { signature, outflowAtomic } of signed) {
    const row = known.get(signature)
    if (!row)
      return { state: 'foreign', found: `The service did not sign the transaction ${signature}.` }
    if (!isOver(row.status)) return { state: 'later' }
    const own =
      row.mode === 'hosted' && isNative(row) && row.signature === signature
        ? costOf(row)
        : outflowAtomic
    if (own !== outflowAtomic)
      return {
        state: 'foreign',
        found: `The transaction ${signature} took ${outflowAtomic} and its payment says ${own}.`,
      }
    atomic += outflowAtomic
  }
  // A node that does not name what has landed has lost part of its history, and may hide more.
  const landed = await readLanded(context.db, nonceQueue, { after: height, upTo })
  const hidden = landed.find((signature) => !known.has(signature))
  if (hidden === undefined) return { state: 'known', atomic }
  context.log.warn(
    { ...nonceQueue, signature: hidden, height },
    'no node names a transaction that a wallet has made; the wallet is compared later',
  )
  return { state: 'later' }
}

function isNative({ asset }: PaymentRecord): boolean {
  return asset === EVM_NATIVE || asset === SOLANA_NATIVE
}

function isOver(status: PaymentStatus): boolean {
  return status === 'finalized' || status === 'failed' || status === 'expired'
}

/** How often wallets with changes are checked, and all of them. */
const LOOK_MS = 15_000
const ALL_MS = 600_000
const STOP_WITHIN_MS = 2_000

/**
 * Compares the ledger of all managed wallets with their chains, for as long as the service runs.
 * @returns stops it
 */
export function startReconciliation(context: Context, metrics: Metrics): () => Promise<void> {
  const holder = crypto.randomUUID()
  let running: Promise<void> | undefined
  let stopped = false
  const run = () => {
    running ??= lookAtAll(context, { holder, metrics, isOver: () => stopped }).finally(
      () => (running = undefined),
    )
  }
  run()
  const looking = setInterval(run, LOOK_MS)
  return async () => {
    stopped = true
    clearInterval(looking)
    let timer: NodeJS.Timeout | undefined
    // A check that hangs on a dead chain is abandoned: it writes one row or none.
    await Promise.race([
      running,
      new Promise((resolve) => (timer = setTimeout(resolve, STOP_WITHIN_MS))),
    ])
    clearTimeout(timer)
    await Promise.all(
      [...context.chains.keys()].map((network) =>
        releaseLease(context.db, leaseOf(network), holder).catch(() => {}),
      ),
    )
  }
}

type Round = { holder: string; metrics: Metrics; isOver: () => boolean }

async function lookAtAll(context: Context, { holder, metrics, isOver }: Round): Promise<void> {
  for (const [network, chain] of context.chains) {
    try {
      // One process checks. Two at once would only do the work twice.
      const take = async () => !isOver() && takeLease(context.db, leaseOf(network), holder)
      if (await take()) await whileBeating(take, () => lookAtChain(context, chain, isOver))
    } catch (error) {
      context.log.warn(
        { network, err: error },
        'the books could not be compared with the chain; they are looked at again',
      )
    }
    await countUnchecked(context.db, {
      network,
      family: familyOf(network),
      forMs: UNCHECKED_MS,
    }).then(
      (count) => metrics.uncheckedWallets.set({ network }, count),
      () => {},
    )
  }
  await countStopped(context.db).then(
    (count) => metrics.stoppedWallets.set(count),
    () => {},
  )
}

async function lookAtChain(context: Context, chain: Chain, isOver: () => boolean): Promise<void> {
  const { network } = chain.network
  await affirmAll(context, chain)
  await forEachWallet(context, chain, {
    addresses: await readDue(context.db, { network, family: familyOf(network), everyMs: ALL_MS }),
    compare: async (address) => {
      if (!isOver()) await reconcile(context, chain, address)
    },
  })
}

/** A row beside the watcher's, with a separate lease. */
function leaseOf(network: string): string {
  return `books ${network}`
}
