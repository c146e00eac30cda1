import * as v from 'valibot'
import { EVENTS_PATH } from '#contract/desk-endpoints.ts'
import { PaymentEvent } from '#contract/event.ts'
import { parseJson } from '#contract/json.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { addArrival, clearArrivals } from './arrivals.ts'
import { proxyAddress } from './client.ts'
import { liveState, signal } from './events.ts'
import { newerPayment, updateRow } from './merge-payment.ts'
import { paymentQuery, type PaymentPage } from './queries.ts'
import { queryClient } from './query-client.ts'

const TICK_MS = 5_000
const MAX_BACKOFF_MS = 30_000
const SUMMARY_DELAY_MS = 1_500
const LIVE_READS = ['paymentList', 'paymentSummary', 'paymentStatus']

/**
 * Follows the proxy's stream. The browser reconnects by itself and resumes after the last event it saw; where it gives up
 * (a refusal is final for it), a new stream is opened and everything in view is read again, so that no gap stays open.
 */
export function startEvents(): () => void {
  let source: EventSource | undefined
  let retry: ReturnType<typeof setTimeout> | undefined
  let failures = 0
  let gap = false

  function open() {
    source = new EventSource(proxyAddress(EVENTS_PATH), { withCredentials: true })
    source.addEventListener('open', () => {
      failures = 0
      if (gap) refresh()
      gap = false
      signal('open')
    })
    source.addEventListener('payment', (event: MessageEvent<string>) => receive(event.data))
    // More was missed than the proxy can repeat: nothing that was read before still counts.
    source.addEventListener('reset', () => void queryClient.invalidateQueries())
    source.addEventListener('error', () => {
      gap = true
      signal('lost')
      if (source?.readyState !== EventSource.CLOSED) return
      retry = setTimeout(open, Math.min(MAX_BACKOFF_MS, 1000 * 2 ** failures++) * (0.75 + Math.random() / 2))
    })
  }

  // Without a stream the pages still move on, only slower.
  const tick = setInterval(() => {
    signal('tick')
    if (liveState().kind === 'stale' && navigator.onLine) refresh()
  }, TICK_MS)

  signal('start')
  open()
  return () => {
    clearTimeout(retry)
    clearInterval(tick)
    source?.close()
    clearArrivals()
    signal('stop')
  }
}

function receive(data: string): void {
  const result = v.safeParse(PaymentEvent, readJson(data))
  if (result.success) applyPayment(result.output)
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
  queryClient.setQueryData(paymentQuery(payment.paymentId).queryKey, (known) => newerPayment(known, payment))
  queryClient.setQueriesData({ queryKey: ['paymentList'] }, (page: PaymentPage | undefined) => updateRow(page, payment))
  addArrival(payment)
  refreshSummary()
}

let summaryTimer: ReturnType<typeof setTimeout> | undefined

/** Many events, one reading: the figures are counted by the service, and counting is not free. */
function refreshSummary(): void {
  summaryTimer ??= setTimeout(() => {
    summaryTimer = undefined
    void queryClient.invalidateQueries({ queryKey: ['paymentSummary'] })
  }, SUMMARY_DELAY_MS)
}

function refresh(): void {
  for (const name of LIVE_READS) void queryClient.invalidateQueries({ queryKey: [name] })
}
