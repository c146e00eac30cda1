import * as v from 'valibot'
import { RETRYABLE, type ProblemCode } from '#contract/problem-codes.ts'
import { parseJson } from '#contract/json.ts'

/** The service's codes, and three for what never reached it or came back unreadable. */
export type ApiErrorCode = ProblemCode | 'OFFLINE' | 'TIMEOUT' | 'BAD_RESPONSE'

export type ApiErrorFacts = {
  code: ApiErrorCode
  /** 0 when nothing came back. */
  status?: number
  message?: string
  details?: Record<string, unknown>
  /** Seconds. */
  retryAfter?: number
  requestId?: string
  cause?: unknown
}

/** Every way in which a call can end without its response. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: ApiErrorCode
  readonly status: number
  readonly details: Readonly<Record<string, unknown>>
  readonly retryAfter: number | undefined
  readonly requestId: string | undefined

  constructor({
    code,
    status = 0,
    message,
    details = {},
    retryAfter,
    requestId,
    cause,
  }: ApiErrorFacts) {
    super(message ?? code, { cause })
    this.code = code
    this.status = status
    this.details = details
    this.retryAfter = retryAfter
    this.requestId = requestId
  }

  /** Whether the same request can succeed later without anybody changing anything. */
  get retryable(): boolean {
    return isProblemCode(this.code) ? RETRYABLE[this.code] : this.code !== 'BAD_RESPONSE'
  }
}

const Envelope = v.object({
  error: v.object({
    code: v.string(),
    message: v.string(),
    details: v.optional(v.record(v.string(), v.unknown())),
    retryAfter: v.optional(v.number()),
    requestId: v.optional(v.string()),
  }),
})

/** Reads a refusal. Anything but our envelope (a gateway's page, an empty body) still becomes an error with its status. */
export function readProblem(
  response: Pick<Response, 'status' | 'headers'>,
  text: string,
): ApiError {
  const { status, headers } = response
  const retryAfter = readSeconds(headers.get('Retry-After'))
  const requestId = headers.get('X-Request-Id') ?? undefined
  const envelope = readEnvelope(text)
  if (!envelope)
    return new ApiError({
      code: status === 429 ? 'RATE_LIMIT' : status >= 500 ? 'INTERNAL' : 'BAD_RESPONSE',
      status,
      retryAfter,
      requestId,
    })
  const { code, message, details } = envelope.error
  return new ApiError({
    code: isProblemCode(code) ? code : status >= 500 ? 'INTERNAL' : 'BAD_RESPONSE',
    status,
    message,
    details,
    retryAfter: envelope.error.retryAfter ?? retryAfter,
    requestId: envelope.error.requestId ?? requestId,
  })
}

function readEnvelope(text: string): v.InferOutput<typeof Envelope> | undefined {
  try {
    const result = v.safeParse(Envelope, parseJson(text))
    return result.success ? result.output : undefined
  } catch {
    return undefined
  }
}

function readSeconds(text: string | null): number | undefined {
  return text && /^[0-9]{1,6}$/.test(text) ? Number(text) : undefined
}

function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(RETRYABLE, code)
}
