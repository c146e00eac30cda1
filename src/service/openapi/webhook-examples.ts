import type { EndpointReply, EndpointRequest } from '#contract/endpoints.ts'

type Webhooks =
  | 'eventList'
  | 'webhookList'
  | 'webhookCreate'
  | 'webhookUpdate'
  | 'webhookDelete'
  | 'webhookRotate'
  | 'webhookTest'
  | 'webhookDeliveries'
  | 'webhookRedeliver'
type Examples = { [K in Webhooks]: { request: EndpointRequest<K>; reply: EndpointReply<K> } }

/** Deliveries of the events of a payment to a merchant's server. */
export function webhookExamples(status: EndpointReply<'paymentStatus'>): Examples {
  const { timestamp, paymentId } = status
  const params = { id: 'whk_6TnQeRbVcXzLkJhGfDsApW' }
  const secret = 'whsec_4mFkq0V5cH1n9sT7uXwZ3yB6eD8gJ2lPoRiQaKxNvYE='
  const webhook = {
    ...params,
    url: 'https://shop.example/webhooks',
    events: ['payment.finalized' as const],
    enabled: true,
    createdAt: timestamp,
    secrets: [{ expiresAt: null }],
    pending: 0,
    dead: 0,
  }
  const delivery = {
    id: 'evt_4711',
    cursor: '4711',
    type: 'payment.finalized' as const,
    paymentId,
    state: 'delivered' as const,
    attempts: 1,
    createdAt: timestamp + 30_000,
    lastAttemptAt: timestamp + 30_100,
    nextAttemptAt: null,
    failure: null,
    request: '{"type":"payment.finalized","cursor":"4711","previous":"4702"}',
    response: { status: 200, body: 'ok', durationMs: 84 },
  }
  const waiting = {
    ...delivery,
    id: 'test_9XcVbNmLkJhGfDsAqWeRtY',
    cursor: null,
    type: 'test' as const,
    paymentId: null,
    state: 'pending' as const,
    attempts: 0,
    lastAttemptAt: null,
    nextAttemptAt: timestamp,
    request: null,
    response: null,
  }
  return {
    eventList: {
      request: { query: { after: '4702' } },
      reply: { success: true, events: [{ type: 'payment', id: '4711', ...status }], next: '4711' },
    },
    webhookList: { request: {}, reply: { success: true, webhooks: [webhook] } },
    webhookCreate: {
      request: { body: { url: webhook.url, events: webhook.events } },
      reply: { success: true, secret, ...webhook },
    },
    webhookUpdate: {
      request: { params, body: { enabled: false } },
      reply: { success: true, ...webhook, enabled: false },
    },
    webhookDelete: { request: { params }, reply: { success: true, ...params } },
    webhookRotate: {
      request: { params, body: { graceSeconds: 3600 } },
      reply: {
        success: true,
        secret,
        ...webhook,
        secrets: [{ expiresAt: null }, { expiresAt: timestamp + 3_600_000 }],
      },
    },
    webhookTest: { request: { params }, reply: { success: true, delivery: waiting } },
    webhookDeliveries: {
      request: { params, query: { state: 'delivered' } },
      reply: { success: true, deliveries: [delivery], total: null },
    },
    webhookRedeliver: {
      request: { params, body: { from: '4702', to: '4711' } },
      reply: { success: true, deliveries: 2 },
    },
  }
}
