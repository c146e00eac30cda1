import { pino, type DestinationStream, type Logger } from 'pino'
import type { BffConfig } from './config.ts'

/**
 * JSON lines. Nothing here logs headers, bodies or cookies; the redaction and the last look at the finished line are for the day someone does.
 */
export function createLog(
  config: Pick<BffConfig, 'logLevel' | 'serviceApiKey'>,
  destination?: DestinationStream,
): Logger {
  const options = {
    level: config.logLevel,
    base: null,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: [
        'authorization',
        'cookie',
        'apiKey',
        '*.authorization',
        '*.cookie',
        '*.apiKey',
        '*.headers',
        'serviceApiKey',
        '*.serviceApiKey',
      ],
      censor: '[redacted]',
    },
    hooks: { streamWrite: (line: string) => line.replaceAll(config.serviceApiKey, '[redacted]') },
  }
  return destination ? pino(options, destination) : pino(options)
}
