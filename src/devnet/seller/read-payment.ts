import * as v from 'valibot'
import { formatAmount } from '#contract/amount.ts'
import { findAsset, type Asset, type Network } from '#contract/network.ts'
import { decodeTransaction } from '#chains/solana/decode.ts'
import { renderDecodeProblem } from '#contract/render-en.ts'
import { decodeBase64 } from '#x402/header.ts'
import { readNetwork } from '#x402/networks.ts'
import { decodePayload, methodOf, networkNameOf, type PaymentPayload } from '#x402/payload.ts'
import { fromV1, RequirementsV1, type Requirements } from '#x402/requirements.ts'
import type { ReceiveRequest } from './service-client.ts'
import { ORDER, type QuotedOption, type Quotes } from './quote.ts'

/**
 * `readable: false`: the input is no x402 payment at all. `once`: it names nothing that only its
 * buyer knows. Who reads the chain can make it again, so it is served to the first who presents it.
 */
export type PaymentReading =
  | { ok: true; question: ReceiveRequest; once: boolean }
  | { ok: false; readable: boolean; reason: string; message: string }

type PaidRequest = { header: string; url: URL; offers: readonly QuotedOption[] }

/**
 * Turns what a payment says it pays for into a question to the service, if the seller did offer
 * that.
 */
export function readPayment(
  { header, url, offers }: PaidRequest,
  { quotes, networks }: { quotes: Quotes; networks: readonly Network[] },
): PaymentReading {
  const decoded = decodePayload(header)
  if (!decoded.ok)
    return {
      ok: false,
      readable: false,
      reason: 'malformed',
      message: renderDecodeProblem(decoded.problem),
    }
  const { payload: payment } = decoded
  const accepted = acceptedOf(payment)
  if (!accepted) return fromOffers(payment, { header, url, offers }, quotes)
  const { requirements, resource } = accepted
  // If a service built the payment for this resource, the payer echoes what that service knows of
  // it.
  if (
    requirements.extra.quote === undefined &&
    isSameProduct(resource, url) &&
    quotes.holdsOrder(url, resource)
  )
    return fromOrder(payment, { header, requirements, resource, offers })
  if (!isSameProduct(resource, url) || !quotes.holds({ url: resource }, requirements)) {
    return {
      ok: false,
      readable: true,
      reason: 'resource_mismatch',
      message: 'This payment is not for an offer of this page.',
    }
  }
  const network = readNetwork(requirements.network, payment.x402Version)
  const asset = assetOf(networks, network, requirements.asset)
  if (!network || !asset) return unknownOption()
  const { memo, notBefore, expiresAt } = requirements.extra
  return {
    ok: true,
    once: false,
    question: {
      walletAddress: requirements.payTo,
      paymentProof: header,
      expectedAmount: formatAmount(BigInt(requirements.amount), asset.decimals),
      network,
      asset: asset.address,
      resource,
      ...(typeof memo === 'string' && { memo }),
      // Seconds in x402, milliseconds at the service.
      notBefore: Number(notBefore) * 1000,
      expiresAt: Number(expiresAt) * 1000,
    },
  }
}

/**
 * The terms a payment names: version 2 echoes them, a version 1 proof carries its offer, other
 * version 1 payments name none.
 */
function acceptedOf(
  payment: PaymentPayload,
): { requirements: Requirements; resource: string } | undefined {
  if (payment.x402Version === 2)
    return { requirements: payment.accepted, resource: payment.resource?.url ?? '' }
  const echoed = v.safeParse(RequirementsV1, payment.payload.offer)
  if (!echoed.success) return undefined
  const { requirements, resource } = fromV1(echoed.output)
  return { requirements, resource: resource.url }
}

type Order = {
  header: string
  requirements: Requirements
  resource: string
  offers: readonly QuotedOption[]
}

/** A payment that is bound to a visit, but not to its terms, is checked against today's price. */
function fromOrder(
  payment: PaymentPayload,
  { header, requirements, resource, offers }: Order,
): PaymentReading {
  const network = readNetwork(requirements.network, payment.x402Version)
  const method = methodOf(payment)
  const option = offers.find(
    (entry) =>
      entry.network === network &&
      entry.asset.address === requirements.asset &&
      entry.method === method,
  )
  if (!option) return unknownOption()
  const { amount: expectedAmount, payTo: walletAddress } = option
  return {
    ok: true,
    once: false,
    question: {
      walletAddress,
      paymentProof: header,
      expectedAmount,
      network: option.network,
      asset: option.asset.address,
      resource,
    },
  }
}

/** A version 1 payment that names no terms is checked against today's price. */
function fromOffers(
  payment: PaymentPayload,
  { header, url, offers }: PaidRequest,
  quotes: Quotes,
): PaymentReading {
  const network = readNetwork(networkNameOf(payment), payment.x402Version)
  const transaction = readTransaction(payment)
  const native = transaction?.ok && transaction.operations.some(({ kind }) => kind === 'transfer')
  const fitting = offers.filter(
    (option) =>
      option.network === network &&
      (transaction ? option.asset.native === native : option.method === methodOf(payment)),
  )
  const [option] = fitting
  if (!option) return unknownOption()
  const memo = transaction?.ok
    ? transaction.operations.find((operation) => operation.kind === 'memo')?.text
    : undefined
  return {
    ok: true,
    once: true,
    question: {
      walletAddress: option.payTo,
      paymentProof: header,
      expectedAmount: option.amount,
      network: option.network,
      asset: option.asset.address,
      ...(memo !== undefined && quotes.holdsMemo(url.pathname, memo) && { memo }),
    },
  }
}

/** The Solana transaction in a payment, if there is one. */
function readTransaction(
  payment: PaymentPayload,
): ReturnType<typeof decodeTransaction> | undefined {
  const { transaction } = payment.payload
  const bytes = typeof transaction === 'string' ? decodeBase64(transaction) : undefined
  return bytes && decodeTransaction(bytes)
}

/** The resource of a visit is the page's own address with an order number. */
function isSameProduct(resource: string, url: URL): boolean {
  const paid = URL.parse(resource)
  if (!paid) return false
  paid.searchParams.delete(ORDER)
  return paid.href === url.href
}

function assetOf(
  networks: readonly Network[],
  id: string | undefined,
  name: string,
): Asset | undefined {
  const network = networks.find((candidate) => candidate.network === id)
  return network && findAsset(network, name)
}

function unknownOption(): PaymentReading {
  return {
    ok: false,
    readable: true,
    reason: 'unsupported_method',
    message: 'This page does not offer to be paid that way.',
  }
}
