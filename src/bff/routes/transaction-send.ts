import { parseAddress, type Family } from '#contract/address.ts'
import type { EndpointInput } from '#contract/endpoints.ts'
import { familyOf } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import { recipientProblem } from '#contract/reason-problems.ts'
import { readRecipient } from '#contract/recipient.ts'
import type { BffConfig } from '../config/config.ts'
import { buildPayment } from './build-payment.ts'
import { fieldsOf, refuseLinkMetadata, refuseSenderVerified } from './own-fields.ts'
import { refundRequest } from './refund.ts'
import { may, type Rule } from '../session/rule.ts'

type Body = EndpointInput<'transactionSend'>['body']

/**
 * Anyone may have a payment to the seller built; an operator, one to any recipient; the payee of a
 * payment, its refund. The sender need not be a wallet of the session: the answer is an unsigned
 * transaction, useful only to the holder of the sender's key.
 */
export const transactionSend: Rule<'transactionSend'> = async (call) => {
  const { context, visitor, input, raw, requestId, idempotencyKey } = call
  refuseSenderVerified(input.body)
  refuseLinkMetadata(input.body.metadata)
  const refund = await refundRequest(call)
  const mayPayAnybody = visitor.session !== undefined && may(visitor.session, 'operator')
  if (!mayPayAnybody && !refund) requireSeller(input.body, context.config)
  const wanted = {
    context,
    visitor,
    requestId,
    idempotencyKey,
    sender: input.body.walletAddress,
    body: fieldsOf(raw.body),
    refund,
  }
  const { reply, setCookie } = await buildPayment(wanted)
  return {
    value: reply.value,
    headers: { ...reply.headers, ...(setCookie !== undefined && { 'Set-Cookie': setCookie }) },
  }
}

function requireSeller(body: Body, { sellerWallets }: Pick<BffConfig, 'sellerWallets'>): void {
  const { recipientAddress } = body
  const read = readRecipient(recipientAddress, familyOfOrder(body))
  if (!read.ok) throw recipientProblem(read.reason, { received: recipientAddress })
  if (sellerWallets.includes(read.address)) return
  throw new ProblemError('FORBIDDEN', {
    message: "This checkout pays only the seller's own wallets.",
    details: { recipientAddress: `Expected one of ${sellerWallets.join(', ')}.` },
  })
}

/** The network family that the order names, or otherwise the one of its sender's address. */
function familyOfOrder({ network, walletAddress }: Body): Family {
  if (network !== undefined) return familyOf(network)
  const sender = parseAddress(walletAddress)
  return sender.ok ? sender.family : 'evm'
}
