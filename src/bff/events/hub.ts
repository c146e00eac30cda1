import type { Logger } from 'pino'
import type { PaymentStatus } from '#contract/payment.ts'
import { openFeed, type FeedEnd, type FeedEvent } from '../upstream/socket.ts'

export type RingEvent = FeedEvent & {
  /** Sessions that made the payment without a wallet. */
  makers: readonly string[]
}

/** The newest events, without a gap: every event above `start` and up to `last` is in it. */
class Ring {
  #events: RingEvent[] = []
  #start: bigint
  #last: bigint
  readonly #capacity: number

  constructor(position: bigint, capacity: number) {
    this.#start = position
    this.#last = position
    this.#capacity = capacity
  }

  get start(): bigint {
    return this.#start
  }

  get last(): bigint {
    return this.#last
  }

  get room(): number {
    return this.#capacity - this.#events.length
  }

  append(event: RingEvent): void {
    if (event.id <= this.#last) return
    this.#events.push(event)
    this.#last = event.id
    if (this.#events.length > this.#capacity) this.#start = this.#events.shift()?.id ?? this.#start
  }

  /** Extends the ring to events before its start; `events` are all there are above `from` and up to the start. */
  prepend(from: bigint, events: readonly RingEvent[]): void {
    this.#events = [...events, ...this.#events]
    this.#start = from
  }

  /** The first event above a position. */
  after(position: bigint): RingEvent | undefined {
    let low = 0
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >> 1
      const event = this.#events[middle]
      if (event && event.id > position) high = middle
      else low = middle + 1
    }
    return this.#events[low]
  }
}

const CAPACITY = 2000
const BACKOFF_MIN_MS = 250
const BACKOFF_MAX_MS = 10_000
const REPLAY_TIMEOUT_MS = 10_000
/** After more was missed than the ring holds, nobody reaches back for so long: each try reads as many events again. */
const OVERFLOW_REST_MS = 10_000

export type HubState = 'connecting' | 'live' | 'lost' | 'key_refused'

export type HubParts = {
  serviceUrl: string
  apiKey: string
  log: Logger
  /** The sessions that made each of these payments. */
  findMakers: (paymentIds: string[]) => Promise<Map<string, string[]>>
  /** Called before browsers are told: what they then read is not older than what they were told. */
  noteStatus?: (paymentId: string, status: PaymentStatus) => Promise<void>
  /** Likewise, of a payment that another one returns. */
  noteRefund?: (paymentId: string) => Promise<void>
  onPlan: (plan: string) => void
  /** Tests take a small one. */
  capacity?: number
}

/**
 * The account's events, shared by all streams: one upstream subscription that resumes where it left
 * off, and a ring of the newest events that streams read at their own pace. A second, short
 * subscription fetches the events before the ring.
 */
export class EventHub {
  readonly #parts: HubParts
  readonly #capacity: number
  readonly #listeners = new Set<() => void>()
  #ring: Ring | undefined
  #state: HubState | undefined
  #closeFeed: (() => void) | undefined
  #closeReplay: (() => void) | undefined
  #retry: NodeJS.Timeout | undefined
  #backoffMs = BACKOFF_MIN_MS
  #extending: Promise<void> | undefined
  /** From this position or before, the ring cannot hold all missed events: do not retry. */
  #tooFar = -1n
  #restUntil = 0
  #stopped = false

  constructor(parts: HubParts) {
    this.#parts = parts
    this.#capacity = parts.capacity ?? CAPACITY
  }

  get state(): HubState {
    return this.#state ?? 'connecting'
  }

  /** Undefined until the service was first reached: before that, nobody has a position. */
  get ring(): Ring | undefined {
    return this.#ring
  }

  start(): void {
    this.#connect()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#retry)
    this.#closeFeed?.()
    this.#closeReplay?.()
  }

