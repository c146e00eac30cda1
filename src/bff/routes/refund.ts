import { parseAddress } from '#contract/address.ts'
import type { EndpointResponse } from '#contract/endpoints.ts'
import { LosslessNumber } from '#contract/json.ts'
import { findAsset, nativeAsset } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { isPaid, isPaymentId } from '#contract/payment.ts'
import type { RefundRequest } from '#contract/refund-request.ts'
import type { ProxyContext } from '../context/context.ts'
import type { OpenSession } from '../db/sessions.ts'
import {
  may,
  requireWallet,
  type ProxyCall,
  onward,
  requireSession,
  spender,
  type Rule,
} from '../session/rule.ts'
import type { Visitor } from '../session/visitor.ts'
import { projectForParties, type UpstreamRequest } from '../upstream/upstream.ts'
import { refuseField } from '../http/parse.ts'
import { readPayment } from './read-payment.ts'

type Original = EndpointResponse<'paymentStatus'>

/**
 * The service's request for a refund of the payment that `metadata.refundOf` names, once it is sure that this session may refund it: it was paid to a
 * wallet of the session, and goes from there to its payer in the same asset. How much is left of it is for the service to say. Undefined without one.
 * @throws ProblemError `INVALID_PARAMETERS`, `NOT_FOUND`
 */
export async function refundRequest(
  call: ProxyCall<'transactionSend'>,
): Promise<UpstreamRequest | undefined> {
  const { context, visitor, input, requestId, idempotencyKey } = call
  const { metadata, walletAddress, amount, priorityFee } = input.body
  const named = metadata?.['refundOf']
  if (named === undefined) return undefined
  const field = 'metadata.refundOf'
  if (typeof named !== 'string' || !isPaymentId(named))
    throw refuseField(field, 'Expected the id of a payment.')
  const session = requireWallet(visitor)
  const original = await readRefundable({ context, visitor, session, requestId }, named, field)
  const proven = session.wallets.includes(walletAddress)
  if (original.recipient !== walletAddress || !(may(session, 'operator') || proven)) {
    throw refuseField('walletAddress', 'Expected the wallet that received the payment.')
  }
  requireSameTerms(context, original, { ...input.body, field: 'recipientAddress' })
  const { description } = metadata ?? {}
  const body = {
    paymentId: named,
    walletAddress,
    amount: new LosslessNumber(amount),
    ...(priorityFee !== undefined && { priorityFee: new LosslessNumber(priorityFee) }),
    ...(typeof description === 'string' && description !== '' && { reason: description }),
    ...(proven && { senderVerified: true }),
  }
  return { body, requestId, idempotencyKey }
}

type Reading = {
  context: ProxyContext
  visitor: Visitor
  session: OpenSession
  requestId: string
}

/**
 * A payment that the session may see, and that has arrived.
 * @throws ProblemError `INVALID_PARAMETERS` for the field that names it, `NOT_FOUND`
 */
export async function readRefundable(
  reading: Reading,
  paymentId: string,
  field: string,
): Promise<Original> {
  const { parsed } = await readPayment({ ...reading, paymentId })
  if (!isPaid(parsed.status)) throw refuseField(field, 'Expected a payment that has arrived.')
  return parsed
}

type RefundTerms = {
  recipientAddress: string
  /** The one that names the recipient. */
  field: string
  asset?: string | undefined
  network?: string | undefined
  resource?: string | undefined
}

/** @throws ProblemError `INVALID_PARAMETERS` unless it goes to the payer, in the asset of the original, and for no resource */
export function requireSameTerms(
  { config }: ProxyContext,
  original: Original,
  { recipientAddress, field, asset: name, network: id, resource }: RefundTerms,
): void {
  const recipient = parseAddress(recipientAddress)
  if (!recipient.ok || recipient.address !== original.sender)
    throw refuseField(field, 'Expected the payer of the payment.')
  if (resource !== undefined)
    throw refuseField('resource', 'Expected none: a refund is for no resource.')
  const network = config.networks.find((each) => each.network === original.network)
  const asset = network && (name === undefined ? nativeAsset(network) : findAsset(network, name))
  if (!network || (id !== undefined && id !== original.network))
    throw refuseField('network', 'Expected the network of the payment.')
  if (asset?.address !== original.asset)
    throw refuseField('asset', 'Expected the asset of the payment.')
}

/** For operators, and for the wallet that would sign the refund. */
export const transactionRelease: Rule<'transactionRelease'> = async (call) => {
  const { context, visitor, input } = call
  const { paymentId } = input.body
  const session = requireWallet(visitor)
  const { parsed } = await readPayment({ ...call, session, paymentId })
  if (!may(session, 'operator') && !session.wallets.includes(parsed.sender))
    throw refuseField('paymentId', 'Expected a refund from a wallet of yours.')
  const reply = await context.upstream.write('transactionRelease', onward(call), () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
  return session.member ? reply : { ...reply, value: projectForParties(reply.value) }
}

/** For the parties of a payment. Who of the account declined a request is for people of the account. */
export const refundRequestRead: Rule<'refundRequestRead'> = async (call) => {
  const { context, visitor, input } = call
  const session = requireSession(visitor)
  const { parsed: original } = await readPayment({
    ...call,
    session,
    paymentId: input.params.paymentId,
  })
  const reply = await context.upstream.read('refundRequestRead', onward(call), () =>
    context.budgets.spend(spender(visitor), 'tail'),
  )
  if (session.member) return reply
  const { parsed } = reply
  const next = isToMerchant(context, original) ? parsed.next : null
  return { ...reply, value: { ...parsed, requests: parsed.requests.map(forPayer), next } }
}

/** For all who see the payment. That its payer asks is for the signature to show, and for the service to verify. */
export const refundRequestCreate: Rule<'refundRequestCreate'> = async (call) => {
  const { context, visitor, input } = call
  const { paymentId } = input.body
  const session = requireSession(visitor)
  const { parsed: original } = await readPayment({ ...call, session, paymentId })
  if (!isToMerchant(context, original))
    throw refuseField('paymentId', 'Expected a payment to the merchant.')
  const reply = await context.upstream.write('refundRequestCreate', onward(call), () => {
    context.budgets.spendRefundRequest(visitor.address, paymentId)
    context.budgets.spend(spender(visitor), 'action')
  })
  const { parsed } = reply
  return { ...reply, value: { ...parsed, request: forPayer(parsed.request) } }
}

/** An account without registered wallets does not tell its own payments from those of strangers. */
export function isToMerchant(
  { config }: ProxyContext,
  { direction, recipient }: Pick<PaymentStatusBody, 'direction' | 'recipient'>,
): boolean {
  return direction === 'received' || config.sellerWallets.includes(recipient)
}

function forPayer(request: RefundRequest): unknown {
  const { amount, declined } = request
  return {
    ...request,
    amount: new LosslessNumber(amount),
    declined: declined && { ...declined, by: null },
  }
}
