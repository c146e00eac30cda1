import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { describe } from '#contract/fields.ts'
import { ProblemError } from '#contract/problem.ts'
import { isUniqueViolation, type Database } from '#postgres/open.ts'
import type { Actor, Context } from '../context/context.ts'
import { claimAssigned, releaseAssigned } from '../db/claims.ts'
import { lockPayment, type PaymentRecord } from '../db/payments.ts'
import {
  assignmentKey,
  findUnmatched,
  setAssignment,
  type ListedTransfer,
  type UnmatchedRecord,
} from '../db/unmatched.ts'
import { claimantOfOrder, refusePayee, matchesPayment } from './attribution.ts'
import { refuseParameters } from '../context/network.ts'
import { blockOf, describeUnmatched, transferOf } from './unmatched.ts'

type Call = { transferId: string; actor: Actor }

/** Orders that nothing has paid yet. */
const UNPAID: ReadonlySet<PaymentRecord['status']> = new Set<PaymentRecord['status']>([
  'created',
  'pending',
  'rolled_back',
  'expired',
])

/**
 * Records that a person assigns a transfer to an order of the account. In the same commit the transfer is claimed, so that it pays nothing else unless a
 * payer's evidence says so. The order's status stays: a person's word is no evidence.
 * @throws `NOT_FOUND` for a transfer that is unknown, another account's, or matched; `INVALID_PARAMETERS` for an order that it does not fit; `FORBIDDEN`
 */
export async function assignUnmatched(
  context: Context,
  { actor, transferId }: Call,
  { paymentId, by, note }: EndpointInput<'unmatchedAssign'>['body'],
): Promise<EndpointReply<'unmatchedAssign'>> {
  const row = await context.db
    .transaction(async (tx) => {
      // Locked in the order in which an observation locks them: the payment, the claim, the transfer.
      const order = await lockPayment(tx, paymentId)
      const found = await requireUnmatched(tx, { actor, transferId })
      if (found.assignedPaymentId === paymentId) return found
      if (found.assignedPaymentId !== null)
        throw refuse(
          `Expected a transfer that is not assigned; this one is assigned to ${found.assignedPaymentId}.`,
        )
      if (found.refundedBy !== null)
        throw refuseParameters({
          transferId: `Expected a transfer that nothing refunds; ${found.refundedBy.paymentId} refunds this one.`,
        })
      requireFit(order, found, paymentId)
      await claimTransfer(tx, order, found)
      const at = context.now()
      const assigned = await setAssignment(tx, found.id, {
        from: null,
        to: { paymentId, by: by ?? null, note: note ?? null, at },
      })
      if (!assigned)
        throw refuse(
          'Expected a transfer that is not assigned; another request has just decided about this one.',
        )
      return assigned
    })
    .catch((error: unknown) => {
      if (isUniqueViolation(error, 'unmatched_transfer_assigned'))
        throw refuse('Expected an order without an assigned transfer; this one has another.')
      throw error
    })
  context.log.info(
    { transferId, paymentId, keyId: actor.keyId, by, note },
    'a person assigned an unmatched transfer to an order',
  )
  return { success: true, transfer: await describeUnmatched(context, row) }
}

/**
 * Undoes an assignment and gives the transfer back. Without one it changes nothing.
 * @throws `NOT_FOUND` for a transfer that is unknown, another account's, or matched
 */
export async function unassignUnmatched(
  context: Context,
  { actor, transferId }: Call,
  { by, note }: EndpointInput<'unmatchedUnassign'>['body'],
): Promise<EndpointReply<'unmatchedUnassign'>> {
  const { row, from } = await context.db.transaction(async (tx) => {
    const found = await requireUnmatched(tx, { actor, transferId })
    const { assignedPaymentId: from, network, accountId: scope } = found
    if (from === null) return { row: found, from }
    await releaseAssigned(tx, { scope, network, key: assignmentKey(found), paymentId: from })
    const row =
      (await setAssignment(tx, found.id, { from, to: null })) ??
      (await requireUnmatched(tx, { actor, transferId }))
    return { row, from }
  })
  if (from !== null)
    context.log.info(
      { transferId, paymentId: from, keyId: actor.keyId, by, note },
      'a person undid the assignment of an unmatched transfer',
    )
  return { success: true, transfer: await describeUnmatched(context, row) }
}

async function requireUnmatched(
  db: Database,
  { actor, transferId }: Call,
): Promise<ListedTransfer> {
  const row = await findUnmatched(db, actor.accountId, transferId)
  if (!row)
    throw new ProblemError('NOT_FOUND', {
      message: `There is no unmatched transfer ${transferId}.`,
    })
  return row
}

function requireFit(
  order: PaymentRecord | undefined,
  row: UnmatchedRecord,
  paymentId: string,
): asserts order is PaymentRecord {
  const own = order?.accountId === row.accountId
  const fits =
    own &&
    order.mode === 'local' &&
    order.network === row.network &&
    matchesPayment(order, transferOf(row), blockOf(row))
  if (!fits || !UNPAID.has(order.status) || order.signature !== null)
    throw refuse(
      `Expected an unpaid order whose terms the transfer fits, received ${describe(paymentId)}.`,
    )
}

async function claimTransfer(
  tx: Database,
  order: PaymentRecord,
  row: UnmatchedRecord,
): Promise<void> {
  const claimant = await claimantOfOrder(tx, order)
  // The wallet has gone to another account since.
  if (claimant === null) throw refusePayee(order.recipient)
  const claimed = await claimAssigned(tx, claimant, {
    network: row.network,
    key: assignmentKey(row),
    paymentId: order.id,
  })
  if (claimed === 'taken')
    throw refuseParameters({
      transferId: 'Expected a transfer that pays nothing; a proof has used this one up.',
    })
  if (claimed === 'held')
    throw new ProblemError('SERVICE_UNAVAILABLE', {
      message: 'A proof of this transfer is being verified at this moment. Nothing was assigned.',
      retryAfter: 5,
    })
}

function refuse(problem: string): ProblemError {
  return refuseParameters({ paymentId: problem })
}
