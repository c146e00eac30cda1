import * as v from 'valibot'
import { parseAddress } from '#contract/address.ts'
import type { EndpointReply } from '#contract/endpoints.ts'
import type { FacilitatorInput } from '#contract/facilitator.ts'
import { describe } from '#contract/fields.ts'
import { familyOf, findAsset, type NetworkId } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import { EXACT_SCHEME, NATIVE_TRANSFER_METHOD, SIGNED_TRANSACTION_METHOD, TXID_METHOD, UPFRONT_FLOW } from '#x402/methods.ts'
import { readNetwork, spellNetworkV1 } from '#x402/networks.ts'
import { readPayload, type PaymentPayload } from '#x402/payload.ts'
import { fromV1, Requirements, RequirementsV1, type ResourceInfo } from '#x402/requirements.ts'
import type { Actor, Context } from '../context.ts'
import { findClaim } from '../db/claims.ts'
import { chainOf, refuseParameters } from '../payments/network.ts'
import { Checklist, ProofRefused } from './checklist.ts'
import { Deadline, Late } from './deadline.ts'
import { examine } from './examine.ts'
import { messageKey } from './examine-native-transfer.ts'
import { judge, judgeMemo } from './judge.ts'
import { fingerprintOf } from './receive.ts'
import { settle } from './settle.ts'
import type { Examined, Terms } from './terms.ts'
import { isCertain, watch } from './watch.ts'

/** The x402 facilitator, over the same code that `/payment/receive` runs on: the terms come from the resource server that asks. */

const VERIFY_WITHIN_MS = 10_000
const SETTLE_WITHIN_MS = 60_000
/** The word of x402 for an outcome that is still open. */
const PENDING = 'settlement_pending'

export function describeSupported(context: Context): EndpointReply<'facilitatorSupported'> {
  const kinds = context.config.networks.flatMap(({ network, confirmations }) => {
    const extra = { paymentFlow: UPFRONT_FLOW, assetTransferMethods: methodsOf(network), confirmations }
    return ([1, 2] as const).map((x402Version) => ({
      x402Version,
      scheme: EXACT_SCHEME,
      network: x402Version === 1 ? spellNetworkV1(network) : network,
      extra,
    }))
  })
  // Nothing is sponsored: no key of the service signs for a payer.
  return { kinds, extensions: [], signers: {} }
}

function methodsOf(network: NetworkId): string[] {
  return familyOf(network) === 'evm' ? [TXID_METHOD, SIGNED_TRANSACTION_METHOD] : [TXID_METHOD, NATIVE_TRANSFER_METHOD]
}

/** Whether a payment could be settled now. Reads only: nothing is held, broadcast or recorded. */
export async function verifyPayment(context: Context, actor: Actor, input: FacilitatorInput): Promise<EndpointReply<'facilitatorVerify'>> {
  const { payment, terms } = readInput(context, input)
  const checklist = new Checklist()
  const deadline = new Deadline(VERIFY_WITHIN_MS)
  try {
    const examined = await examine({ payment, terms, checklist })
    const payer = await deadline.within(preview(context, { actor, terms, examined, checklist, deadline }))
    return { isValid: true, ...(payer !== null && { payer }) }
  } catch (error) {
    if (error instanceof ProofRefused) return { isValid: false, invalidReason: error.reason, invalidMessage: error.message }
    if (error instanceof Late || isOpen(error)) return { isValid: false, invalidReason: PENDING, invalidMessage: 'Nothing is decided yet; ask again.' }
    throw error
  }
}

/** Settles a payment. One payment settles once; a second try fails, whoever makes it. An `Idempotency-Key` gets the first answer again. */
export async function settlePayment(context: Context, actor: Actor, input: FacilitatorInput): Promise<EndpointReply<'facilitatorSettle'>> {
  const { payment, terms } = readInput(context, input)
  const { network } = terms.network
  const checklist = new Checklist()
  let examined: Examined | undefined
  try {
    examined = await examine({ payment, terms, checklist })
    const job = {
      accountId: actor.accountId,
      terms,
      examined,
      checklist,
      deadline: new Deadline(settleMs(terms, context.now())),
      fingerprint: fingerprintOf(terms, null),
    }
    const settled = await settle(context, job)
    const payer = settled.payment?.sender ?? examined.payer
    const told = {
      ...(payer !== null && { payer }),
      transaction: settled.payment?.signature ?? examined.signature,
      network,
      ...(settled.payment && { paymentId: settled.payment.id }),
    }
    // An earlier settlement that was left open is brought to its end; one that was told is no second grant.
    if (settled.state === 'pending') return { success: false, errorReason: PENDING, ...told }
    return settled.alreadyProcessed ? { success: false, errorReason: 'already_used', ...told } : { success: true, ...told }
  } catch (error) {
    const told = { transaction: '', network }
    if (error instanceof ProofRefused) return { success: false, errorReason: error.reason, errorMessage: error.message, ...told }
    if (isOpen(error)) return { success: false, errorReason: PENDING, ...told, transaction: examined?.signature ?? '' }
    throw error
  }
}

