import { parseAddress } from '#contract/address.ts'
import type { EndpointResponse } from '#contract/endpoints.ts'
import { LosslessNumber } from '#contract/json.ts'
import { findAsset, nativeAsset } from '#contract/network.ts'
import { isPaid, isPaymentId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import type { UpstreamRequest } from '../upstream/upstream.ts'
import { readPayment } from './read-payment.ts'
import { may, requireWallet, type ProxyCall } from '../session/rule.ts'

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
  if (typeof named !== 'string' || !isPaymentId(named))
    throw refuse('metadata.refundOf', 'Expected the id of a payment.')
  const session = requireWallet(visitor)
  const original = (await readPayment({ context, visitor, session, paymentId: named, requestId }))
    .parsed
  if (!isPaid(original.status))
    throw refuse('metadata.refundOf', 'Expected a payment that has arrived.')
  const proven = session.wallets.includes(walletAddress)
  if (original.recipient !== walletAddress || !(may(session, 'operator') || proven)) {
    throw refuse('walletAddress', 'Expected the wallet that received the payment.')
  }
  requireSameTerms(call, original)
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

function requireSameTerms(
  { context, input }: ProxyCall<'transactionSend'>,
  original: Original,
): void {
  const { recipientAddress, asset: name, network: id, resource } = input.body
  const recipient = parseAddress(recipientAddress)
  if (!recipient.ok || recipient.address !== original.sender)
    throw refuse('recipientAddress', 'Expected the payer of the payment.')
  if (resource !== undefined)
    throw refuse('resource', 'Expected none: a refund is for no resource.')
  const network = context.config.networks.find((each) => each.network === original.network)
  const asset = network && (name === undefined ? nativeAsset(network) : findAsset(network, name))
  if (!network || (id !== undefined && id !== original.network))
    throw refuse('network', 'Expected the network of the payment.')
  if (asset?.address !== original.asset) throw refuse('asset', 'Expected the asset of the payment.')
}

function refuse(field: string, message: string): ProblemError {
  return new ProblemError('INVALID_PARAMETERS', {
    message: `${field}: ${message}`,
    details: { [field]: message },
  })
}
