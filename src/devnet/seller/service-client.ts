import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { ReceiveBody } from '#contract/receive.ts'

/** What the seller asks of the payment service, as the body of `POST /payment/receive`. */
export type ReceiveRequest = {
  walletAddress: string
  paymentProof: string
  expectedAmount: string
  network: string
  asset: string
  resource?: string
  memo?: string
  notBefore?: number
  expiresAt?: number
}

export type ReceivedPayment = Pick<
  v.InferOutput<typeof ReceiveBody>,
  'paymentId' | 'signature' | 'network' | 'sender' | 'alreadyProcessed'
>
export type ReceiveVerdict =
  | { state: 'paid'; payment: ReceivedPayment }
  | { state: 'pending'; payment: ReceivedPayment }
  /** Proven bad: this proof buys nothing. */
  | { state: 'refused'; reason: string; message: string }
  /** Nobody knows yet: the payer must neither be served nor be asked to pay again. */
  | { state: 'undecided'; message: string; retryAfter: number }

const Problem = v.object({
  error: v.object({
    code: v.string(),
    message: v.string(),
    retryAfter: v.optional(v.number()),
    details: v.optional(v.object({ reason: v.optional(v.object({ code: v.string() })) })),
  }),
})

/** How long the service may look for the payment, in seconds: a buyer is waiting. */
const TIMEOUT_S = 20
const RETRY_AFTER_S = 2

export type Service = { url: string; apiKey: string }

/**
 * Has the service check a payment and use it up. The same question gets the same answer, however
 * often the buyer repeats its request; with `once`, `alreadyProcessed` tells the later ones apart.
 * An answer that this shop did not get is then told again.
 */
export async function receivePayment(
  { url, apiKey }: Service,
  question: ReceiveRequest,
  { once }: { once: boolean },
): Promise<ReceiveVerdict> {
  // The amount goes as its digits: a number of JSON, read without a double.
  const { expectedAmount, ...rest } = question
  const body = `${JSON.stringify({ ...rest, timeout: TIMEOUT_S }).slice(0, -1)},"expectedAmount":${expectedAmount}}`
  try {
    const response = await fetch(`${url}/payment/receive`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${apiKey}`,
        ...(!once && { 'idempotency-key': createHash('sha256').update(body).digest('hex') }),
      },
      body,
      signal: AbortSignal.timeout((TIMEOUT_S + 10) * 1000),
    })
    const answer: unknown = await response.json()
    return response.ok
      ? readVerdict(v.parse(ReceiveBody, answer))
      : refuse(v.parse(Problem, answer))
  } catch {
    return undecided('The payment service did not answer.')
  }
}

function readVerdict(body: v.InferOutput<typeof ReceiveBody>): ReceiveVerdict {
  return { state: body.verified ? 'paid' : 'pending', payment: body }
}

/** Only a proof that is proven bad may lead to a new bill; every other problem is the shop's to solve. */
function refuse({ error }: v.InferOutput<typeof Problem>): ReceiveVerdict {
  if (error.code !== 'INVALID_PAYMENT_PROOF') return undecided(error.message, error.retryAfter)
  return {
    state: 'refused',
    reason: error.details?.reason?.code ?? 'malformed',
    message: error.message,
  }
}

function undecided(message: string, retryAfter = RETRY_AFTER_S): ReceiveVerdict {
  return { state: 'undecided', message, retryAfter }
}
