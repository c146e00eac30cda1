import { and, eq, gte, inArray, lt } from 'drizzle-orm'
import { EVM_NATIVE, SOLANA_NATIVE } from '#contract/address.ts'
import type { PaymentStatus } from '#contract/payment.ts'
import type { Audit, Chain } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { readSigned } from '../db/attempts.ts'
import type { NonceQueue } from '../db/nonce-queue.ts'
import type { PaymentRecord } from '../db/payments.ts'
import { attempt, payment } from '../db/schema/payment.ts'

/**
 * What left a wallet by its own signature between two snapshots of its ledger. `later`: the rows have not caught up with the chain yet. `foreign`: the chain
 * shows a signature of the wallet that the service did not make, or another outcome than the rows.
 */
type Spent =
  | { state: 'known'; atomic: bigint }
  | { state: 'later' }
  | { state: 'foreign'; found: string }

type Question = { nonceQueue: NonceQueue; nonce: number | null; audit: Audit }

export function readOutflows(
  context: Context,
  chain: Chain,
  { nonceQueue, nonce, audit }: Question,
): Promise<Spent> {
  return nonce === null || audit.nonce === null
    ? readSpentBySignature(context, nonceQueue, audit)
    : readSpentByNonce(context, chain, { nonceQueue, from: nonce, to: audit.nonce })
}

async function readSpentByNonce(
  context: Context,
  chain: Chain,
  { nonceQueue, from, to }: { nonceQueue: NonceQueue; from: number; to: number },
): Promise<Spent> {
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
  let atomic = 0n
  for (let nonce = from; nonce < to; nonce++) {
    const row = hosted.get(nonce)
    const cost = row ? costOf(row) : await readCost(chain, settlements.get(nonce) ?? [])
    if (cost === 'open') return { state: 'later' }
    if (cost === undefined)
      return {
        state: 'foreign',
        found: `The nonce ${nonce} was used by a transaction that the service did not sign.`,
      }
    atomic += cost
  }
  return { state: 'known', atomic }
}

/** What a payment took from its sender in native currency; undefined when none of its transactions has landed. */
function costOf(row: PaymentRecord): bigint | 'open' | undefined {
  if (!isOver(row.status)) return 'open'
  if (row.fee === null) return undefined
  return row.fee + (row.status === 'finalized' && isNative(row) ? row.amount : 0n)
}

/** What the network took for the one of these transactions that has landed. */
async function readCost(
  chain: Chain,
  attempts: readonly { signature: string }[],
): Promise<bigint | 'open' | undefined> {
  for (const { signature } of attempts) {
    const observation = await chain.observe(signature)
    if (observation.state === 'landed')
      return observation.finalized ? observation.feeAtomic : 'open'
  }
  return undefined
}

async function readSpentBySignature(
  context: Context,
  nonceQueue: NonceQueue,
  { signed }: Audit,
): Promise<Spent> {
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
  for (const { signature, spentAtomic } of signed) {
    const row = known.get(signature)
    if (!row)
      return { state: 'foreign', found: `The service did not sign the transaction ${signature}.` }
    if (!isOver(row.status)) return { state: 'later' }
    const own =
      row.mode === 'hosted' && isNative(row) && row.signature === signature
        ? costOf(row)
        : spentAtomic
    if (own !== spentAtomic)
      return {
        state: 'foreign',
        found: `The transaction ${signature} took ${spentAtomic} and its payment says ${own}.`,
      }
    atomic += spentAtomic
  }
  return { state: 'known', atomic }
}

function isNative({ asset }: PaymentRecord): boolean {
  return asset === EVM_NATIVE || asset === SOLANA_NATIVE
}

function isOver(status: PaymentStatus): boolean {
  return status === 'finalized' || status === 'failed' || status === 'expired'
}
