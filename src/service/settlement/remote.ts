import * as v from 'valibot'
import { fact, type CheckFact } from '#contract/facts.ts'
import { parseJson, stringifyJson } from '#contract/json.ts'
import { EgressError, EgressRefusedError, exchange } from '#egress/exchange.ts'
import { EXACT_SCHEME } from '#x402/methods.ts'
import { methodOf, type PaymentPayload, SettleResponse, VerifyResponse } from '#x402/payload.ts'
import { toV1, type Requirements } from '#x402/requirements.ts'
import { readTransactionName } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import type { Deadline } from '../verification/proof-time.ts'
import type { ExpectedTerms } from '../verification/terms.ts'
import { undecided, type VerificationReport } from '../verification/verification-report.ts'
import { settlesHere } from './facilitator-wallet.ts'
import type { Remote } from './outcome.ts'

const MAX_ANSWER_BYTES = 64 * 1024

export type EgressOptions = {
  timeoutMs: number
  /** For tests and the embedded network: `http://127.0.0.1` is allowed, and nothing else beside. */
  loopback: boolean
}

/**
 * Sends JSON and reads JSON, at most 64 KiB, under the rules of `exchange`.
 * @throws EgressError, for an answer that is no 200 or no JSON too
 */
export async function postJson(url: URL, body: unknown, options: EgressOptions): Promise<unknown> {
  const question = {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: new TextEncoder().encode(stringifyJson(body)),
  }
  const answer = await exchange(question, { ...options, maxBytes: MAX_ANSWER_BYTES })
  try {
    if (answer.status !== 200)
      throw new Error(`Expected the status 200, received ${answer.status}.`)
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(answer.body))
  } catch (error) {
    throw new EgressError(error)
  }
}

/** How long terms are said to be good for, in seconds, where the payer's own words say nothing. */
const DEFAULT_TIMEOUT_S = 60

/** The facilitators that may be asked, by their normal spelling. */
export function readFacilitator(context: Context, text: string): URL | undefined {
  const allowed = context.config.facilitators?.allowed ?? []
  if (!URL.canParse(text)) return undefined
  const normalized = normalizeUrl(new URL(text))
  return allowed.some((entry) => normalizeUrl(new URL(entry)) === normalized)
    ? new URL(text)
    : undefined
}

function normalizeUrl(url: URL): string {
  return url.href.replace(/\/+$/, '')
}

type RemoteRequest = {
  url: URL
  payment: PaymentPayload
  terms: ExpectedTerms
  report: VerificationReport
  deadline: Deadline
}

/**
 * A facilitator that verifies and settles a payment. What it says is a hint that the chain must bear out; that it does not say so decides nothing either.
 * Both calls throw `PAYMENT_VERIFICATION_FAILED`.
 */
export function openRemote(
  context: Context,
  { url, payment, terms, report, deadline }: RemoteRequest,
): Remote {
  const base = normalizeUrl(url)
  const body = {
    x402Version: payment.x402Version,
    paymentPayload: payment,
    paymentRequirements: requirementsOf(payment, terms),
  }
  const callFacilitator = async <S extends v.GenericSchema>(
    path: string,
    schema: S,
  ): Promise<v.InferOutput<S>> => {
    try {
      const answer = await postJson(new URL(`${base}/${path}`), body, {
        timeoutMs: deadline.leftMs,
        loopback: context.config.facilitators?.loopback ?? false,
      })
      return v.parse(schema, answer)
    } catch (error) {
      if (!(error instanceof EgressError) && !v.isValiError(error)) throw error
      if (error instanceof EgressRefusedError) {
        context.log.warn(
          { err: error, facilitator: base },
          'a facilitator was not asked: our egress rule refuses its address',
        )
        throw undecided(
          'Our egress rule refuses the address of the facilitator, so it was not asked. Nothing is decided.',
        )
      }
      context.log.warn({ err: error, facilitator: base }, 'a facilitator gave no answer')
      throw undecided('The facilitator did not answer, or answered nonsense. Nothing is decided.')
    }
  }
  return {
    async verify() {
      const verified = await callFacilitator('verify', VerifyResponse)
      if (!verified.isValid)
        throw undecided('The facilitator does not verify this payment. Nothing is decided.')
      report.check('malformed', {
        name: 'facilitator_verify',
        source: 'facilitator',
        ok: true,
        expected: fact('valid'),
        got: fact('valid'),
      })
    },
    async settle() {
      const settled = await callFacilitator('settle', SettleResponse)
      if (!settled.success)
        throw undecided('The facilitator did not settle this payment. Nothing is decided.')
      // What is no transaction's name is none, and no node is asked about it.
      const transaction = readTransactionName(terms.network.network, settled.transaction) ?? null
      const got: CheckFact =
        transaction === null ? fact('settled') : { code: 'transaction', params: { transaction } }
      report.check('malformed', {
        name: 'facilitator_settle',
        source: 'facilitator',
        ok: true,
        expected: fact('settled'),
        got,
      })
      return transaction
    },
  }
}

/** Who settles where the caller names nobody: this service, or the first facilitator of the operator's list where no wallet here pays for it. */
export function defaultFacilitator(
  context: Context,
  { network, asset }: ExpectedTerms,
): URL | undefined {
  const [first] = context.config.facilitators?.allowed ?? []
  return asset.native || settlesHere(context, network.network) || first === undefined
    ? undefined
    : new URL(first)
}

/** The terms as they were asked; of the payer's words only what decides nothing. */
function requirementsOf(
  payment: PaymentPayload,
  { network, asset, payTo, amountAtomic, resource }: ExpectedTerms,
) {
  const requirements: Requirements = {
    scheme: EXACT_SCHEME,
    network: network.network,
    amount: amountAtomic.toString(),
    asset: asset.address,
    payTo,
    maxTimeoutSeconds:
      payment.x402Version === 2 ? payment.accepted.maxTimeoutSeconds : DEFAULT_TIMEOUT_S,
    extra:
      payment.x402Version === 2
        ? payment.accepted.extra
        : { assetTransferMethod: methodOf(payment) },
  }
  return payment.x402Version === 2 ? requirements : toV1(requirements, { url: resource ?? '' })
}
