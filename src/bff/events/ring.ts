import type { FeedEvent } from '../upstream/socket.ts'

export type RingEvent = FeedEvent & {
  /** Sessions that made the payment without a wallet. */
  makers: readonly string[]
}

/** The newest events, without a gap: every event above `start` and up to `last` is in it. */
export class Ring {
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
