import { t } from '@lingui/core/macro'
import { callProxy } from '../../../api/client.ts'
import { ApiError } from '../../../api/errors.ts'
import { describeError } from '../../../errors/codes.ts'
import { MAX_RELAYED_BYTES } from '#contract/relay.ts'
import { decodeBase64 } from '#x402/header.ts'
import type { ResourceRequest } from './request.ts'

/** A server's response, as data: nothing of it is ever executed. */
export type ResourceResponse = {
  status: number
  headers: readonly (readonly [name: string, value: string])[]
  /** Empty where there is a `file`. */
  body: Uint8Array
  /** Where it came from, if that is not the address that was asked. */
  url?: string
  /** What was paid for, where it is too large to be shown: it can only be saved. */
  file?: Blob
  ms: number
}

/**
 * Why there is no response: `cors`, the server is reachable and does not let pages read it;
 * `policy`, this page's own CSP; `silent`, nothing answered, or nothing this page may know of;
 * `redirected`, the server names another address, and what was sent stays with this one; `broken_off`, its body did not come to its end; `stopped`, by the reader; `relay`, the proxy could
 * not or would not ask.
 */
export type Unanswered = {
  cause:
    | 'cors'
    | 'policy'
    | 'silent'
    | 'redirected'
    | 'broken_off'
    | 'stopped'
    | 'too_large'
    | 'relay'
  detail?: string
  /** The proxy wants to know who asks. */ signIn?: boolean
}

export type ResourceResult =
  | { kind: 'answered'; answer: ResourceResponse }
  | ({ kind: 'unanswered' } & Unanswered)

/** A redirection is none: what was asked for is not in it. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

/** The header that carries the payment, if any. */
export type PaymentHeader = { name: 'PAYMENT-SIGNATURE' | 'X-PAYMENT'; value: string }

/** For the whole answer; for its headers and then between two parts of it, where it was paid for. */
const WITHIN_MS = 65_000
const PROBE_WITHIN_MS = 5_000

/**
 * Sends one request. Every outcome is a return value; a payment sent with it may have been used
 * even if the request failed.
 */
export async function sendRequest(
  request: ResourceRequest,
  { payment, stop }: { payment?: PaymentHeader; stop?: AbortSignal } = {},
): Promise<ResourceResult> {
  const started = performance.now()
  const sent = payment
    ? { ...request, headers: [...request.headers, [payment.name, payment.value] as const] }
    : request
  const result =
    request.via === 'relay'
      ? await requestByProxy(sent, stop)
      : await requestDirectly(sent, { paid: payment !== undefined, stop })
  return result.kind === 'answered'
    ? {
        kind: 'answered',
        answer: { ...result.answer, ms: Math.round(performance.now() - started) },
      }
    : result
}

async function requestByProxy(
  { method, url, headers, body }: ResourceRequest,
  stop: AbortSignal | undefined,
): Promise<ResourceResult> {
  try {
    const pairs = headers.map(([name, value]): [string, string] => [name, value])
    const reply = await callProxy(
      'relay',
      { body: { method, url, headers: pairs, ...(body !== null && { body }) } },
      { timeoutMs: WITHIN_MS, ...(stop && { signal: stop }) },
    )
    if (!reply.answered) return { kind: 'unanswered', cause: 'relay' }
    const bytes = reply.body === '' ? new Uint8Array() : decodeBase64(reply.body)
    if (!bytes)
      return {
        kind: 'unanswered',
        cause: 'relay',
        detail: t`Unreadable relay answer.`,
      }
    return {
      kind: 'answered',
      answer: { status: reply.status, headers: reply.headers, body: bytes, ms: 0 },
    }
  } catch (error) {
    if (stop?.aborted) return { kind: 'unanswered', cause: 'stopped' }
    if (!(error instanceof ApiError)) throw error
    const { body: words } = describeError(error)
    const fields = Object.values(error.details).filter((text) => typeof text === 'string')
    const detail =
      error.code === 'INVALID_PARAMETERS' && fields.length > 0 ? fields.join(' ') : words
    return { kind: 'unanswered', cause: 'relay', detail, signIn: error.code === 'UNAUTHORIZED' }
  }
}

