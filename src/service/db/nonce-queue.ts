import { and, asc, desc, eq, gte, inArray, or, sql, type SQL } from 'drizzle-orm'
import type { NetworkId } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import { attempt, payment } from './schema/payment.ts'

/** One sender on one network: its nonces and funds are assigned to one payment after the other. */
export type NonceQueue = { network: NetworkId; sender: string }

/**
 * Keeps every other process out of the nonce queue until the transaction ends. `budget`: the name of another lock, taken after
 * it in the same statement.
 */
export async function lockNonceQueue(
  tx: Database,
  { network, sender }: NonceQueue,
  budget?: string,
): Promise<void> {
  const names = [`lane ${network} ${sender}`, ...(budget === undefined ? [] : [budget])]
  // Postgres evaluates a list from left to right.
  const locks = names.map((name) => sql`pg_advisory_xact_lock(hashtextextended(${name}, 0))`)
  await tx.execute(sql`select ${sql.join(locks, sql`, `)}`)
}

const OPEN = ['created', 'pending', 'rolled_back'] as const

/** What a payment may still take from the balance of a nonce queue, native atomic units. */
export type Unpaid = { id: string; amount: bigint; maxFee: bigint | null; nonce: number | null }

/**
 * What was unpaid in a nonce queue at a height, as far as the rows show: open, or landed at it or later,
 * or named. Its own payments, and the fees of others' payments that its wallet settles.
 */
export async function readUnpaid(
  db: Database,
  nonceQueue: NonceQueue,
  { height, named }: { height: number; named: ReadonlySet<string> },
): Promise<Unpaid[]> {
  const unpaid = or(isUnpaid(height), named.size > 0 ? inArray(payment.id, [...named]) : undefined)
  const { id, amount, maxFee, nonce } = payment
  return db
    .select({ id, amount, maxFee, nonce })
    .from(payment)
    .where(and(inNonceQueue(nonceQueue), unpaid))
    .unionAll(
      db
        .select(feeOfAttempt)
        .from(attempt)
        .innerJoin(payment, eq(attempt.paymentId, payment.id))
        .where(and(isSettledBy(nonceQueue), unpaid)),
    )
}

/** What a wallet may pay for the settlement of another party's payment: the fee alone. */
const feeOfAttempt = {
  id: attempt.paymentId,
  amount: sql<bigint>`0::numeric`,
  maxFee: sql<bigint | null>`${attempt.maxFee}`,
  nonce: attempt.nonce,
}

/** The same payments, each with all that was signed for it. */
export async function readUnpaidSignatures(
  db: Database,
  nonceQueue: NonceQueue,
  height: number,
): Promise<{ id: string; signatures: string[] }[]> {
  const ofKind = (kind: SQL | undefined) =>
    db
      .select({ id: payment.id, signature: attempt.signature })
      .from(payment)
      .innerJoin(attempt, eq(attempt.paymentId, payment.id))
      .where(and(kind, isUnpaid(height)))
  // Two queries: a single one would search all payments for both kinds.
  const rows = [
    ...(await ofKind(inNonceQueue(nonceQueue))),
    ...(await ofKind(isSettledBy(nonceQueue))),
  ]
  return [...Map.groupBy(rows, ({ id }) => id)].map(([id, attempts]) => ({
    id,
    signatures: attempts.map(({ signature }) => signature),
  }))
}

function inNonceQueue({ network, sender }: NonceQueue) {
  return and(eq(payment.mode, 'hosted'), eq(payment.network, network), eq(payment.sender, sender))
}

/** Another party's payment, signed by the wallet of this nonce queue. */
function isSettledBy({ network, sender }: NonceQueue) {
  return and(
    eq(payment.mode, 'received'),
    eq(payment.network, network),
    eq(attempt.network, network),
    eq(attempt.signer, sender),
  )
}

function isUnpaid(height: number) {
  return or(inArray(payment.status, [...OPEN]), gte(payment.blockHeight, height))
}

/**
 * What was promised in a nonce queue from a nonce on: its own payments, and the fees of others' payments that its wallet settles. Of the
 * offers for one place the highest counts: the last one.
 */
export async function readFromNonce(
  db: Database,
  nonceQueue: NonceQueue,
  from: number,
): Promise<Unpaid[]> {
  const { network, sender } = nonceQueue
  const { id, amount, maxFee, nonce } = payment
  return db
    .select({ id, amount, maxFee, nonce })
    .from(payment)
    .where(and(inNonceQueue(nonceQueue), gte(payment.nonce, from)))
    .unionAll(
      db
        .selectDistinctOn([attempt.nonce], feeOfAttempt)
        .from(attempt)
        .where(
          and(eq(attempt.network, network), eq(attempt.signer, sender), gte(attempt.nonce, from)),
        )
        .orderBy(asc(attempt.nonce), desc(attempt.number)),
    )
}