  /**
   * Calls `listener` after the ring took an event or got its first position, and when the state
   * changes.
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #connect(): void {
    // Events are processed one at a time: each waits for the sessions that made its payment.
    let queue = Promise.resolve()
    let ended = false
    const close = openFeed({
      url: socketUrl(this.#parts.serviceUrl),
      apiKey: this.#parts.apiKey,
      since: this.#ring?.last,
      onSubscribed: ({ lastEventId, plan }) => {
        this.#setState('live')
        this.#backoffMs = BACKOFF_MIN_MS
        this.#parts.onPlan(plan)
        // Ids only grow: a service that is behind us has another history, and our ring is
        // worthless.
        if (!this.#ring || lastEventId < this.#ring.last) {
          this.#ring = new Ring(lastEventId, this.#capacity)
          this.#tooFar = -1n
          this.#restUntil = 0
        }
        this.#notify()
      },
      onEvent: (event) => {
        queue = queue
          .then(async () => {
            if (ended) return
            const [made] = await this.#withMakers([event])
            if (ended || !made) return
            if (event.linkStatus) await this.#parts.noteStatus?.(event.paymentId, event.linkStatus)
            if (event.refundOf !== undefined) await this.#parts.noteRefund?.(event.refundOf)
            this.#ring?.append(made)
            this.#notify()
          })
          .catch((error: unknown) => {
            this.#parts.log.warn(
              { err: error },
              'an event could not be worked off; the subscription starts again after the last one',
            )
            ended = true
            close()
          })
      },
      onEnd: (end) => {
        ended = true
        this.#reconnect(end)
      },
    })
    this.#closeFeed = close
  }

  #reconnect(end: FeedEnd): void {
    if (this.#stopped) return
    this.#setState(
      end.reason === 'key_refused' ? 'key_refused' : this.#ring ? 'lost' : 'connecting',
    )
    this.#retry = setTimeout(() => this.#connect(), this.#backoffMs * (0.75 + Math.random() / 2))
    this.#backoffMs = Math.min(BACKOFF_MAX_MS, this.#backoffMs * 2)
  }

  #setState(state: HubState): void {
    if (state === this.#state) return
    this.#state = state
    if (state === 'live') this.#parts.log.info('live events: connected')
    else if (state === 'key_refused')
      this.#parts.log.error(
        {
          operator:
            'The payment service does not accept the API key of this proxy. Set SERVICE_API_KEY to a valid one.',
        },
        'live events: refused',
      )
    else this.#parts.log.warn('live events: no connection to the payment service, trying again')
    this.#notify()
  }

  /**
   * Extends the ring back to a position, with one subscription at a time for all waiting streams.
   * @param charge asks whether who waits may begin one
   * @returns false when there are more events in between than the ring holds, or this was so a moment
   * ago, or none may be begun
   * @throws when the service cannot be reached; try again
   */
  async extendBack(position: bigint, charge: () => boolean): Promise<boolean> {
    for (;;) {
      if (this.#stopped || !this.#ring) throw new Error('There is no event feed to extend.')
      if (position >= this.#ring.start) return true
      if (position <= this.#tooFar || this.#ring.room === 0) return false
      if (!this.#extending) {
        if (performance.now() < this.#restUntil || !charge()) return false
        this.#extending = this.#extend(position, this.#ring).finally(
          () => (this.#extending = undefined),
        )
      }
      await this.#extending
    }
  }

  async #extend(from: bigint, ring: Ring): Promise<void> {
    const target = ring.start
    const events = await this.#replay(from, target, ring.room)
    if (!events) {
      this.#restUntil = performance.now() + OVERFLOW_REST_MS
      if (this.#ring === ring) this.#tooFar = from
      return
    }
    const made = await this.#withMakers(events)
    // Meanwhile the ring may have been replaced or have dropped its oldest events: the caller
    // checks again.
    if (this.#ring === ring && ring.start === target) ring.prepend(from, made)
  }

  /** Every event above `from` and up to `target`; undefined when there are more than `limit`. */
  #replay(from: bigint, target: bigint, limit: number): Promise<FeedEvent[] | undefined> {
    return new Promise((resolve, reject) => {
      const events: FeedEvent[] = []
      let done = false
      const finish = (settle: () => void): void => {
        if (done) return
        done = true
        clearTimeout(timer)
        settle()
        close()
      }
      const reached = (id: bigint): void => {
        if (id >= target) finish(() => resolve(events))
      }
      const timer = setTimeout(
        () => finish(() => reject(new Error('Missed events did not come in time.'))),
        REPLAY_TIMEOUT_MS,
      )
      const close = openFeed({
        url: socketUrl(this.#parts.serviceUrl),
        apiKey: this.#parts.apiKey,
        since: from,
        onSubscribed: () => {},
        onEvent: (event) => {
          if (event.id <= target) events.push(event)
          if (events.length > limit) finish(() => resolve(undefined))
          else reached(event.id)
        },
        // The ring began at the newest event of the account, of whatever kind.
        onOther: reached,
        onEnd: () =>
          finish(() => reject(new Error('The service closed the replay of missed events.'))),
      })
      this.#closeReplay = close
    })
  }

  /**
   * An anonymous buyer's `created` event can arrive before the proxy has recorded who made the
   * payment. It is then not streamed: the buyer has it as the answer to the request. Later events
   * find the row.
   */
  async #withMakers(events: readonly FeedEvent[]): Promise<RingEvent[]> {
    const makers = await this.#parts.findMakers([
      ...new Set(events.map((event) => event.paymentId)),
    ])
    return events.map((event) => ({ ...event, makers: makers.get(event.paymentId) ?? [] }))
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}

function socketUrl(serviceUrl: string): string {
  return `${serviceUrl.replace(/^http/, 'ws')}/ws`
}
