import { setTimeout as delay } from 'node:timers/promises'
import type { OpenDatabase } from '#postgres/open.ts'
import type { Context } from '../context/context.ts'
import { Sleep } from '../context/sleep.ts'
import { webhookEndpoint } from '../db/schema/webhook.ts'
import { leaseWebhook } from '../db/webhooks.ts'
import { EVENT_CHANNEL } from '../events/read.ts'
import type { ReadPayment } from '../events/to-message.ts'
import { WEBHOOK_CHANNEL } from './announce.ts'
import { deliverTo } from './deliver.ts'

/** Endpoints that one process sends to at the same time; one that does not answer delays no other. */
const MOST_AT_ONCE = 64
const STOP_WITHIN_MS = 5_000
/** What no notification told of is found so late at most. */
const POLL_MS = 15_000
/** Events that are numbered within this time are sent together. */
const EVERY_MS = 50

/**
 * Sends webhooks, beside the other processes that do: each endpoint has a lease. Notifications of accounts without an endpoint cost nothing.
 * @returns stops it, when the attempts that are under way have ended
 */
export async function startWebhooks(
  context: Context,
  { listen, readPayment }: { listen: OpenDatabase['listen']; readPayment: ReadPayment },
): Promise<() => Promise<void>> {
  const { db, log, now } = context
  const abort = new AbortController()
  const { signal } = abort
  const sender = { ...context, readPayment, signal }
  const sleep = new Sleep(signal)
  const running = new Set<Promise<void>>()
  let accounts = new Set<string>()
  let reload = true
  let loadedAt = 0
  let dueAt = Infinity

  const unlisten = [
    await listen(EVENT_CHANNEL, (names) => {
      if (names === '' || names.split(' ').some((name) => accounts.has(name))) sleep.end()
    }),
    await listen(WEBHOOK_CHANNEL, () => {
      reload = true
      sleep.end()
    }),
  ]

  async function send(): Promise<void> {
    if (reload) {
      reload = false
      loadedAt = performance.now()
      const rows = await db
        .selectDistinct({ accountId: webhookEndpoint.accountId })
        .from(webhookEndpoint)
      accounts = new Set(rows.map(({ accountId }) => accountId))
    }
    if (accounts.size === 0) return
    dueAt = dueAt <= now().getTime() ? Infinity : dueAt
    while (running.size < MOST_AT_ONCE && !signal.aborted) {
      const holder = crypto.randomUUID()
      const endpoint = await leaseWebhook(db, { holder, now: now() })
      if (!endpoint) return
      const work = deliverTo({ ...sender, holder }, endpoint)
        .then((at) => void (dueAt = Math.min(dueAt, at)))
        .catch((error: unknown) => log.warn({ err: error }, 'webhooks could not be sent yet'))
        .finally(() => {
          running.delete(work)
          // An event may have come after it looked last.
          sleep.end()
        })
      running.add(work)
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await send()
      } catch (error) {
        reload = true
        log.warn({ err: error }, 'webhooks could not be read yet')
      }
      await sleep.for(Math.min(POLL_MS, Math.max(EVERY_MS, dueAt - now().getTime())))
      await delay(EVERY_MS, undefined, { signal }).catch(() => {})
      reload ||= performance.now() - loadedAt > POLL_MS
    }
  }
  const ended = run()

  return async () => {
    abort.abort()
    for (const end of unlisten) await end()
    await ended
    // What is not answered by then is sent again, with the same id.
    await Promise.race([Promise.all(running), delay(STOP_WITHIN_MS, undefined, { ref: false })])
  }
}