async function requestDirectly(
  { method, url, headers, body }: ResourceRequest,
  { paid, stop }: { paid: boolean; stop: AbortSignal | undefined },
): Promise<ResourceResult> {
  const refusal = watchPolicy(url)
  const limit = limitTime(WITHIN_MS)
  let status: number | undefined
  const isPlain = method === 'GET' && headers.length === 0
  try {
    const response = await fetch(url, {
      method,
      headers: headers.map(([name, value]): [string, string] => [name, value]),
      body,
      // No cookies, no cache, no referrer.
      credentials: 'omit',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
      // Browsers keep all headers but `Authorization` when they follow to another server: a payment,
      // a key or a body goes to the address that its reader sees, and to no other.
      redirect: isPlain ? 'follow' : 'manual',
      signal: stop ? AbortSignal.any([limit.signal, stop]) : limit.signal,
    })
    if (response.type === 'opaqueredirect') return { kind: 'unanswered', cause: 'redirected' }
    ;({ status } = response)
    const whole = paid && response.ok
    if (whole) limit.renew()
    const blob = await readBody(
      response,
      whole ? { onPart: limit.renew } : { max: MAX_RELAYED_BYTES },
    )
    if (!blob) return { kind: 'unanswered', cause: 'too_large' }
    const large = blob.size > MAX_RELAYED_BYTES
    const bytes = large ? new Uint8Array() : new Uint8Array(await blob.arrayBuffer())
    return {
      kind: 'answered',
      answer: {
        status,
        headers: [...response.headers],
        body: bytes,
        ...(large && { file: blob }),
        ...(response.redirected && { url: response.url }),
        ms: 0,
      },
    }
  } catch {
    if (stop?.aborted) return { kind: 'unanswered', cause: 'stopped' }
    if (status !== undefined)
      return {
        kind: 'unanswered',
        cause: 'broken_off',
        detail: t`The server answered ${status}.`,
      }
    if (limit.signal.aborted) return { kind: 'unanswered', cause: 'silent' }
    if (refusal.refused()) return { kind: 'unanswered', cause: 'policy' }
    return { kind: 'unanswered', cause: (await isThere(url)) ? 'cors' : 'silent' }
  } finally {
    limit.stop()
    refusal.stop()
  }
}

/** Aborts `signal` when the time is over and was not renewed. */
function limitTime(ms: number): { signal: AbortSignal; renew: () => void; stop: () => void } {
  const over = new AbortController()
  const start = () => setTimeout(() => over.abort(), ms)
  let timer = start()
  const stop = () => clearTimeout(timer)
  const renew = () => {
    stop()
    timer = start()
  }
  return { signal: over.signal, renew, stop }
}

/** A body, of any size where no `max` is named; undefined if there is more. */
async function readBody(
  { body }: Response,
  { max = Infinity, onPart }: { max?: number; onPart?: () => void },
): Promise<Blob | undefined> {
  let size = 0
  const counted = body?.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(part, controller) {
        onPart?.()
        size += part.length
        if (size > max) controller.error(new RangeError('The body is too large.'))
        else controller.enqueue(part)
      },
    }),
  )
  try {
    // The browser keeps a large blob on its disk.
    return await new Response(counted).blob()
  } catch (error) {
    if (size > max) return undefined
    throw error
  }
}

/**
 * Whether a server responds at all, without reading the response and without the payment: that
 * tells CORS from silence.
 */
async function isThere(url: string): Promise<boolean> {
  try {
    await fetch(url, {
      mode: 'no-cors',
      credentials: 'omit',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(PROBE_WITHIN_MS),
    })
    return true
  } catch {
    return false
  }
}

/** Detects whether this page's own CSP blocked a request. */
function watchPolicy(url: string): { refused: () => boolean; stop: () => void } {
  const { origin } = new URL(url)
  let refused = false
  const hear = (event: SecurityPolicyViolationEvent) => {
    if (event.effectiveDirective === 'connect-src' && event.blockedURI.startsWith(origin))
      refused = true
  }
  document.addEventListener('securitypolicyviolation', hear)
  return {
    refused: () => refused,
    stop: () => document.removeEventListener('securitypolicyviolation', hear),
  }
}
