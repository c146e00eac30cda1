import type { FieldSchema } from './field-schemas.ts'

/** What the operator's tools ask: no key, no limit, and no row of the endpoint table. */

const CHECKS = [
  { name: 'database', ok: true },
  { name: 'clock', ok: true },
  { name: 'signer', ok: true },
  { name: 'eip155:8453', ok: true },
]

const NOTE = {
  const: 'chain behind',
  description:
    'The newest block is older than 15 s and than three blocks: the chain answers, and decides nothing.',
}

const READINESS = {
  type: 'object',
  required: ['status', 'checks', 'stoppedWallets'],
  properties: {
    status: { enum: ['ok', 'unavailable'] },
    checks: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'ok'],
        properties: { name: { type: 'string' }, ok: { type: 'boolean' }, note: NOTE },
      },
    },
    stoppedWallets: {
      type: ['integer', 'null'],
      description: 'Managed wallets that an operator must look at; null when that is not known.',
    },
  },
}

export function describeOperations(): Record<string, Record<string, FieldSchema>> {
  const live = { type: 'object', required: ['status'], properties: { status: { const: 'ok' } } }
  const away = CHECKS.map((check) => ({ ...check, ok: !check.name.startsWith('eip155') }))
  return {
    '/health/live': {
      get: operation('live', 'Whether the process answers', {
        200: json('It does.', { schema: live, example: { status: 'ok' } }),
      }),
    },
    '/health/ready': {
      get: operation(
        'ready',
        'Whether the database and every chain answer, and agree about the time',
        {
          200: json('They all do.', {
            schema: READINESS,
            example: { status: 'ok', checks: CHECKS, stoppedWallets: 0 },
          }),
          503: json('One of them does not.', {
            schema: READINESS,
            example: { status: 'unavailable', checks: away, stoppedWallets: 0 },
          }),
        },
      ),
    },
    '/metrics': {
      get: operation('metrics', 'Figures for Prometheus', {
        200: {
          description: 'The text format of Prometheus.',
          content: {
            'text/plain': { schema: { type: 'string' }, example: 'websocket_connections 3\n' },
          },
        },
      }),
    },
  }
}

function operation(operationId: string, summary: string, responses: FieldSchema): FieldSchema {
  return { operationId, summary, tags: ['operations'], security: [], parameters: [], responses }
}

function json(description: string, content: { schema: FieldSchema; example: object }): FieldSchema {
  return { description, content: { 'application/json': content } }
}
