import * as v from 'valibot'
import { decodeHeader } from '#x402/header.ts'
import { sendRequest, type ResourceResponse, type ResourceResult } from '../request/send-request.ts'
import { headerOf } from '../request/challenge.ts'
import type { Delivery, Purchase } from './purchase.ts'

/** What comes of a request that carries the payment. */
export type Delivered = {
  asked: ResourceResult
  delivery: Delivery
  settlement: SettlementResponse | null
}

/** The server's `PAYMENT-RESPONSE`: a claim, to be looked up on the chain. */
export const SettlementResponse = v.object({
  success: v.boolean(),
  errorReason: v.optional(v.pipe(v.string(), v.maxLength(256))),
  transaction: v.optional(v.pipe(v.string(), v.maxLength(128)), ''),
  network: v.optional(v.pipe(v.string(), v.maxLength(64)), ''),
})
export type SettlementResponse = v.InferOutput<typeof SettlementResponse>

/** Sends the request with its one payment: the first time and every time after. */
export async function deliver(visit: Purchase, now: number): Promise<Delivered> {
  if (!visit.header) throw new TypeError('Nothing was paid for this visit yet.')
  const asked = await sendRequest(visit.request, visit.header)
  const settlement = asked.kind === 'answered' ? readSettlement(asked.answer) : null
  return { asked, settlement, delivery: { at: now, ...judge(asked, settlement) } }
}

function judge(asked: ResourceResult, settlement: SettlementResponse | null): Omit<Delivery, 'at'> {
  if (asked.kind === 'unanswered') return { status: null, outcome: 'unanswered', reason: null }
  const { status } = asked.answer
  const reason = settlement?.errorReason ?? null
  if (status === 402) return { status, outcome: 'refused', reason }
  if (status === 202 && settlement?.success === false) return { status, outcome: 'pending', reason }
  return { status, outcome: status >= 200 && status < 400 ? 'served' : 'failed', reason }
}

export function readSettlement(
  answer: Pick<ResourceResponse, 'headers'>,
): SettlementResponse | null {
  const text = headerOf(answer, 'payment-response') ?? headerOf(answer, 'x-payment-response')
  const decoded = text === undefined ? undefined : decodeHeader(text)
  const read = decoded?.ok ? v.safeParse(SettlementResponse, decoded.value) : undefined
  return read?.success ? read.output : null
}

/** Seconds until the server would like to be asked again. */
export function retryAfter(answer: Pick<ResourceResponse, 'headers'>): number {
  const text = headerOf(answer, 'retry-after') ?? ''
  return /^[0-9]{1,3}$/.test(text) ? Math.max(1, Number(text)) : 2
}
