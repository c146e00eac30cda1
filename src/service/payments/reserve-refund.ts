import { formatAmount } from '#contract/amount.ts'
import { isPaid } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { readTransactionName } from '../chains/chain.ts'
import { lockPayment, type PaymentRecord } from '../db/payments.ts'
import { readRefunds } from '../db/refunds.ts'
import { lockReturned } from '../db/unmatched.ts'
import { shareDirections } from '../db/wallet-owners.ts'
import { refuseParameters } from '../context/network.ts'

/** What a refund's row has beside that of any payment that is sent. */
export type Refund = { refundOf: string; refundReason: string | null; refundNote: string | null }

/** What of a payment is neither returned nor on its way back. Atomic units; negative where the chain landed more than was allowed. */
export async function readLeft(db: Database, { id, amount }: PaymentRecord): Promise<bigint> {
  const { refunded, pending } = (await readRefunds(db, [id])).get(id) ?? {
    refunded: 0n,
    pending: 0n,
  }
  return amount - refunded - pending
}

/** @throws `INVALID_PARAMETERS` when that is less than the amount, or nothing */
export function requireLeft(
  { decimals, symbol }: PaymentRecord,
  { amountAtomic, left }: { amountAtomic: bigint; left: bigint },
): void {
  if (left <= 0n)
    throw refuseParameters({
      amount:
        'Expected a payment of which something is left to refund; all of this one is returned or on its way back.',
    })
  if (amountAtomic > left)
    throw refuseParameters({
      amount: `Expected at most ${formatAmount(left, decimals)} ${symbol}, what is left of the payment to refund, received ${formatAmount(amountAtomic, decimals)}.`,
    })
}

/**
 * In the transaction that records a refund: locks the original, so that refunds of one payment follow each other, and compares their sum with what arrived.
 * @throws `INVALID_PARAMETERS` when too little is left, or the original did not stay paid
 */
export async function reserveRefund(
  tx: Database,
  { refundOf }: Refund,
  amountAtomic: bigint,
): Promise<void> {
  await shareDirections(tx, refundOf)
  const original = await lockPayment(tx, refundOf)
  if (!original || !isPaid(original.status))
    throw refuseParameters({
      paymentId: 'Expected a payment that has arrived; the chain has undone this one.',
    })
  requireLeft(original, { amountAtomic, left: await readLeft(tx, original) })
}

type Returning = Parameters<typeof lockReturned>[1]

/** The transfer to the account that a payment returns by its reference, if it was unmatched; undefined where it names none. */
export function returnedBy(
  terms: Pick<PaymentRecord, 'accountId' | 'network' | 'asset' | 'recipient' | 'amount'>,
  metadata: Record<string, unknown> | undefined,
): Returning | undefined {
  const signature = metadata?.['referenceId']
  // A hash counts only in its normal form, as it is compared.
  return typeof signature === 'string' &&
    readTransactionName(terms.network, signature) === signature
    ? { ...terms, signature }
    : undefined
}

/**
 * In the transaction that records a payment which returns a transfer: locks the transfer, so that of two refunds the second
 * one sees the first.
 * @throws `INVALID_PARAMETERS` while another payment returns it, or a wallet may still send one
 */
export async function reserveReturn(tx: Database, returned: Returning): Promise<void> {
  const refund = await lockReturned(tx, returned)
  if (!refund) return
  const expected = `Expected as referenceId a transfer that nothing refunds; ${refund.paymentId}, which is ${refund.status}, refunds ${returned.signature}.`
  throw new ProblemError('INVALID_PARAMETERS', {
    message: `metadata: ${expected}`,
    reason: 'transfer_refunded',
    details: { metadata: expected },
  })
}
