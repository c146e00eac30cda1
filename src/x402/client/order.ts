import * as v from 'valibot'
import { EVM_NATIVE, parseAddress, SOLANA_NATIVE, type Family } from '#contract/address.ts'
import { fieldProblemOf } from '#contract/explain-issue.ts'
import { fact } from '#contract/facts.ts'
import type { NetworkId } from '#contract/network.ts'
import type { DecodeProblem } from '#contract/reasons.ts'
import { renderDecodeProblem } from '#contract/render-en.ts'
import { EXACT_SCHEME } from '../methods.ts'
import { readNetwork } from '../networks.ts'
import { fromV1, Requirements, RequirementsV1, ResourceInfo } from '../requirements.ts'

/**
 * A seller's request, read for the payer who is about to answer it. Nothing in it has been checked
 * yet.
 */
export type ClientPayment = {
  network: NetworkId
  /** As the seller spells it: what is signed must be spelled the same. */
  networkName: string
  asset: string
  native: boolean
  payTo: string
  amountAtomic: bigint
  maxTimeoutSeconds: number
  /** How value moves; null where the seller leaves it to the scheme. */
  method: string | null
  resource: ResourceInfo
  /** What the seller calls this payment; on Solana it is the memo that binds it. */
  memo: string | null
  /** Solana: the account that pays the network fee; null when the payer does. */
  feePayer: string | null
  extra: Readonly<Record<string, unknown>>
}

/** A seller's terms that this payer cannot answer. Nothing was sent or signed. */
export class ClientPaymentError extends Error {
  override name = 'ClientPaymentError'
}

const NATIVE: Readonly<Record<Family, string>> = {
  evm: EVM_NATIVE.toLowerCase(),
  solana: SOLANA_NATIVE,
}

export type PaymentOptionReading =
  | { ok: true; payment: ClientPayment }
  | { ok: false; problem: DecodeProblem }

/**
 * The same as `readPaymentOption`, for callers who take a sentence.
 * @throws ClientPaymentError
 */
export function readOrder(
  version: number,
  value: unknown,
  resource: ResourceInfo | undefined,
): ClientPayment {
  const reading = readPaymentOption(version, value, resource)
  if (!reading.ok) throw new ClientPaymentError(renderDecodeProblem(reading.problem))
  return reading.payment
}

/**
 * Reads one entry of `accepts`, of either version. All of it is untrusted text.
 * @param resource what accompanies the entry in v2; v1 contains it
 */
export function readPaymentOption(
  version: number,
  value: unknown,
  resource: ResourceInfo | undefined,
): PaymentOptionReading {
  const read = version === 1 ? readV1(value) : readV2(value, resource)
  if (!read.ok) return read
  const { requirements, stated } = read
  const {
    scheme,
    network: networkName,
    asset,
    payTo,
    amount,
    maxTimeoutSeconds,
    extra,
  } = requirements
  const network = readNetwork(networkName, version === 1 ? 1 : 2)
  const payee = parseAddress(payTo)
  if (scheme !== EXACT_SCHEME) return refuse({ code: 'offer_scheme', params: { scheme } })
  if (network === undefined)
    return refuse({ code: 'offer_network', params: { network: networkName } })
  if (!payee.ok) return refuse({ code: 'offer_payee', params: { payee: payTo } })
  if (!stated) return refuse(fact('offer_resource'))
  // What no facilitator reads must not be paid first.
  const resourceInfo = v.safeParse(ResourceInfo, stated)
  if (!resourceInfo.success) return refuseField(resourceInfo.issues[0])
  const text = (name: string) =>
    typeof extra[name] === 'string' && extra[name] !== '' ? extra[name] : null
  const payment = {
    network,
    networkName,
    asset,
    native: (payee.family === 'evm' ? asset.toLowerCase() : asset) === NATIVE[payee.family],
    payTo: payee.address,
    amountAtomic: BigInt(amount),
    maxTimeoutSeconds,
    method: text('assetTransferMethod'),
    resource: resourceInfo.output,
    memo: text('memo') ?? text('paymentId'),
    feePayer: text('feePayer'),
    extra,
  }
  return { ok: true, payment }
}

type Refused = Extract<PaymentOptionReading, { ok: false }>
type Terms = { ok: true; requirements: Requirements; stated: ResourceInfo | undefined } | Refused

function readV1(value: unknown): Terms {
  const result = v.safeParse(RequirementsV1, value)
  if (!result.success) return refuseField(result.issues[0])
  const { requirements, resource } = fromV1(result.output)
  return { ok: true, requirements, stated: resource }
}

function readV2(value: unknown, stated: ResourceInfo | undefined): Terms {
  const result = v.safeParse(Requirements, value)
  return result.success
    ? { ok: true, requirements: result.output, stated }
    : refuseField(result.issues[0])
}

function refuse(problem: DecodeProblem): Refused {
  return { ok: false, problem }
}

function refuseField(issue: v.BaseIssue<unknown>): Refused {
  const params = { field: v.getDotPath(issue), problem: fieldProblemOf(issue) }
  return refuse({ code: 'offer_field', params })
}
