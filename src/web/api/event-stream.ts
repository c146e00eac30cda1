import * as v from 'valibot'
import { EVENTS_PATH } from '#contract/dashboard-endpoints.ts'
import { PaymentEvent, RefundRequestNews } from '#contract/event.ts'
import { parseJson } from '#contract/json.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { addNewPayment, clearNewPayments } from './new-payments.ts'
import { proxyAddress } from './client.ts'
import { liveState, signal } from './events.ts'
import { newerPayment, updateRow } from './merge-payment.ts'
import { OneStream } from './one-stream.ts'
import { paymentQuery, sessionQuery, type PaymentPage } from './queries.ts'
import { queryClient } from './query-client.ts'

const TICK_MS = 5_000
const SUMMARY_DELAY_MS = 1_500
const LIVE_READS = [
  'paymentList',
  'paymentSummary',
  'paymentStatus',
  'customerList',
  'refundRequests',
]

/** Follows the proxy's stream, which the tabs of one reader share. `who`: that reader. */
export function startEvents(who: string): () => void {
  const visible = () => document.visibilityState === 'visible'
  signal('start')
  const stream = new OneStream({
    name: `paydesk-events:${who}`,
    open: (after) =>
      new EventSource(`${proxyAddress(EVENTS_PATH)}${after ? `?lastEventId=${after}` : ''}`, {
        withCredentials: true,
      }),
    locks: isSecureContext ? navigator.locks : undefined,
    visible,
    listener: {
      live: () => {
        signal('open')
        refresh()
      },
      lost: () => signal('lost'),
      payment: receive,
      // Nothing that was read before still counts.
      reset: () => void queryClient.invalidateQueries(),
      refused: () => void queryClient.invalidateQueries(sessionQuery),
    },
  })

  const tick = setInterval(() => {
    signal('tick')
    stream.tick(Date.now())
    // Without a stream the pages still move on, only slower.
    if (liveState().kind === 'stale' && navigator.onLine && visible()) refresh()
  }, TICK_MS)

  return () => {
    clearInterval(tick)
    stream.close()
    clearNewPayments()
    signal('stop')
  }
}

function receive(data: string): void {
  const read = readJson(data)
  const result = v.safeParse(PaymentEvent, read)
  if (result.success) applyPayment(result.output)
  else if (v.is(RefundRequestNews, read)) refreshRefundRequests()
  // An event this build cannot read still says that something changed.
  else refresh()
}

function readJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** Brings one payment's news to every reading that holds it. */
function applyPayment(payment: PaymentStatusBody): void {
  queryClient.setQueryData(paymentQuery(payment.paymentId).queryKey, (known) =>
    newerPayment(known, payment),
  )
  queryClient.setQueriesData({ queryKey: ['paymentList'] }, (page: PaymentPage | undefined) =>
    updateRow(page, payment),
  )
  // What a visitor only had prepared is no payment that came in.
  if (!payment.draft) addNewPayment(payment)
  if (payment.refundOf !== null) {
    void refreshRefunded(payment.refundOf)
    refreshRefundRequests()
  }
  refreshSummary()
}

/** An event about a refund is news of the payment that it returns. */
async function refreshRefunded(paymentId: string): Promise<void> {
  try {
    const refunded = await queryClient.fetchQuery({ ...paymentQuery(paymentId), staleTime: 0 })
    queryClient.setQueriesData({ queryKey: ['paymentList'] }, (page: PaymentPage | undefined) =>
      updateRow(page, refunded),
    )
  } catch {
    // A reader of the refund alone may not read the payment; a list is right when it is read again.
  }
}

/** A refund may have closed a request too: only the service knows which. */
function refreshRefundRequests(): void {
  void queryClient.invalidateQueries({ queryKey: ['refundRequests'] })
}

let summaryTimer: ReturnType<typeof setTimeout> | undefined

/** Many events, one reading: the figures are counted by the service, and counting is not free. */
function refreshSummary(): void {
  summaryTimer ??= setTimeout(() => {
    summaryTimer = undefined
    void queryClient.invalidateQueries({ queryKey: ['paymentSummary'] })
    void queryClient.invalidateQueries({ queryKey: ['customerList'] })
  }, SUMMARY_DELAY_MS)
}

function refresh(): void {
  for (const name of LIVE_READS) void queryClient.invalidateQueries({ queryKey: [name] })
}
