import { setTimeout as sleep } from 'node:timers/promises'
import { and, asc, eq, not } from 'drizzle-orm'
import WebSocket from 'ws'
import type { Database } from '#postgres/open.ts'
import { event } from '#service/db/schema/payment.ts'

const AGAIN_MS = 100
const COMPLETE_WITHIN_MS = 30_000
const KEYS = ['payments', 'verifications', 'settlements']

type Received = { id: string; type: string; paymentId: string; status: string }
type Measure = (name: string, value: number | string, bar: string, met: boolean) => void

export type EventTracker = {
  /** Waits until the reader has all events of the account, and compares them with the table. */
  compare: (where: { db: Database; accountId: string }, measure: Measure) => Promise<void>
}

/**
 * Reads the events of an account all along, from its first one: wherever its connection breaks off, it
 * resumes after the last event it had, with any of the processes.
 */
export function trackEvents(options: {
  key: string
  target: () => string | undefined
}): EventTracker {
  const received: Received[] = []
  let connections = 0
  let stopped = false

  /** Ends with the connection. */
  function readOnce(url: string): Promise<void> {
    return new Promise((resolve) => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { handshakeTimeout: 5_000 })
      const stop = setInterval(() => stopped && socket.terminate(), AGAIN_MS)
      const say = (message: object) => socket.send(JSON.stringify(message))
      socket.on('open', () => say({ method: 'authenticate', apiKey: options.key }))
      socket.on('error', () => {})
      socket.on('close', () => {
        clearInterval(stop)
        resolve()
      })
      socket.on('message', (data) => {
        const message = JSON.parse(String(data)) as Received
        if (message.type === 'authenticated')
          say({ method: 'subscribe', keys: KEYS, since: received.at(-1)?.id ?? '0' })
        else if (message.type === 'subscribed') connections++
        else if (message.type === 'error') socket.terminate()
        else received.push(message)
      })
    })
  }

  async function read(): Promise<void> {
    while (!stopped) {
      const url = options.target()
      if (url !== undefined) await readOnce(url)
      await sleep(AGAIN_MS)
    }
  }
  const reading = read()

  return {
    async compare({ db, accountId }, measure) {
      const mine = and(eq(event.accountId, accountId), not(event.draft))
      const until = performance.now() + COMPLETE_WITHIN_MS
      const readRows = () => db.select().from(event).where(mine).orderBy(asc(event.number))
      const isComplete = (rows: Awaited<ReturnType<typeof readRows>>) =>
        rows.every(({ number }) => number !== null) &&
        rows.length <= new Set(received.map(({ id }) => id)).size
      let due = await readRows()
      while (!isComplete(due) && performance.now() < until) {
        await sleep(AGAIN_MS)
        due = await readRows()
      }
      stopped = true
      await reading
      const spell = ({ id, type, paymentId, status }: Received) =>
        `${id} ${type} ${paymentId} ${status}`
      const spellRows = (rows: typeof due) =>
        rows.map(({ number, kind, paymentId, status }) =>
          spell({ id: String(number), type: kind, paymentId, status }),
        )
      const heard = received.map(spell)
      // Payments go on meanwhile: what is written after the reader was stopped is not missed by it.
      const written = spellRows(due)
      const [heardOnce, writtenOnce] = [new Set(heard), new Set(spellRows(await readRows()))]
      const missed = written.filter((each) => !heardOnce.has(each)).length
      const wrong = heard.filter((each) => !writtenOnce.has(each)).length
      const twice = heard.length - heardOnce.size
      const unordered = received.filter(
        ({ id }, index) => BigInt(id) <= BigInt(received[index - 1]?.id ?? -1),
      ).length
      const all = `0 of ${written.length}, ${connections} connections`
      measure('events that a reader missed', missed, all, missed === 0 && written.length > 0)
      measure(
        'events that a reader had twice or out of order',
        twice + unordered,
        '0',
        twice + unordered === 0,
      )
      measure('events that a reader had and the table has not', wrong, '0', wrong === 0)
    },
  }
}
