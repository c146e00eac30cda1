import * as v from 'valibot'
import { Heartbeat } from '#contract/event.ts'

/**
 * One event stream for all tabs of a browser. The tab that holds the lock reads it and forwards
 * events over a channel; when it closes, the next tab in the queue resumes after the last event
 * that it received.
 */

/** The part of `EventSource` that is used. */
export type Source = {
  readonly readyState: number
  addEventListener(type: 'open' | 'error', listener: () => void): void
  addEventListener(
    type: 'payment' | 'reset' | 'beat',
    listener: (event: MessageEvent<string>) => void,
  ): void
  close(): void
}

export type StreamListener = {
  /** From here on no event is missed; earlier readings may have missed some. */
  live(): void
  lost(): void
  payment(data: string): void
  /** More was missed than the proxy can replay. */
  reset(): void
  /** The proxy refused the stream: the session may have ended. */
  refused(): void
}

export type OneStreamParts = {
  /** Of the lock and the channel. Tabs of other readers use another name. */
  name: string
  /** `after`: the event to resume after. */
  open: (after: string | undefined) => Source
  listener: StreamListener
  /** Undefined if the browser has none (no secure context): then every tab opens its own stream. */
  locks: Pick<LockManager, 'request'> | undefined
  /** Whether this tab is visible. */
  visible: () => boolean
}

type News =
  | { kind: 'payment'; id: string; data: string }
  | { kind: 'reset'; id: string }
  | { kind: 'state'; live: boolean; missed: boolean; id: string | undefined }
  | { kind: 'refused' }
  | { kind: 'ping' }

const CLOSED = 2
const MAX_BACKOFF_MS = 30_000
/**
 * The proxy sends something every 15 s. A connection silent for this long is dead, even if the
 * browser reports it open.
 */
export const SILENT_MS = 40_000
/**
 * Pings that the leading tab may leave unanswered: a tab frozen by the system answers none and
 * keeps its lock.
 */
const UNANSWERED = 2

export class OneStream {
  readonly #parts: OneStreamParts
  readonly #channel: BroadcastChannel
  readonly #stop = new AbortController()
  #position: string | undefined
  #live = false
  #leads = false
  #unanswered = 0
  #source: Source | undefined
  #heardAt = 0
  #failures = 0
  #retry: ReturnType<typeof setTimeout> | undefined
  #release: (() => void) | undefined

  constructor(parts: OneStreamParts) {
    this.#parts = parts
    this.#channel = new BroadcastChannel(parts.name)
    this.#channel.addEventListener('message', (event: MessageEvent<News>) => this.#hear(event.data))
    this.#queue(false)
    this.#channel.postMessage({ kind: 'ping' } satisfies News)
  }

  /** Every few seconds. */
  tick(now: number): void {
    if (this.#leads) {
      if (this.#source && this.#source.readyState !== CLOSED && now - this.#heardAt > SILENT_MS)
        this.#reopen()
      return
    }
    if (!this.#parts.visible()) return
    if (this.#unanswered >= UNANSWERED) return this.#queue(true)
    this.#unanswered++
    this.#channel.postMessage({ kind: 'ping' } satisfies News)
  }

  close(): void {
    this.#stop.abort()
    this.#drop()
    this.#channel.close()
  }

  /** Queues for the lock, or steals it from a tab that does not answer. */
  #queue(steal: boolean): void {
    this.#unanswered = 0
    const { locks, name } = this.#parts
    if (!locks) return this.#lead()
    const untilAborted = () =>
      new Promise<void>((release) => {
        if (this.#stop.signal.aborted) return release()
        this.#release = release
        this.#lead()
      })
    const { signal } = this.#stop
    locks.request(name, steal ? { steal } : { signal }, untilAborted).catch(() => {
      // Stolen by a tab that got no answer from here: this tab was frozen, and queues again.
      if (signal.aborted || !this.#leads) return
      this.#drop()
      this.#queue(false)
    })
  }

  #lead(): void {
    if (this.#leads) return
    this.#leads = true
    this.#connect()
  }

  #drop(): void {
    this.#leads = false
    clearTimeout(this.#retry)
    this.#source?.close()
    this.#source = undefined
    this.#release?.()
    this.#release = undefined
  }

  #connect(): void {
    const after = this.#position
    const source = this.#parts.open(after)
    const mine = () => this.#source === source
    // After a known event nothing is missed; the very first stream starts some time after the pages
    // were read.
    let missed = after === undefined
    this.#source = source
    this.#heardAt = Date.now()
    source.addEventListener('open', () => {
      if (!mine()) return
      this.#failures = 0
      this.#heardAt = Date.now()
    })
    for (const kind of ['payment', 'reset', 'beat'] as const) {
      source.addEventListener(kind, ({ lastEventId: id, data }) => {
        if (!mine()) return
        this.#heardAt = Date.now()
        // An open connection is not enough: the proxy reports whether the service behind it sends
        // payment events.
        if (kind === 'beat') {
          const live = hearsPayments(data)
          this.#emit({ kind: 'state', live, missed: live && missed, id })
          if (live) missed = false
        } else this.#emit(kind === 'reset' ? { kind, id } : { kind, id, data })
      })
    }
    source.addEventListener('error', () => {
      if (!mine()) return
      this.#emit({ kind: 'state', live: false, missed: false, id: this.#position })
      missed ||= this.#position === undefined
      if (source.readyState !== CLOSED) return
      this.#emit({ kind: 'refused' })
      this.#retry = setTimeout(
        () => this.#connect(),
        Math.min(MAX_BACKOFF_MS, 1000 * 2 ** this.#failures++) * (0.75 + Math.random() / 2),
      )
    })
  }

  #reopen(): void {
    this.#source?.close()
    this.#emit({ kind: 'state', live: false, missed: false, id: this.#position })
    this.#connect()
  }

  #emit(news: News): void {
    this.#channel.postMessage(news)
    this.#take(news)
  }

  #hear(news: News): void {
    if (news.kind === 'ping') {
      if (this.#leads)
        this.#channel.postMessage({
          kind: 'state',
          live: this.#live,
          missed: false,
          id: this.#position,
        } satisfies News)
      return
    }
    this.#unanswered = 0
    // Two tabs lead for a moment after one was frozen; the one that has the lock reads its own
    // stream.
    if (!this.#leads) this.#take(news)
  }

  #take(news: News): void {
    const { listener } = this.#parts
    switch (news.kind) {
      case 'payment':
        if (!this.#isNew(news.id)) return
        this.#position = news.id
        return listener.payment(news.data)
      case 'reset':
        this.#position = news.id
        return listener.reset()
      case 'state': {
        const was = this.#live
        this.#live = news.live
        if (news.id && this.#isNew(news.id)) this.#position = news.id
        if (!news.live) return listener.lost()
        return was && !news.missed ? undefined : listener.live()
      }
      case 'refused':
        return listener.refused()
      case 'ping':
    }
  }

  #isNew(id: string): boolean {
    return this.#position === undefined || !/^\d+$/.test(id) || BigInt(id) > BigInt(this.#position)
  }
}

function hearsPayments(data: string): boolean {
  try {
    const heartbeat = v.safeParse(Heartbeat, JSON.parse(data))
    return !heartbeat.success || heartbeat.output.live
  } catch {
    return true
  }
}
