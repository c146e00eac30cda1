import { and, asc, desc, eq, gt, gte, inArray, isNull, lt, or, sql } from 'drizzle-orm'
import type { NetworkId } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import type { NonceQueue } from './nonce-queue.ts'
import { attempt, payment } from './schema/payment.ts'

/** One statement of Postgres takes 65,535. */
const MAX_PARAMETERS = 10_000

export type AttemptRecord = typeof attempt.$inferSelect

export async function insertAttempt(
  tx: Database,
  row: typeof attempt.$inferInsert,
): Promise<AttemptRecord> {
  const [inserted] = await tx.insert(attempt).values(row).returning()
  if (!inserted) throw new Error('The database took an attempt and returned none.')
  return inserted
}

/** Everything that was signed for a payment, the newest first. */
export async function readAttempts(db: Database, paymentId: string): Promise<AttemptRecord[]> {
  return db
    .select()
    .from(attempt)
    .where(eq(attempt.paymentId, paymentId))
    .orderBy(desc(attempt.number))
}

/** The same for many payments, by payment. */
export async function readAttemptsOf(
  db: Database,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, AttemptRecord[]>> {
  const found: AttemptRecord[] = []
  for (let at = 0; at < paymentIds.length; at += MAX_PARAMETERS) {
    const some = paymentIds.slice(at, at + MAX_PARAMETERS)
    found.push(
      ...(await db
        .select()
        .from(attempt)
        .where(inArray(attempt.paymentId, some))
        .orderBy(desc(attempt.number))),
    )
  }
  return Map.groupBy(found, ({ paymentId }) => paymentId)
}

/** What a wallet signed for the payments of others, from a nonce on: it takes its places in the wallet's nonce queue. */
export async function readSigned(
  db: Database,
  { network, sender }: { network: string; sender: string },
  nonce: number,
): Promise<AttemptRecord[]> {
  return db
    .select()
    .from(attempt)
    .where(and(eq(attempt.network, network), eq(attempt.signer, sender), gte(attempt.nonce, nonce)))
    .orderBy(asc(attempt.nonce), asc(attempt.number))
}

/** What has landed by a wallet's signature after one height, up to another, by the rows: its payments, and those of others that it settles. */
export async function readLanded(
  db: Database,
  { network, sender }: NonceQueue,
  { after, upTo }: { after: number; upTo: number },
): Promise<string[]> {
  const { rows } = await db.execute<{ signature: string }>(sql`
    select signature from service.payment
    where network = ${network} and sender = ${sender} and mode = 'hosted' and status in ('finalized', 'failed')
      and block_height > ${after} and block_height <= ${upTo} and signature is not null
    union
    select p.signature from service.payment p
    join service.attempt a on a.payment_id = p.id and a.signature = p.signature and a.signer = ${sender}
    where p.network = ${network} and p.mode = 'received' and p.status in ('finalized', 'failed')
      and p.block_height > ${after} and p.block_height <= ${upTo}`)
  return rows.map(({ signature }) => signature)
}

/**
 * The nonces of a wallet that the service has signed for, from one on: of its payments, and of
 * others' payments that it settles.
 */
export async function readKnownNonces(
  db: Database,
  { network, sender }: NonceQueue,
  { from, to }: { from: number; to: number },
): Promise<ReadonlySet<number>> {
  const { rows } = await db.execute<{ nonce: string }>(sql`
    select nonce::text from service.payment
    where network = ${network} and sender = ${sender} and mode = 'hosted' and nonce >= ${from} and nonce < ${to}
    union
    select nonce::text from service.attempt
    where network = ${network} and signer = ${sender} and nonce >= ${from} and nonce < ${to}`)
  return new Set(rows.map(({ nonce }) => Number(nonce)))
}

/** Which of these signatures the service has made, or was given to broadcast. */
export async function findKnownSignatures(
  db: Database,
  network: NetworkId,
  signatures: readonly string[],
): Promise<ReadonlySet<string>> {
  const known = new Set<string>()
  for (let at = 0; at < signatures.length; at += MAX_PARAMETERS) {
    const some = signatures.slice(at, at + MAX_PARAMETERS)
    const rows = await db
      .select({ signature: attempt.signature })
      .from(attempt)
      .where(and(eq(attempt.network, network), inArray(attempt.signature, some)))
    for (const { signature } of rows) known.add(signature)
  }
  return known
}

/** Of all that was signed for a payment, the proof of what landed is its proof. */
export async function persistProofOf(
  tx: Database,
  { id, network, signature }: { id: string; network: string; signature: string },
): Promise<void> {
  const [landed] = await tx
    .select({ paymentProof: attempt.paymentProof })
    .from(attempt)
    .where(
      and(
        eq(attempt.paymentId, id),
        eq(attempt.network, network),
        eq(attempt.signature, signature),
      ),
    )
  if (landed)
    await tx.update(payment).set({ paymentProof: landed.paymentProof }).where(eq(payment.id, id))
}

/**
 * Notes that an attempt is sent now; false when it was sent after `before`, here or by another process. A time that
 * is still to come is of a process whose clock is ahead: when that was is not known, and sending again
 * does no harm.
 */
export async function takeBroadcast(
  db: Database,
  { paymentId, number }: AttemptRecord,
  times: { now: Date; before: Date },
): Promise<boolean> {
  const taken = await db
    .update(attempt)
    .set({ broadcastAt: times.now })
    .where(
      and(
        eq(attempt.paymentId, paymentId),
        eq(attempt.number, number),
        or(
          isNull(attempt.broadcastAt),
          lt(attempt.broadcastAt, times.before),
          gt(attempt.broadcastAt, times.now),
        ),
      ),
    )
    .returning({ number: attempt.number })
  return taken.length > 0
}
