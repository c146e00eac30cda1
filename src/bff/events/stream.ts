import type { ServerResponse } from 'node:http'
import type { Beat } from '#contract/event.ts'
import type { OpenSession } from '../db/sessions.ts'
import type { EventHub } from './hub.ts'
import type { RingEvent } from './ring.ts'

const REPLAY_RETRY_MS = 2000
/** What a browser waits before it connects again. */
const RETRY_HINT_MS = 2000

/**
 * One browser's stream. It keeps no queue: it holds a position in the hub's ring and writes as fast as the browser reads.
 * The position also counts the events that this session may not see, so resuming never goes over them twice.
 */
export class Stream {
  readonly address: string
  session: OpenSession
  readonly #hub: EventHub
  readonly #response: ServerResponse
  #position: bigint | undefined
  /** Whether the browser has to read before more is written. The server cuts one that does not; it resumes where it was. */
  #isBlocked = false
  #reaching = false
  /** What the browser was last told of it. */
  #told: boolean | undefined
  #closed = false

  constructor(parts: {
    hub: EventHub
    response: ServerResponse
    session: OpenSession
    address: string
    position: bigint | undefined
  }) {
    this.#hub = parts.hub
    this.#response = parts.response
    this.session = parts.session
    this.address = parts.address
    this.#position = parts.position
    this.#write(`retry: ${RETRY_HINT_MS}\n\n`)
  }

  /** Writes what the ring holds above the position, after word of what the feed itself is worth. */
  pump(): void {
    const { ring } = this.#hub
    if (this.#closed) return
    if (ring && !this.#reaching) {
      this.#position ??= ring.last
      if (this.#position < ring.start) void this.#reachBack(this.#position)
    }
    // At the start too: a browser can resume before it ever saw a payment, and knows at once whether it is told of any.
    if (this.#live !== this.#told) this.#sayWhere()
    if (!ring || this.#reaching || this.#position === undefined) return
    while (!this.#isBlocked && !this.#closed) {
      const event = ring.after(this.#position)
      if (!event) return
      this.#position = event.id
      if (this.#maySee(event))
        this.#write(`id: ${event.id}\nevent: payment\ndata: ${event.json}\n\n`)
    }
  }

  /** Every 15 seconds: shows that the connection lives, whether the service behind it does, and moves the browser's position past what it may not see. */
  beat(): void {
    if (this.#isBlocked) return
    const last = this.#hub.ring?.last
    // A position from a history the service no longer has: the browser reads everything anew.
    if (
      last !== undefined &&
      this.#position !== undefined &&
      this.#position > last &&
      this.#hub.state === 'live'
    )
      this.#reset(last)
    else this.#sayWhere()
  }

  close(): void {
    this.#closed = true
    this.#response.end()
  }

  async #reachBack(position: bigint): Promise<void> {
    this.#reaching = true
    try {
      const reached = await this.#hub.reachBack(position)
      const ring = this.#hub.ring
      if (!reached && ring) this.#reset(ring.last)
    } catch {
      await new Promise((resolve) => setTimeout(resolve, REPLAY_RETRY_MS).unref())
    } finally {
      this.#reaching = false
    }
    this.pump()
  }

  /** Too much was missed, or the history is another one. `event: reset` tells the page to read its lists again. */
  #reset(position: bigint): void {
    this.#position = position
    this.#write(`id: ${position}\nevent: reset\ndata: {}\n\n`)
  }

  /** Whether payments are heard of now: the stream itself stays open when the service behind it is gone. */
  get #live(): boolean {
    return this.#hub.state === 'live' && !this.#reaching
  }

  /** With data, because a page is not told of an id alone: it learns where the stream stands, and what it is worth. */
  #sayWhere(): void {
    this.#told = this.#live
    const beat: Beat = { live: this.#live }
    const at = this.#position === undefined || this.#reaching ? '' : `id: ${this.#position}\n`
    this.#write(`${at}event: beat\ndata: ${JSON.stringify(beat)}\n\n`)
  }

  #maySee(event: RingEvent): boolean {
    const { id, wallets, operator } = this.session
    return (
      operator ||
      wallets.includes(event.sender) ||
      wallets.includes(event.recipient) ||
      event.makers.includes(id)
    )
  }

  #write(text: string): void {
    if (this.#closed || this.#response.destroyed) return
    if (this.#response.write(text)) return
    if (this.#isBlocked) return
    this.#isBlocked = true
    this.#response.once('drain', () => {
      this.#isBlocked = false
      this.pump()
    })
  }
}
