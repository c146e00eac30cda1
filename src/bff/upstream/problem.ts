import * as v from 'valibot'
import { parseJson } from '#contract/json.ts'
import type { ProblemCode } from '#contract/problem-codes.ts'
import { ProblemError, problems, type ProblemFacts } from '#contract/problem.ts'

/** A problem the service reported, with the headers that go on to the browser. */
export class ForwardedError extends ProblemError {
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ProblemCode, facts: ProblemFacts, headers: Readonly<Record<string, string>>) {
    super(code, facts)
    this.headers = headers
  }
}

const CODES = Object.keys(problems) as [ProblemCode, ...ProblemCode[]]

const Envelope = v.object({
  success: v.literal(false),
  error: v.object({
    code: v.picklist(CODES),
    message: v.pipe(v.string(), v.maxLength(2000)),
    details: v.optional(v.record(v.string(), v.unknown())),
    retryAfter: v.optional(v.number()),
  }),
})

export type OperatorReason =
  | 'key_refused'
  | 'scope_missing'
  | 'unreachable'
  | 'timeout'
  | 'nonsense'

/**
 * What the operator has to do. None of this text comes from the service, so it cannot contain the
 * key.
 */
const OPERATOR_WORDS: Readonly<Record<OperatorReason, string>> = {
  key_refused:
    'The payment service does not accept the API key of this proxy. Set SERVICE_API_KEY (or the file in SERVICE_API_KEY_FILE) to a valid key, and restart the proxy.',
  scope_missing:
    'The API key of this proxy lacks a scope. It needs payment:read, transaction:build and token:read; the keys page also needs keys:manage.',
  unreachable: 'The payment service cannot be reached. Check that it runs, and SERVICE_URL.',
  timeout: 'The payment service did not answer in time.',
  nonsense:
    'The payment service gave an answer that is not of its interface. Check SERVICE_URL and that both programs are of one version.',
}

/** How many seconds until a retry can help. */
const RETRY_AFTER: Readonly<Record<OperatorReason, number>> = {
  key_refused: 30,
  scope_missing: 30,
  unreachable: 2,
  timeout: 2,
  nonsense: 10,
}

export class OperatorError extends ProblemError {
  readonly reason: OperatorReason

  constructor(reason: OperatorReason, options?: ErrorOptions) {
    super(
      'SERVICE_UNAVAILABLE',
      {
        reason,
        details: { operator: OPERATOR_WORDS[reason] },
        retryAfter: RETRY_AFTER[reason],
      },
      options,
    )
    this.reason = reason
  }
}

/**
 * What an error answer means to a browser. 401 and 403 are about this program's key: the visitor
 * did nothing wrong.
 */
export function problemOf(answer: {
  status: number
  text: string
  headers: Record<string, string>
}): ProblemError {
  if (answer.status === 401) return new OperatorError('key_refused')
  const envelope = v.safeParse(Envelope, tryJson(answer.text))
  // A key that may manage keys still cannot grant what it lacks. The operator reads that refusal in
  // the service's words.
  const granting =
    envelope.success &&
    envelope.output.error.code === 'FORBIDDEN' &&
    isRefusedGrant(envelope.output.error.details)
  if (answer.status === 403 && !granting) return new OperatorError('scope_missing')
  if (!envelope.success) return new OperatorError('nonsense')
  const { code, message, details, retryAfter } = envelope.output.error
  if (problems[code].status !== answer.status) return new OperatorError('nonsense')
  return new ForwardedError(code, { message, details, retryAfter }, answer.headers)
}

/**
 * For an endpoint, the service names the one `scope` a key lacks; otherwise it names what it would
 * not grant.
 */
function isRefusedGrant(details: Record<string, unknown> | undefined): boolean {
  return (
    details !== undefined &&
    details.scope === undefined &&
    (details.scopes !== undefined || details.plan !== undefined || details.id !== undefined)
  )
}

function tryJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
