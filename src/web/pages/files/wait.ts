import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { isPaid } from '#contract/payment.ts'
import { ApiError } from '../../api/errors.ts'
import { shownStatus, type ShownStatus } from '../../ui/status-words.ts'

type Facts = Pick<PaymentStatusBody, 'status' | 'draft' | 'refund'>
type Read = { data: Facts | undefined; error: unknown }

/**
 * What a buyer waits for who comes back from a payment. `unseen`: this session may not read the payment, so
 * it gets no file by waiting. `over`: the payment buys nothing.
 */
export type Wait =
  | { kind: 'waiting'; paid: boolean }
  | { kind: 'unseen' }
  | { kind: 'over'; status: ShownStatus }

export function waitOf({ data, error }: Read): Wait {
  if (error instanceof ApiError && UNSEEN.has(error.code)) return { kind: 'unseen' }
  if (!data) return { kind: 'waiting', paid: false }
  const status = shownStatus(data)
  return OVER.has(status)
    ? { kind: 'over', status }
    : { kind: 'waiting', paid: isPaid(data.status) }
}

const UNSEEN = new Set(['NOT_FOUND', 'UNAUTHORIZED', 'INVALID_PARAMETERS'])
const OVER: ReadonlySet<ShownStatus> = new Set(['failed', 'expired', 'refunded'])
