import { parseAddress } from '#contract/address.ts'
import { ProblemError } from '#contract/problem.ts'
import { buildPayment } from './build-payment.ts'
import { fieldsOf, refuseSenderVerified } from './own-fields.ts'
import { refundRequest } from './refund.ts'
import type { Rule } from './rule.ts'

/**
 * Anybody may have a payment to the seller built; the operator, to any recipient; the payee of a payment, one that refunds it. The sender need not be a wallet of the session:
 * the answer is an unsigned transaction, of use only to whoever holds the sender's key.
 */
export const transactionSend: Rule<'transactionSend'> = async (call) => {
  const { context, visitor, input, raw, requestId, idempotencyKey } = call
  refuseSenderVerified(input.body)
  const refund = await refundRequest(call)
  if (!visitor.session?.operator && !refund) requireSeller(input.body.recipientAddress, context.config.sellerWallets)
  const wanted = { context, visitor, requestId, idempotencyKey, sender: input.body.walletAddress, body: fieldsOf(raw.body), refund }
  const { reply, setCookie } = await buildPayment(wanted)
  return { value: reply.value, headers: { ...reply.headers, ...(setCookie !== undefined && { 'Set-Cookie': setCookie }) } }
}

function requireSeller(recipient: string, sellerWallets: readonly string[]): void {
  const parsed = parseAddress(recipient)
  if (!parsed.ok) {
    throw new ProblemError('INVALID_RECIPIENT', {
      details: { recipientAddress: 'Expected 0x and 40 hex digits with a right checksum, or base58 of 32 bytes.' },
    })
  }
  if (sellerWallets.includes(parsed.address)) return
  throw new ProblemError('FORBIDDEN', {
    message: "This checkout pays only the seller's own wallets.",
    details: { recipientAddress: `Expected one of ${sellerWallets.join(', ')}.` },
  })
}
