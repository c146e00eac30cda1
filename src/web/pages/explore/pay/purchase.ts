import type { ResourceInfo } from '#x402/requirements.ts'
import type { PaymentHeader } from '../request/send-request.ts'
import type { Version } from '../request/challenge.ts'
import type { ResourceRequest } from '../request/request.ts'
import type { Way } from '../request/usable.ts'

/** What a server said to a request that carried the payment. */
export type Delivery = {
  /** Unix milliseconds. */
  at: number
  /** Null: no answer that could be read. */
  status: number | null
  outcome: 'served' | 'pending' | 'refused' | 'failed' | 'unanswered'
  /** What `PAYMENT-RESPONSE` says, in x402's word. */
  reason: string | null
}

/**
 * One paid request, from the choice of an offer to the answer. The payment itself is the machine's, in its own journal under the same id;
 * this remembers what was asked, by which terms, and the one header that pays it: made once, sent as often as it takes.
 */
export type Purchase = {
  id: string
  revision: number
  /** Unix milliseconds. */
  createdAt: number
  updatedAt: number
  request: ResourceRequest
  version: Version
  /** The entry of `accepts` as it came, in JSON: numbers keep their digits. */
  entry: string
  resource: ResourceInfo
  way: Way
  header: PaymentHeader | null
  deliveries: readonly Delivery[]
}

/** The server has given what was paid for. */
export function isServed(visit: Purchase): boolean {
  return visit.deliveries.some(({ outcome }) => outcome === 'served')
}
