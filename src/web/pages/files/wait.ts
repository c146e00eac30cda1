import type { PaymentStatusBody } from '#contract/payment-body.ts'
import type { OpenedFile } from '#contract/file-endpoints.ts'
import { isPaid } from '#contract/payment.ts'
import { ApiError } from '../../api/errors.ts'
import { shownStatus, type ShownStatus } from '../../ui/status-words.ts'

type Facts = Pick<PaymentStatusBody, 'status' | 'draft' | 'refund'>
type Read = { data: Facts | undefined; error: unknown; dataUpdatedAt: number }
type ReadFile = { data: Pick<OpenedFile, 'paid'> | undefined; dataUpdatedAt: number }

/** The proxy reads the same ledger as the page: it has been asked several times by then. */
const SETTLES_WITHIN_MS = 6_000

/**
 * What a buyer waits for who comes back from a payment. `unseen`: this session may not read the payment, so
 * it gets no file by waiting. `over`: the payment buys nothing. `unrelated`: it is paid, and the file is still not bought.
 */
export type Wait =
  | { kind: 'waiting'; paid: boolean }
  | { kind: 'unseen' }
  | { kind: 'over'; status: ShownStatus }
  | { kind: 'unrelated' }

export function waitOf({ data, error, dataUpdatedAt }: Read, file?: ReadFile): Wait {
  if (error instanceof ApiError && UNSEEN.has(error.code)) return { kind: 'unseen' }
  if (!data) return { kind: 'waiting', paid: false }
  const status = shownStatus(data)
  if (OVER.has(status)) return { kind: 'over', status }
  const paid = isPaid(data.status)
  return paid &&
    file?.data?.paid === false &&
    file.dataUpdatedAt - dataUpdatedAt >= SETTLES_WITHIN_MS
    ? { kind: 'unrelated' }
    : { kind: 'waiting', paid }
}

const UNSEEN = new Set(['NOT_FOUND', 'UNAUTHORIZED', 'INVALID_PARAMETERS'])
const OVER: ReadonlySet<ShownStatus> = new Set(['failed', 'expired', 'refunded'])
