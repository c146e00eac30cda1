import { t } from '@lingui/core/macro'
import * as v from 'valibot'
import { formatAmount } from '#contract/amount.ts'
import { CheckFact, fact, textFact } from '#contract/facts.ts'
import { LosslessNumber } from '#contract/json.ts'
import type { ProofCheck } from '#contract/proof.ts'
import { reasonCodeOf } from '#contract/reasons.ts'
import { EXACT_SCHEME } from '#x402/methods.ts'
import { methodOf, type PaymentPayload } from '#x402/payload.ts'
import { toV1, type Requirements } from '#x402/requirements.ts'
import { call } from '../../../api/client.ts'
import { ApiError } from '../../../api/errors.ts'
import { describeError } from '../../../errors/codes.ts'
import { joinMessage } from '../../../errors/row.ts'
import { readReason } from '../../../errors/proof-reasons.ts'
import type { Check } from '../../../payment-view/check.ts'
import type { Expected } from './local-checks.ts'

/** The service's view of a proof. */
export type ServiceView = {
  checks: readonly Check[]
  /** It could be settled now. */
  vouched: boolean
  /** The service has the money on record. */
  settled: boolean
  paymentId: string | null
  already: boolean
  undecided: string | null
  signIn: boolean
}

const NOTHING: ServiceView = {
  checks: [],
  vouched: false,
  settled: false,
  paymentId: null,
  already: false,
  undecided: null,
  signIn: false,
}
const SETTLEMENT_PENDING = 'settlement_pending'

/**
 * Asks whether a proof is good now. Nothing is used up: the same proof can be checked any number of
 * times.
 */
export async function checkWithService(
  payment: PaymentPayload,
  expected: Expected,
): Promise<ServiceView> {
  const body = {
    x402Version: payment.x402Version,
    paymentPayload: { ...payment },
    paymentRequirements: { ...requirementsOf(payment, expected) },
  }
  try {
    const reply = await call('facilitatorVerify', { body }, { timeoutMs: 30_000 })
    const checks = (reply.extra?.checks ?? []).map((check) => toCheck(check, reply.invalidReason))
    if (reply.isValid) return { ...NOTHING, checks, vouched: true }
    if (reply.invalidReason === SETTLEMENT_PENDING)
      return {
        ...NOTHING,
        checks,
        undecided: t`Pending. Check again.`,
      }
    // The service was asked about something it is not configured for: that says nothing about the
    // proof.
    if (!reply.extra && reply.invalidMessage !== undefined)
      return { ...NOTHING, undecided: reply.invalidMessage }
    return {
      ...NOTHING,
      checks: withRefusal(checks, { reason: reply.invalidReason, message: reply.invalidMessage }),
    }
  } catch (error) {
    return explain(error)
  }
}

export type Accepting = { facilitatorUrl: string | null; timeoutS: number }

/**
 * Accepts a proof: it is settled, written into the account, and used up. The key makes a repeated
 * click the same acceptance.
 */
export async function accept(
  header: string,
  expected: Expected,
  { facilitatorUrl, timeoutS }: Accepting,
): Promise<ServiceView> {
  const body = {
    ...questionOf(header, expected),
    timeout: timeoutS,
    ...(facilitatorUrl !== null && { facilitatorUrl }),
  }
  try {
    const reply = await call(
      'paymentReceive',
      { body },
      { timeoutMs: (timeoutS + 10) * 1000, idempotencyKey: crypto.randomUUID() },
    )
    const checks = reply.checks.map((check) => toCheck(check, undefined))
    const { verified, paymentId, alreadyProcessed } = reply
    return {
      ...NOTHING,
      checks,
      settled: verified,
      vouched: true,
      paymentId,
      already: alreadyProcessed,
      undecided: verified ? null : t`Pending. Check again.`,
    }
  } catch (error) {
    return explain(error)
  }
}

/** The expected values of a proof, in the service's terms. */
export function questionOf(
  header: string,
  { network, asset, wallet, amountAtomic, resource, memo }: Expected,
) {
  return {
    walletAddress: wallet,
    paymentProof: header,
    expectedAmount: new LosslessNumber(formatAmount(amountAtomic, asset.decimals)),
    network: network.network,
    asset: asset.address,
    ...(resource !== null && { resource }),
    ...(memo !== null && { memo }),
  }
}

