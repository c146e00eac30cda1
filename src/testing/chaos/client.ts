import { randomInt, randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { ChaosHarness, Till } from './harness.ts'

/** A payment somebody wants made once: the same key and body until an answer decides. */
export type RequestedPayment = { key: string; till: Till; amount: string }
export type Acknowledged = RequestedPayment & { paymentId: string }

const Answer = v.object({
  paymentId: v.optional(v.string()),
  error: v.optional(v.object({ code: v.string(), message: v.string() })),
})
const PATIENCE_MS = 20_000
const PAUSE_MS = 50
const STUCK_AFTER_MS = 300_000

/** A status from 400 on, as a client of the API saw it. */
export type RefusedCall = { status: number; code: string; retryAfter: boolean }

type Asking = {
  target: () => string | undefined
  prefer: string
  onCutOff?: () => void
  onRefused?: (refused: RefusedCall) => void
  /** While true, no wait is too long: faults happen. */
  faulty?: () => boolean
  /** What else than 409, 429 and 503 is asked again. */
  alsoRepeat?: (status: number) => boolean
}

/**
 * A client that asks any process that is there, and asks again what nobody has answered, until it is told the payment.
 * @throws Error when nobody has answered in five minutes: what was asked is stuck
 */
export async function requestUntilDecided(
  { key }: Pick<ChaosHarness, 'key'>,
  wish: RequestedPayment,
  { target, prefer, onCutOff, onRefused, faulty, alsoRepeat }: Asking,
): Promise<Acknowledged> {
  let until = performance.now() + STUCK_AFTER_MS
  let last = 'nobody was there'
  for (;;) {
    const url = target()
    const answer =
      url === undefined
        ? undefined
        : await askOnce(url, { apiKey: key, prefer, wish, onRefused, alsoRepeat })
    if (answer?.paymentId !== undefined) return { ...wish, paymentId: answer.paymentId }
    if (answer?.cutOff) onCutOff?.()
    last = answer?.told ?? last
    if (faulty?.()) until = performance.now() + STUCK_AFTER_MS
    if (performance.now() > until)
      throw new Error(
        `The payment of key ${wish.key} from ${wish.till.address} was asked for five minutes; last: ${last}`,
      )
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

type SendRequest = {
  apiKey: string
  prefer: string
  wish: RequestedPayment
  onRefused: Asking['onRefused']
  alsoRepeat: Asking['alsoRepeat']
}
type Answered = { paymentId?: string | undefined; cutOff?: boolean; told?: string }

async function askOnce(
  url: string,
  { apiKey, prefer, wish, onRefused, alsoRepeat }: SendRequest,
): Promise<Answered> {
  const { key, till, amount } = wish
  let text: string
  let status: number
  let retryAfter: boolean
  try {
    const response = await fetch(`${url}/payment/send`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': key,
        prefer,
      },
      body: `{"walletAddress":"${till.address}","recipientAddress":"${till.payee}","amount":${amount}}`,
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    status = response.status
    retryAfter = response.headers.has('retry-after')
    text = await response.text()
  } catch (error) {
    // The process died over it, or could not be reached: nothing is known.
    return { cutOff: isCutOff(error), told: String(error) }
  }
  const { paymentId, error } = v.parse(Answer, JSON.parse(text))
  if (status === 200 || status === 202) return { paymentId }
  onRefused?.({ status, code: error?.code ?? '', retryAfter })
  // Only what a client may repeat is expected here; everything else is a finding.
  if (status === 409 || status === 429 || status === 503 || alsoRepeat?.(status))
    return { told: `${status} ${error?.code}: ${error?.message}` }
  throw new Error(`The service answered ${status} ${error?.code}: ${error?.message}`)
}

/** The other side is gone in the middle; a process that was never reached, or is only slow, is something else. */
function isCutOff(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}

export function newRequestedPayment(
  tills: readonly Till[],
  int = (least: number, most: number) => randomInt(least, most + 1),
): RequestedPayment {
  const till = tills[int(0, tills.length - 1)]
  if (!till) throw new Error('There are no wallets.')
  return { key: randomUUID(), till, amount: `0.00${int(1_000, 9_999)}` }
}
