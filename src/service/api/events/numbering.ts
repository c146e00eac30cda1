import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import type { OpenDatabase } from '#postgres/open.ts'
import type { Context } from '../../context/context.ts'
import { Sleep } from '../../context/sleep.ts'
import {
  NUMBERING_LEASE_MS,
  numberEvents,
  releaseNumbering,
  takeNumbering,
  onRecorded,
} from '../../db/record-event.ts'
import { EVENT_CHANNEL } from '../../events/read.ts'

/** NOTIFY on this channel means: there are events without a number, or nobody who numbers them. */
const RECORDED_CHANNEL = 'service_event_recorded'
const RELEASED = 'released'

/** Events that are committed within this time get their numbers together. */
const EVERY_MS = 20
/** The holder of the lease extends it, and looks for events that it was not told of. */
const RENEW_MS = NUMBERING_LEASE_MS / 3
const MAX_BACKOFF_MS = 1_000

/**
 * Numbers events for all processes while this one holds the lease, and tells readers of them; without
 * the lease it tells the holder of events that this process wrote. Both at most once in 20 ms,
 * outside of every payment's transaction.
 * @returns stops it
 */
export async function startNumbering(
  { db, log }: Pick<Context, 'db' | 'log'>,
  listen: OpenDatabase['listen'],
): Promise<() => Promise<void>> {
  const holder = crypto.randomUUID()
  const abort = new AbortController()
  const sleep = new Sleep(abort.signal)
  let holds = false
  /** When the lease of another process may end. */
  let freeAt = 0
  /** Events of this process may have no number yet. */
  let due = false
  /** The readers of all accounts may not know of all numbers. */
  let untold = false

  const recorded = () => {
    due = true
    sleep.end()
  }
  const endRecorded = onRecorded(db, recorded)
  const unlisten = await listen(RECORDED_CHANNEL, (payload) => {
    if (payload === RELEASED) freeAt = 0
    if (holds || payload === RELEASED) recorded()
  })

  const notify = (channel: string, payload: string) =>
    db.execute(sql`select pg_notify(${channel}, ${payload})`)

  async function numberRecorded(): Promise<void> {
    due = false
    const found = await numberEvents(db, holder, { channel: EVENT_CHANNEL, everybody: untold })
    holds = found !== undefined
    due ||= found?.more ?? true
    if (holds) untold = false
  }

  async function standBy(): Promise<void> {
    if (performance.now() >= freeAt) {
      const waitMs = await takeNumbering(db, holder)
      holds = waitMs === 0
      freeAt = performance.now() + waitMs
      // The former holder may have ended before it told anybody.
      if (holds) untold = true
    }
    if (!holds && due) await notify(RECORDED_CHANNEL, '')
    due = holds
  }

  async function run(): Promise<void> {
    let failures = 0
    while (!abort.signal.aborted) {
      const startedAt = performance.now()
      try {
        await (holds ? numberRecorded() : standBy())
        if (failures > 0) log.info({ failures }, 'events are numbered again')
        failures = 0
      } catch (error) {
        due = true
        if (failures++ === 0) log.warn({ err: error }, 'events could not be numbered yet')
      }
      if (!due) await sleep.for(holds ? RENEW_MS : Math.max(0, freeAt - performance.now()))
      const restMs = Math.min(EVERY_MS * 2 ** failures, MAX_BACKOFF_MS)
      const leftMs = startedAt + restMs - performance.now()
      // What is recorded meanwhile is numbered after it.
      if (leftMs > 0) await delay(leftMs, undefined, abort).catch(() => {})
    }
  }
  const running = run()

  return async () => {
    abort.abort()
    endRecorded()
    await unlisten()
    await running
    if (!holds) return
    await releaseNumbering(db, holder)
      .then(() => notify(RECORDED_CHANNEL, RELEASED))
      .catch((error: unknown) => log.warn({ err: error }, 'the lease to number events runs out'))
  }
}
