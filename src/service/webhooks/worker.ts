import { setTimeout as delay } from 'node:timers/promises'
import type { OpenDatabase } from '#postgres/open.ts'
import type { Context } from '../context/context.ts'
import { Sleep } from '../context/sleep.ts'
import { webhookEndpoint } from '../db/schema/webhook.ts'
import { leaseWebhook, type WebhookEndpoint } from '../db/webhooks.ts'
import { EVENT_CHANNEL } from '../events/read.ts'
import type { ReadPayment } from '../events/to-message.ts'
import { WEBHOOK_CHANNEL, deliverTo } from './deliver.ts'

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
  /** Accounts that may have something to send. The endpoints of the others are not looked at. */
  let pendingAccounts = new Set<string>()
  /** When an endpoint has something to send again, as far as this process saw. */
  const dueAts = new Map<string, { accountId: string; at: number }>()
  /** Any endpoint may have changed, or have something to send. */
  let reload = true
  let loadedAt = 0

  const unlisten = [
    await listen(EVENT_CHANNEL, (names) => {
      if (names === '') reload = true
      else {
        const known = names.split(' ').filter((name) => accounts.has(name))
        if (known.length === 0) return
        for (const name of known) pendingAccounts.add(name)
      }
      sleep.end()
    }),
    await listen(WEBHOOK_CHANNEL, () => {
      reload = true
      sleep.end()
    }),
  ]

  async function send(): Promise<void> {
    if (running.size >= MOST_AT_ONCE) return
    for (const [id, { accountId, at }] of dueAts)
      if (at <= now().getTime()) {
        dueAts.delete(id)
        pendingAccounts.add(accountId)
      }
    const batch = reload ? undefined : pendingAccounts
    if (reload) {
      reload = false
      loadedAt = performance.now()
      const rows = await db
        .selectDistinct({ accountId: webhookEndpoint.accountId })
        .from(webhookEndpoint)
      accounts = new Set(rows.map(({ accountId }) => accountId))
      if (accounts.size === 0) return
    }
    if (batch?.size === 0) return
    // What comes from here on is looked at the next time.
    pendingAccounts = new Set()
    while (running.size < MOST_AT_ONCE && !signal.aborted) {
      const holder = crypto.randomUUID()
      const endpoint = await leaseWebhook(db, {
        holder,
        now: now(),
        ...(batch && { accounts: [...batch] }),
      })
      if (!endpoint) return
      start(endpoint, holder)
    }
    if (batch) for (const accountId of batch) pendingAccounts.add(accountId)
    else reload = true
  }

  function start(endpoint: WebhookEndpoint, holder: string): void {
    const { id, accountId } = endpoint
    const work = deliverTo({ ...sender, holder }, endpoint)
      .then((at) => {
        const dueAt = Math.min(at, dueAts.get(id)?.at ?? Infinity)
        if (dueAt < Infinity) dueAts.set(id, { accountId, at: dueAt })
      })
      .catch((error: unknown) => log.warn({ err: error }, 'webhooks could not be sent yet'))
      .finally(() => {
        running.delete(work)
        // An event may have come after it looked last.
        pendingAccounts.add(accountId)
        sleep.end()
      })
    running.add(work)
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        await send()
      } catch (error) {
        reload = true
        log.warn({ err: error }, 'webhooks could not be read yet')
      }
      const dueAt = Math.min(...[...dueAts.values()].map(({ at }) => at))
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