function isOpen(error: unknown): boolean {
  return error instanceof ProblemError && (error.code === 'PAYMENT_VERIFICATION_FAILED' || error.code === 'CHAIN_UNAVAILABLE')
}

type Preview = { actor: Actor; terms: Terms; examined: Examined; checklist: Checklist; deadline: Deadline }

async function preview(context: Context, { actor, terms, examined, checklist, deadline }: Preview): Promise<string | null> {
  const { network } = terms.network
  const chain = chainOf(context, network)
  const judged = { accountId: actor.accountId, terms, examined, checklist }
  // What is for us to broadcast is looked up once; what the payer has broadcast is waited for.
  const seen = await watch(chain, { signature: examined.signature, deadline, stop: () => examined.bytes !== null })
  if (!seen) throw new Late()
  const key = examined.key ?? (isCertain(seen) && seen.messageHash !== undefined ? messageKey(seen.messageHash) : null)
  const used = key !== null && (await findClaim(context.db, { network, key }))?.consumedAt
  checklist.check('already_used', { name: 'single_use', source: 'record', ok: !used, expected: 'never used', got: used ? 'used' : 'never used' })
  if (isCertain(seen)) return (await judge(context, judged, seen)).sender
  if (!examined.bytes) throw new ProblemError('PAYMENT_VERIFICATION_FAILED')
  await judgeMemo(context, judged, examined.memo)
  const rehearsal = await chain.rehearse(examined.bytes)
  const got = rehearsal.ok ? 'accepted' : rehearsal.reason
  checklist.check('simulation_failed', { name: 'simulation', source: 'chain', ok: rehearsal.ok, expected: 'accepted', got })
  return examined.payer
}

type Read = { payment: PaymentPayload; terms: Terms }

/** What is asked, with every problem of it in one answer. */
function readInput(context: Context, { x402Version, paymentPayload, paymentRequirements }: FacilitatorInput): Read {
  const details: Record<string, string> = {}
  const payload = readPayload(paymentPayload)
  if (!payload.ok) details.paymentPayload = payload.problem
  else if (payload.payload.x402Version !== x402Version) details.x402Version = 'Expected the version of the payment.'
  const asked = readRequirements(x402Version, paymentRequirements)
  if (typeof asked === 'string') details.paymentRequirements = asked
  if (!payload.ok || typeof asked === 'string' || Object.keys(details).length > 0) throw refuseParameters(details)
  return { payment: payload.payload, terms: toTerms(context, { ...asked, version: x402Version }) }
}

type Asked = { requirements: Requirements; resource: ResourceInfo | null }

function readRequirements(version: 1 | 2, value: unknown): Asked | string {
  const result = version === 1 ? v.safeParse(RequirementsV1, value) : v.safeParse(Requirements, value)
  if (!result.success) return `At ${v.getDotPath(result.issues[0]) ?? 'the root'}: ${result.issues[0].message}`
  return 'maxAmountRequired' in result.output ? fromV1(result.output) : { requirements: result.output, resource: null }
}

function toTerms(context: Context, { requirements, resource, version }: Asked & { version: 1 | 2 }): Terms {
  const { extra, payTo: payee, amount } = requirements
  const id = readNetwork(requirements.network, version)
  const network = context.config.networks.find((candidate) => candidate.network === id)
  if (!network)
    throw refuseParameters({ paymentRequirements: `Expected a network this service is configured for, received ${describe(requirements.network)}.` })
  const asset = findAsset(network, requirements.asset)
  const payTo = parseAddress(payee)
  const details: Record<string, string> = {}
  if (!asset?.native) details.asset = `Expected the native currency of ${network.network}, received ${describe(requirements.asset)}.`
  if (!payTo.ok || payTo.family !== familyOf(network.network)) details.payTo = `Expected an address of ${network.network}, received ${describe(payee)}.`
  if (BigInt(amount) === 0n) details.amount = 'Expected an amount above 0, received 0.'
  if (requirements.scheme !== EXACT_SCHEME) details.scheme = `Expected ${EXACT_SCHEME}, received ${describe(requirements.scheme)}.`
  if (!asset || !payTo.ok || Object.keys(details).length > 0) throw refuseParameters(details)
  return {
    network,
    asset,
    payTo: payTo.address,
    amountAtomic: BigInt(amount),
    resource: resource?.url ?? textOf(extra.resource),
    memo: textOf(extra.memo) ?? textOf(extra.paymentId),
    notBefore: secondsOf(extra.notBefore),
    expiresAt: secondsOf(extra.expiresAt),
    feePayer: null,
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** Unix seconds on the wire, milliseconds inside. */
function secondsOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value * 1000 : null
}

function settleMs({ expiresAt }: Terms, now: Date): number {
  return expiresAt === null ? SETTLE_WITHIN_MS : Math.min(SETTLE_WITHIN_MS, Math.max(1_000, expiresAt - now.getTime()))
}
