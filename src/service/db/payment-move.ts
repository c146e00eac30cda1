import { sql } from 'drizzle-orm'
import { canMove, type PaymentStatus } from '#contract/payment.ts'
import { payment } from './schema/payment.ts'

/** What a move may write beside the status. */
export type MoveFacts = Partial<
  Pick<
    typeof payment.$inferSelect,
    | 'signature'
    | 'reportedSignature'
    | 'blockHeight'
    | 'blockHash'
    | 'blockTime'
    | 'fee'
    | 'feePayer'
    | 'failure'
    | 'expiresAt'
    | 'broadcastAt'
    | 'confirmedAt'
    | 'nonce'
    | 'evidence'
    | 'draft'
    | 'payerNonce'
  >
>

export type Move = {
  id: string
  from: PaymentStatus
  to: PaymentStatus
  at: Date
  facts?: MoveFacts
}

/** What a move writes. */
export function moveOf(move: Move) {
  if (!canMove(move.from, move.to))
    throw new Error(`A payment does not move from ${move.from} to ${move.to}.`)
  return { ...move.facts, ...feeOnce(move), status: move.to, updatedAt: move.at }
}

/** A payment that our wallet was to settle books what that cost, so it keeps no other payment from having the fee. */
function feeOnce({ id, facts }: { id: string; facts?: MoveFacts }) {
  const { signature, fee, feePayer } = facts ?? {}
  if (!signature || fee === undefined || fee === null) return {}
  const booked = sql`${payment.mode} = 'received' and exists (
    select from service.payment as other where other.account_id = payment.account_id and other.network = payment.network
      and other.signature = ${signature} and other.id <> ${id} and other.fee is not null
      and not exists (select from service.settlement_fee where payment_id = other.id))`
  return {
    fee: sql`case when ${booked} then null else ${fee.toString()}::numeric end`,
    feePayer: sql`case when ${booked} then null else ${feePayer ?? null}::text end`,
  }
}
