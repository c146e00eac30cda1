import { pino, type DestinationStream, type Logger } from 'pino'
import { describeForLog } from '#contract/redact.ts'

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
    serializers: { err: describeForLog },
    hooks: {
      streamWrite: (line: string) =>
        SECRETS.reduce((text, [pattern, mask]) => text.replace(pattern, mask), line),
    },
  }
  return destination ? pino(options, destination) : pino(options)
}
