import type { ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import type { Heartbeat } from '#contract/event.ts'
import { ProblemError } from '#contract/problem.ts'
import type { OpenSession } from '../db/sessions.ts'
import { networkOf } from '../budget/budgets.ts'
import type { EventHub, RingEvent } from './hub.ts'

const REPLAY_RETRY_MS = 2000
/** How long a browser waits before it reconnects. */
const RETRY_HINT_MS = 2000

/** `spend`: charges the reader for what the service is asked because of its position, or throws a ProblemError. */
type StreamFacts = {
  session: OpenSession
  address: string
  position: bigint | undefined
  spend: () => void
}

/**
 * One browser's stream. It has no queue: it keeps a position in the hub's ring and writes as fast
 * as the browser reads. The position also passes events that this session may not see, so resuming
 * never reads them twice.
 */
class Stream {
  /** The network that it is counted under. */
  readonly place: string
  session: OpenSession
  readonly #hub: EventHub
  readonly #spend: () => void
  readonly #response: ServerResponse
  #position: bigint | undefined
  /**
   * Whether the browser has to read before more is written. The server disconnects one that does
   * not read; it resumes where it left off.
   */
  #isBlocked = false
  #reaching = false
  /** The last value of `#live` sent to the browser. */
  #reportedLive: boolean | undefined
  #closed = false

  constructor(parts: StreamFacts & { hub: EventHub; response: ServerResponse }) {
    this.#hub = parts.hub
    this.#response = parts.response
    this.#spend = parts.spend
    this.session = parts.session
    this.place = networkOf(parts.address)
    this.#position = parts.position
    this.#write(`retry: ${RETRY_HINT_MS}\n\n`)
  }

  /**
   * Writes what the ring holds after the position. A change of the feed's state is reported first.
   */
  pump(): void {
    const { ring } = this.#hub
    if (this.#closed) return
    if (ring && !this.#reaching) {
      this.#position ??= ring.last
      if (this.#position < ring.start) void this.#extendBack(this.#position)
    }
    // At the start too: a browser can resume before it ever saw a payment, and learns at once
    // whether events arrive.
    if (this.#live !== this.#reportedLive) this.#sendPosition()
    if (!ring || this.#reaching || this.#position === undefined) return
    while (!this.#isBlocked && !this.#closed) {
      const event = ring.after(this.#position)
      if (!event) return
      this.#position = event.id
      if (!this.#maySee(event)) continue
      const json = this.session.member ? event.json : (event.partiesJson ?? event.json)
      this.#write(`id: ${event.id}\nevent: payment\ndata: ${json}\n\n`)
    }
  }

  /**
   * Every 15 seconds: shows that the connection is alive and whether the service behind it is, and
   * moves the browser's position past events it may not see.
   */
  sendHeartbeat(): void {
    if (this.#isBlocked) return
    const last = this.#hub.ring?.last
    // A position from a history the service no longer has: the browser reads everything again.
    if (
      last !== undefined &&
      this.#position !== undefined &&
      this.#position > last &&
      this.#hub.state === 'live'
    )
      this.#reset(last)
    else this.#sendPosition()
  }

  close(): void {
    this.#closed = true
    this.#response.end()
  }

  async #extendBack(position: bigint): Promise<void> {
    this.#reaching = true
    try {
      const reached = await this.#hub.extendBack(position, () => this.#mayRequest())
      const ring = this.#hub.ring
      if (!reached && ring) this.#reset(ring.last)
    } catch {
      await new Promise((resolve) => setTimeout(resolve, REPLAY_RETRY_MS).unref())
    } finally {
      this.#reaching = false
    }
    this.pump()
  }

  #mayRequest(): boolean {
    try {
      this.#spend()
      return true
    } catch (error) {
      if (error instanceof ProblemError) return false
      throw error
    }
  }

  /**
   * Too much was missed, or asked for, or the history is another one. `event: reset` makes the page
   * reload its lists.
   */
  #reset(position: bigint): void {
    this.#position = position
    this.#write(`id: ${position}\nevent: reset\ndata: {}\n\n`)
  }

  /** Whether events arrive now. The stream itself stays open when the service behind it is gone. */
  get #live(): boolean {
    return this.#hub.state === 'live' && !this.#reaching
  }

  /**
   * With data, because browsers report no event for an id alone: the page learns its position, and
   * whether events arrive.
   */
  #sendPosition(): void {
    this.#reportedLive = this.#live
    const heartbeat: Heartbeat = { live: this.#live }
    const at = this.#position === undefined || this.#reaching ? '' : `id: ${this.#position}\n`
    this.#write(`${at}event: beat\ndata: ${JSON.stringify(heartbeat)}\n\n`)
  }

  #maySee(event: RingEvent): boolean {
    const { id, wallets, member } = this.session
    return (
      member !== null ||
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

const MAX_PER_SESSION = 5
const MAX_PER_ADDRESS = 20
const MAX_TOTAL = 2000
export const HEARTBEAT_MS = 15_000

export type StreamsParts = {
  hub: EventHub
  log: Logger
  /** Those of the sessions that still stand, by id. */
  standing: (ids: string[]) => Promise<Map<string, OpenSession>>
  /** Tests take a short one. */
  heartbeatMs?: number
}

/** All open streams. Each beat looks at their sessions again: a stream ends with its session, also when another process ended it. */
export class Streams {
  readonly #parts: StreamsParts
  readonly #streams = new Set<Stream>()
  readonly #forget: () => void
  readonly #timer: NodeJS.Timeout

  constructor(parts: StreamsParts) {
    this.#parts = parts
    this.#forget = parts.hub.onChange(() => {
      for (const stream of this.#streams) stream.pump()
    })
    this.#timer = setInterval(() => void this.#sendHeartbeats(), parts.heartbeatMs ?? HEARTBEAT_MS)
  }

  get size(): number {
    return this.#streams.size
  }

  /** @throws ProblemError `RATE_LIMIT` when the session, the address or the program has as many streams as it may */
  refuseTooMany(session: OpenSession, address: string): void {
    const all = [...this.#streams]
    const place = networkOf(address)
    const full =
      all.length >= MAX_TOTAL ||
      all.filter((stream) => stream.session.id === session.id).length >= MAX_PER_SESSION ||
      all.filter((stream) => stream.place === place).length >= MAX_PER_ADDRESS
    if (full)
      throw new ProblemError('RATE_LIMIT', {
        message: 'Too many open event streams.',
        retryAfter: 15,
      })
  }

  /** Hands the response over to a stream; its head is written. */
  open(response: ServerResponse, facts: StreamFacts): void {
    const stream = new Stream({ hub: this.#parts.hub, response, ...facts })
    this.#streams.add(stream)
    response.on('close', () => {
      stream.close()
      this.#streams.delete(stream)
    })
    stream.pump()
  }

  /** A sign-in added a wallet. */
  refresh(session: OpenSession): void {
    for (const stream of this.#streams)
      if (stream.session.id === session.id) stream.session = session
  }

  end(sessionId: string): void {
    for (const stream of this.#streams) if (stream.session.id === sessionId) stream.close()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#forget()
    for (const stream of this.#streams) stream.close()
  }

  async #sendHeartbeats(): Promise<void> {
    const all = [...this.#streams].map((stream) => ({ stream, before: stream.session }))
    if (all.length === 0) return
    try {
      const standing = await this.#parts.standing([...new Set(all.map(({ before }) => before.id))])
      for (const { stream, before } of all) {
        const session = standing.get(before.id)
        if (!session) {
          stream.close()
          continue
        }
        // Somebody who signed in meanwhile is newer than what was read.
        if (stream.session === before) stream.session = session
        stream.sendHeartbeat()
      }
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'the sessions of open streams could not be looked at')
    }
  }
}