/** The terms as expected; the payer's own terms supply only details that decide nothing. */
function requirementsOf(
  payment: PaymentPayload,
  { network, asset, wallet, amountAtomic, resource, memo }: Expected,
): Record<string, unknown> {
  const accepted = payment.x402Version === 2 ? payment.accepted : undefined
  const method = methodOf(payment)
  const requirements: Requirements = {
    scheme: EXACT_SCHEME,
    network: network.network,
    amount: amountAtomic.toString(),
    asset: asset.address,
    payTo: wallet,
    maxTimeoutSeconds: accepted?.maxTimeoutSeconds ?? 300,
    extra: {
      ...(accepted ? accepted.extra : method !== undefined && { assetTransferMethod: method }),
      ...(resource !== null && payment.x402Version === 2 && { resource }),
      ...(memo !== null && { memo }),
    },
  }
  return payment.x402Version === 2
    ? requirements
    : toV1(requirements, { url: resource ?? resourceOf(payment) })
}

/** A version 1 proof may carry its offer; without an expectation its own resource is used. */
function resourceOf(payment: PaymentPayload): string {
  const { offer } = payment.payload
  return typeof offer === 'object' &&
    offer !== null &&
    'resource' in offer &&
    typeof offer.resource === 'string'
    ? offer.resource
    : ''
}

export function toCheck(
  { name, source, ok, expected, got, expectedFact, gotFact }: ProofCheck,
  reason: string | undefined,
): Check {
  return {
    name,
    source: sourceOf(source),
    state: ok ? 'ok' : 'bad',
    expected: readFact(expectedFact, expected),
    got: readFact(gotFact, got),
    ...(!ok && { reason: readReason(reason ?? 'unexpected') }),
  }
}

/** A refusal is always shown, as a separate check if the service names none. */
function withRefusal(
  checks: readonly Check[],
  { reason, message }: { reason: string | undefined; message: string | undefined },
): Check[] {
  if (checks.some(({ state }) => state === 'bad')) return [...checks]
  return [
    ...checks,
    {
      name: 'verdict',
      source: 'record',
      state: 'bad',
      expected: fact('valid'),
      got:
        message === undefined && reason === undefined
          ? fact('not_valid')
          : textFact(message ?? reason ?? ''),
      reason: readReason(reason ?? 'unexpected'),
    },
  ]
}

function explain(error: unknown): ServiceView {
  if (!(error instanceof ApiError)) throw error
  if (error.code === 'INVALID_PAYMENT_PROOF') {
    const { checks } = error.details
    const word = reasonCodeOf(error.details) ?? 'unexpected'
    const list = Array.isArray(checks)
      ? checks.flatMap((entry: unknown) => readCheck(entry, word))
      : []
    return { ...NOTHING, checks: withRefusal(list, { reason: word, message: error.message }) }
  }
  const fields =
    error.code === 'INVALID_PARAMETERS'
      ? Object.values(error.details).filter((text) => typeof text === 'string')
      : []
  const words = describeError(error)
  return {
    ...NOTHING,
    undecided: fields.length > 0 ? fields.join(' ') : joinMessage(words),
    signIn: words.action === 'sign_in',
  }
}

/**
 * What the service reads from a proof or a record is its own word; what it reads from the chain is
 * its node's.
 */
function sourceOf(source: string): Check['source'] {
  if (source === 'chain') return 'service_chain'
  return source === 'facilitator' ? source : 'record'
}

/**
 * An older service sends no facts, and a newer one may send an unknown code: then its sentence is
 * shown unchanged.
 */
function readFact(value: unknown, sentence: string): CheckFact {
  const read = v.safeParse(CheckFact, value)
  return read.success ? read.output : textFact(sentence)
}

function readCheck(entry: unknown, reason: string): Check[] {
  if (typeof entry !== 'object' || entry === null || !('name' in entry) || !('ok' in entry))
    return []
  const text = (name: string) => String(Reflect.get(entry, name) ?? '')
  return [
    {
      name: text('name'),
      source: sourceOf(text('source')),
      state: entry.ok === true ? 'ok' : 'bad',
      expected: readFact(Reflect.get(entry, 'expectedFact'), text('expected')),
      got: readFact(Reflect.get(entry, 'gotFact'), text('got')),
      ...(entry.ok !== true && { reason: readReason(reason) }),
    },
  ]
}
