import * as v from 'valibot'
import { WebSocket } from 'ws'
import { EVENT_KEYS, PaymentEvent, RefundRequestNews, SocketMessage } from '#contract/event.ts'
import { parseJson, stringifyJson } from '#contract/json.ts'
import type { PaymentStatus } from '#contract/payment.ts'
import { project, projectForParties } from './upstream.ts'

/** Larger than any event: metadata is at most 4 KiB. */
const MAX_MESSAGE_BYTES = 256 * 1024
const HANDSHAKE_MS = 5000
const PING_EVERY_MS = 20_000

/** An event as a browser gets it, with the fields that decide who may see it. */
export type FeedEvent = {
  id: bigint
  paymentId: string
  sender: string
  recipient: string
  /** What a payment of a payment link has become; undefined for any other event. */
  linkStatus: PaymentStatus | undefined
  /** The payment that this one returns, where it does so now or does no longer; undefined for any other event. */
  refundOf: string | undefined
  json: string
  /** For sessions that are not of the account, where theirs is another one. */
  partiesJson?: string
}

export type FeedEnd = { reason: 'closed' | 'key_refused' | 'nonsense'; code?: number }

export type Feed = {
  url: string
  apiKey: string
  /** Events after this one are sent; without it, those from now on. */
  since?: bigint
  onSubscribed: (facts: { lastEventId: bigint; plan: string }) => void
  onEvent: (event: FeedEvent) => void
  /** Where it is set, the feed has the events of every kind, and this is called with the ids of those that no browser is told of. */
  onOther?: (id: bigint) => void
  /** Called once, for any kind of end. */
  onEnd: (end: FeedEnd) => void
}

/** One subscription to the service's events over a WebSocket. @returns a function that closes it */
export function openFeed(feed: Feed): () => void {
  const socket = new WebSocket(feed.url, {
    maxPayload: MAX_MESSAGE_BYTES,
    handshakeTimeout: HANDSHAKE_MS,
    perMessageDeflate: false,
    followRedirects: false,
  })
  let plan = ''
  let alive = true
  let end: FeedEnd | undefined
  const sendMessage = (message: unknown): void => socket.send(stringifyJson(message))
  const stop = (reason: FeedEnd): void => {
    end ??= reason
    socket.terminate()
  }
  const pinger = setInterval(() => {
    if (!alive) return stop({ reason: 'closed' })
    alive = false
    if (socket.readyState === WebSocket.OPEN) socket.ping()
  }, PING_EVERY_MS)

  socket.on('open', () => sendMessage({ method: 'authenticate', apiKey: feed.apiKey }))
  socket.on('pong', () => (alive = true))
  socket.on('unexpected-response', (request, response) => {
    request.destroy()
    stop({
      reason: response.statusCode === 401 || response.statusCode === 403 ? 'key_refused' : 'closed',
      code: response.statusCode,
    })
  })
  // `close` follows and reports the rest.
  socket.on('error', () => {})
  socket.on('close', (code) => {
    clearInterval(pinger)
    feed.onEnd(end ?? { reason: 'closed', code })
  })
  socket.on('message', (data, isBinary) => {
    alive = true
    const message = isBinary ? undefined : readMessage(String(data))
    if (!message) return stop({ reason: 'nonsense' })
    switch (message.parsed.type) {
      case 'authenticated':
        plan = message.parsed.plan
        return sendMessage({
          method: 'subscribe',
          keys: feed.onOther ? Object.keys(EVENT_KEYS) : ['payments', 'refundRequests'],
          ...(feed.since !== undefined && { since: String(feed.since) }),
        })
      case 'subscribed':
        return feed.onSubscribed({ lastEventId: BigInt(message.parsed.lastEventId), plan })
      case 'payment':
        return feed.onEvent(toPaymentEvent(message.parsed, project(PaymentEvent, message.raw)))
      case 'refund_request':
        return feed.onEvent(toFeedEvent(message.parsed, project(RefundRequestNews, message.raw)))
      case 'error':
        return stop({
          reason:
            message.parsed.code === 'UNAUTHORIZED' || message.parsed.code === 'FORBIDDEN'
              ? 'key_refused'
              : 'closed',
        })
      // The dashboard reads these from the payment itself.
      case 'verification':
      case 'settlement':
        return feed.onOther?.(BigInt(message.parsed.id))
      case 'unsubscribed':
        return undefined
    }
  })
  return () => stop({ reason: 'closed' })
}

function readMessage(text: string): { raw: unknown; parsed: SocketMessage } | undefined {
  try {
    const raw = parseJson(text)
    const result = v.safeParse(SocketMessage, raw)
    return result.success ? { raw, parsed: result.output } : undefined
  } catch {
    return undefined
  }
}

type Parties = Pick<PaymentEvent, 'id' | 'paymentId' | 'sender' | 'recipient'>

/** `shown`: what of it a browser gets. */
function toFeedEvent(event: Parties, shown: unknown): FeedEvent {
  const { paymentId, sender, recipient } = event
  return {
    id: BigInt(event.id),
    paymentId,
    sender,
    recipient,
    linkStatus: undefined,
    refundOf: undefined,
    json: copyText(stringifyJson(shown)),
  }
}

function toPaymentEvent(event: PaymentEvent, shown: unknown): FeedEvent {
  const facts = { linkStatus: linkStatusOf(event), refundOf: refundOf(event) }
  const made = { ...toFeedEvent(event, shown), ...facts }
  if (event.attribution.assigned === null) return made
  return { ...made, partiesJson: copyText(stringifyJson(projectForParties(shown))) }
}

/** The proxy names the link in each payment that it has built for one. */
function linkStatusOf({ metadata, status }: PaymentEvent): PaymentStatus | undefined {
  return typeof metadata?.['paymentLink'] === 'string' ? status : undefined
}

function refundOf({ refundOf: original, status }: PaymentEvent): string | undefined {
  const counts = status === 'confirmed' || status === 'finalized' || status === 'rolled_back'
  return counts && original !== null ? original : undefined
}

/**
 * The same text in one piece. V8 keeps a text that was joined as a tree of its parts, and the events are stored: one with 4 KiB of
 * metadata took 65 KiB.
 */
function copyText(text: string): string {
  return Buffer.from(text).toString()
}
