import { DrizzleQueryError } from 'drizzle-orm/errors'
import { pino, type DestinationStream, type Logger } from 'pino'

const SECRET_FIELDS = [
  'authorization',
  'apiKey',
  'key',
  'paymentProof',
  'privateKey',
  'secretKey',
  'cookie',
  'password',
]

/** Secrets in any field: API keys, bearer tokens, passwords in URLs. */
const SECRETS: readonly [RegExp, string][] = [
  [/pk_(live|test)_[0-9A-Za-z]{8,}/g, 'pk_$1_***'],
  [/Bearer +[^\s"\\]+/gi, 'Bearer ***'],
  [/(\w+:\/\/[^\s/:@"]+):[^\s/@"]+@/g, '$1:***@'],
]

/**
 * JSON lines on stdout. Named fields are redacted; the finished line is searched for secrets again.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: undefined,
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '***' },
    serializers: { err: describeError },
    hooks: {
      streamWrite: (line: string) =>
        SECRETS.reduce((text, [pattern, mask]) => text.replace(pattern, mask), line),
    },
  }
  return destination ? pino(options, destination) : pino(options)
}

type ErrorFacts = {
  type: string
  message: string
  code?: unknown
  stack?: string
  cause?: ErrorFacts
}

/** An error without the values of the query that failed: they are a caller's data. */
function describeError(error: unknown, depth = 0): ErrorFacts {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  const message =
    error instanceof DrizzleQueryError ? `Failed query: ${error.query}` : error.message
  return {
    type: error.name,
    message,
    ...('code' in error && { code: error.code }),
    stack: error.stack?.replace(error.message, message),
    ...(error.cause !== undefined && depth < 4 && { cause: describeError(error.cause, depth + 1) }),
  }
}
