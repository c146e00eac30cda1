import { and, asc, eq, gte, inArray, or, sql } from 'drizzle-orm'
import type { NetworkId } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import type { PaymentRecord } from './payments.ts'
import { payment } from './schema.ts'

/** One sender on one network: its nonces and funds are handed out one payment after the other. */
export type Lane = { network: NetworkId; sender: string }

/** Keeps every other process out of the lane until the transaction ends. */
export async function lockLane(tx: Database, { network, sender }: Lane): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`lane ${network} ${sender}`}, 0))`)
}

const OPEN = ['created', 'pending', 'rolled_back'] as const

/** Payments of a lane that were not paid at a height, as far as the rows tell: open ones, and those that landed at it or later. */
export async function readUnpaid(db: Database, { network, sender }: Lane, height: number): Promise<PaymentRecord[]> {
  return db
    .select()
    .from(payment)
    .where(
      and(
        eq(payment.mode, 'hosted'),
        eq(payment.network, network),
        eq(payment.sender, sender),
        or(inArray(payment.status, [...OPEN]), gte(payment.blockHeight, height)),
      ),
    )
}

/** Payments of a lane from a nonce on. */
export async function readFromNonce(db: Database, { network, sender }: Lane, nonce: number): Promise<PaymentRecord[]> {
  return db
    .select()
    .from(payment)
    .where(and(eq(payment.mode, 'hosted'), eq(payment.network, network), eq(payment.sender, sender), gte(payment.nonce, nonce)))
    .orderBy(asc(payment.nonce))
}
