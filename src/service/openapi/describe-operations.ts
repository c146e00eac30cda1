import type { FieldSchema } from './field-schemas.ts'

/** What the operator's tools ask: no key, no limit, and no row of the endpoint table. */

export function describeOperations(): Record<string, Record<string, FieldSchema>> {
  const status = (value: string) =>
    ({ type: 'object', required: ['status'], properties: { status: { const: value } } }) as const
  return {
    '/health/live': {
      get: operation('live', 'Whether the process answers', {
        200: json('It does.', { schema: status('ok'), example: { status: 'ok' } }),
      }),
    },
    '/health/ready': {
      get: operation('ready', 'Whether the service can do its work', {
        200: json('It can.', { schema: status('ok'), example: { status: 'ok' } }),
        503: json('It cannot.', {
          schema: status('unavailable'),
          example: { status: 'unavailable' },
        }),
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
