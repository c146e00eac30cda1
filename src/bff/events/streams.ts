import type { ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { ProblemError } from '#contract/problem.ts'
import type { OpenSession } from '../db/sessions.ts'
import type { EventHub } from './hub.ts'
import { Stream } from './stream.ts'

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
  beatMs?: number
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
    this.#timer = setInterval(() => void this.#beat(), parts.beatMs ?? HEARTBEAT_MS)
  }

  get size(): number {
    return this.#streams.size
  }

  /** @throws ProblemError `RATE_LIMIT` when the session, the address or the program has as many streams as it may */
  refuseTooMany(session: OpenSession, address: string): void {
    const all = [...this.#streams]
    const full =
      all.length >= MAX_TOTAL ||
      all.filter((stream) => stream.session.id === session.id).length >= MAX_PER_SESSION ||
      all.filter((stream) => stream.address === address).length >= MAX_PER_ADDRESS
    if (full)
      throw new ProblemError('RATE_LIMIT', {
        message: 'Too many open event streams.',
        retryAfter: 15,
      })
  }

  /** Hands the response over to a stream; its head is written. */
  open(
    response: ServerResponse,
    facts: { session: OpenSession; address: string; position: bigint | undefined },
  ): void {
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

  async #beat(): Promise<void> {
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
        stream.beat()
      }
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'the sessions of open streams could not be looked at')
    }
  }
}
