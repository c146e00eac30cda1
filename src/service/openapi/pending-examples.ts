import type { EndpointName, EndpointReply, Endpoints } from '#contract/endpoints.ts'
import { examples } from './examples.ts'

type MayBePending = {
  [K in EndpointName]: Endpoints[K] extends { pending: string } ? K : never
}[EndpointName]

const { reply: sent } = examples.paymentSend
const { reply: refunded } = examples.paymentRefund
const { reply: received } = examples.paymentReceive

/** What the endpoints that may answer with 202 say while nothing is certain yet. */
export const pendingExamples: { [K in MayBePending]: EndpointReply<K> } = {
  paymentSend: {
    ...sent,
    status: 'pending',
    blockHeight: null,
    confirmations: 0,
    fee: null,
    events: sent.events.slice(0, 2),
  },
  paymentRefund: {
    ...refunded,
    status: 'pending',
    blockHeight: null,
    confirmations: 0,
    fee: null,
    events: refunded.events.slice(0, 2),
  },
  paymentReceive: {
    ...received,
    status: 'pending',
    verified: false,
    paymentId: null,
    blockHeight: null,
  },
}

export function pendingExampleOf(name: EndpointName): object | undefined {
  return name in pendingExamples ? pendingExamples[name as MayBePending] : undefined
}
