import { parseAddress } from '#contract/address.ts'
import { ProblemError } from '#contract/problem.ts'
import { insertSessionPayment } from '../db/sessions.ts'
import { startAnonymousSession } from '../session/start-session.ts'
import { refundRequest } from './refund.ts'
import { onward, spender } from './rule.ts'
import type { Rule } from './rule.ts'

/**
 * Anybody may have a payment to the seller built; the operator, to any recipient; the payee of a payment, one that refunds it. The sender need not be a wallet of the session:
 * the answer is an unsigned transaction, of use only to whoever holds the sender's key.
 * A visitor without a session gets an anonymous one, which may see the payments it made and nothing else.
 */
export const transactionSend: Rule<'transactionSend'> = async (call) => {
  const { context, visitor, input } = call
  const refund = await refundRequest(call)
  if (!visitor.session?.operator && !refund) requireSeller(input.body.recipientAddress, context.config.sellerWallets)
  const spend = () => context.budgets.spend(spender(visitor), 'action')
  const reply = refund ? await context.upstream.write('transactionRefund', refund, spend) : await context.upstream.write('transactionSend', onward(call), spend)
  const started = visitor.session ? undefined : await startAnonymousSession(context, visitor.site)
  const session = visitor.session ?? started?.session
  if (session) await insertSessionPayment(context.db, session.id, reply.parsed.paymentId)
  return { value: reply.value, headers: { ...reply.headers, ...(started && { 'Set-Cookie': started.setCookie }) } }
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
