import type * as v from 'valibot'
import { sql } from 'drizzle-orm'
import { stringifyJson } from '#contract/json.ts'
import type { WebhookMessage } from '#contract/webhook.ts'
import {
  EgressRefusedError,
  exchange,
  EgressError,
  type ExternalResponse,
} from '#egress/exchange.ts'
import type { Database } from '#postgres/open.ts'
import type { SealedKey, Signer } from '#signer/protocol.ts'
import type { Context } from '../context/context.ts'
import { LEASE_S, whileBeating } from '../db/lease.ts'
import {
  extendWebhook,
  readDue,
  releaseWebhook,
  writeAttempt,
  writeDeliveries,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookTarget,
} from '../db/webhooks.ts'
import { readEvent } from '../events/read.ts'
import { toMessage, type ReadPayment } from '../events/to-message.ts'

export type WebhookSender = Pick<Context, 'db' | 'signer' | 'log' | 'now' | 'config'> & {
  readPayment: ReadPayment
  /** Names this process in leases. */
  holder: string
  signal: AbortSignal
  /** How long a receiver may take; `ATTEMPT_MS` where nothing is said. */
  attemptMs?: number
  /** How long one endpoint is sent to before others are; `TURN_MS` where nothing is said. */
  turnMs?: number
}

const ATTEMPT_MS = 15_000
const MAX_ANSWER_BYTES = 64 * 1024
const MAX_LOGGED = 2_048
/** Payments of one endpoint that are sent at the same time. */
const AT_ONCE = 16
/** After this the places of those that have ended are used again, also while others hang. */
const REFILL_MS = 1_000
/** After this an endpoint that still has something to send waits behind the others. */
const TURN_MS = 10_000

const MINUTE_MS = 60_000
/** The pauses after the first attempts; the last one repeats. */
const PAUSES_MS = [
  5_000,
  30_000,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  60 * MINUTE_MS,
  120 * MINUTE_MS,
  240 * MINUTE_MS,
]

/** Up to a quarter is added or taken, so that many deliveries do not come back together. */
export function pauseAfter(attempts: number, random = Math.random()): number {
  const pause = PAUSES_MS[Math.min(attempts, PAUSES_MS.length) - 1] ?? 0
  return Math.round(pause * (0.75 + random / 2))
}

/**
 * Sends what is due to an endpoint whose lease this process holds, and gives the lease back. A change of the URL, the secrets or `enabled` applies from
 * the next look at what is due. An attempt that hangs delays no other payment, and an endpoint with much to send no other endpoint.
 * @returns when something is due again, as far as was seen here
 */
export async function deliverTo(
  sender: WebhookSender,
  { id, accountId }: Pick<WebhookTarget, 'id' | 'accountId'>,
): Promise<number> {
  const { db, holder, now, signal, turnMs = TURN_MS } = sender
  let dueAt = Infinity
  // Without the lease another process sends; this one stops before the next request.
  let leasedUntil = performance.now() + LEASE_S * 1_000
  const extend = async () => {
    const requestedAt = performance.now()
    leasedUntil = (await extendWebhook(db, id, holder)) ? requestedAt + LEASE_S * 1_000 : 0
  }
  const isLeased = () => !signal.aborted && performance.now() < leasedUntil
  const attempts = new Attempts()
  const attempt = async (target: WebhookTarget, delivery: WebhookDelivery) => {
    const ended = isLeased() ? await deliver(sender, target, delivery) : undefined
    if (ended === undefined) leasedUntil = 0
    else if (ended.state === 'pending') dueAt = Math.min(dueAt, ended.nextAttemptAt.getTime())
  }
  const endsAt = performance.now() + turnMs
  const sendDue = async () => {
    while (isLeased() && !attempts.failed) {
      if (performance.now() > endsAt) {
        dueAt = Math.min(dueAt, now().getTime())
        return
      }
      const batch = await writeDeliveries(db, { id, accountId, holder, now: now() })
      if (!batch) return
      const limit = AT_ONCE - attempts.size
      const due = await readDue(db, { id, now: now(), limit, without: attempts.ids })
      for (const delivery of due) attempts.start(delivery.id, attempt(batch.target, delivery))
      await attempts.wait(AT_ONCE)
      if (!batch.more && due.length === 0 && attempts.size === 0) return
    }
  }
  // The lease is not given back where an attempt failed for a reason of ours: it is tried again when the lease ends.
  await whileBeating(extend, () => sendDue().finally(() => attempts.end()))
  attempts.throwFailure()
  await releaseWebhook(db, id, holder)
  return dueAt
}

/** The attempts that are under way, by the ids of their deliveries. */
class Attempts {
  failed = false
  #failure: unknown
  readonly #running = new Map<string, Promise<void>>()

  get size(): number {
    return this.#running.size
  }

  get ids(): string[] {
    return [...this.#running.keys()]
  }

  start(id: string, attempt: Promise<void>): void {
    const ended = attempt
      .catch((error: unknown) => {
        this.failed = true
        this.#failure ??= error
      })
      .finally(() => this.#running.delete(id))
    this.#running.set(id, ended)
  }

  /** Until all have ended. What takes longer than others is not waited for, as long as less than `most` are under way. */
  async wait(most: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, REFILL_MS)))
    await Promise.race([this.end(), late])
    clearTimeout(timer)
    if (this.size >= most) await Promise.race(this.#running.values())
  }

  async end(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  /** @throws what an attempt threw first */
  throwFailure(): void {
    if (this.failed) throw this.#failure
  }
}

/** One attempt. @returns what is due next; undefined when the lease was lost meanwhile */
async function deliver(
  sender: WebhookSender,
  target: WebhookTarget,
  delivery: WebhookDelivery,
): Promise<Pick<WebhookDelivery, 'state' | 'nextAttemptAt'> | undefined> {
  const { db, holder, now } = sender
  const startedAt = performance.now()
  // What was sent once is sent again as it was.
  const body = delivery.body ?? (await writeBody(sender, delivery))
  const answer = await post(sender, target, { id: delivery.id, body })
  const at = now()
  const ok =
    answer.responseStatus !== null && answer.responseStatus >= 200 && answer.responseStatus < 300
  const nextAttemptAt = new Date(at.getTime() + pauseAfter(delivery.attempts + 1))
  const attempt: WebhookAttempt = {
    ...answer,
    failure: ok ? null : (answer.failure ?? 'status'),
    state: ok ? 'delivered' : nextAttemptAt > delivery.retryUntil ? 'dead' : 'pending',
    nextAttemptAt,
    body,
    lastAttemptAt: at,
    durationMs: Math.round(performance.now() - startedAt),
  }
  return await writeAttempt(db, delivery, { holder, attempt })
}

async function writeBody(
  { db, readPayment }: WebhookSender,
  delivery: WebhookDelivery,
): Promise<string> {
  const { type, number, previous, createdAt } = delivery
  const message: v.InferInput<typeof WebhookMessage> = {
    type,
    timestamp: createdAt.toISOString(),
    cursor: number === null ? null : String(number),
    previous: previous === null ? null : String(previous),
    data: number === null ? null : await readData(db, number, readPayment),
  }
  return stringifyJson(message)
}

async function readData(db: Database, number: bigint, readPayment: ReadPayment) {
  return await toMessage(db, await readEvent(db, number), readPayment)
}

type Answered = Pick<WebhookAttempt, 'responseStatus' | 'responseBody' | 'failure'>

async function post(
  { signer, config, log, now, attemptMs = ATTEMPT_MS }: WebhookSender,
  { id, url, accountId, secrets }: WebhookTarget,
  message: { id: string; body: string },
): Promise<Answered> {
  const at = now()
  const valid = secrets.filter(({ expiresAt }) => expiresAt === null || expiresAt > at.getTime())
  const keys = valid.map((secret) => ({ ...secret, accountId }))
  const headers = {
    'content-type': 'application/json',
    ...(await signMessage(signer, keys, { ...message, at })),
  }
  try {
    const answer = await exchange(
      { method: 'POST', url: new URL(url), headers, body: new TextEncoder().encode(message.body) },
      {
        timeoutMs: attemptMs,
        maxBytes: MAX_ANSWER_BYTES,
        loopback: config.webhookLoopback ?? false,
      },
    )
    return { responseStatus: answer.status, responseBody: readText(answer), failure: null }
  } catch (error) {
    if (!(error instanceof EgressError)) throw error
    log.debug({ err: error, webhook: id }, 'a webhook was not delivered')
    const refused = error instanceof EgressRefusedError
    return {
      responseStatus: null,
      responseBody: null,
      failure: refused ? 'address_refused' : 'no_answer',
    }
  }
}

/** The start of an answer; Postgres text holds no null character. */
function readText({ body }: ExternalResponse): string {
  return new TextDecoder().decode(body.subarray(0, MAX_LOGGED)).replaceAll('\0', '\ufffd')
}

/**
 * The headers of a message under the scheme of Standard Webhooks: one signature for each secret that is valid, so that a receiver may have either.
 * Secrets stay in the signer.
 */
export async function signMessage(
  signer: Pick<Signer, 'mac'>,
  keys: readonly SealedKey[],
  { id, at, body }: { id: string; at: Date; body: string },
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const message = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const macs = await Promise.all(keys.map((key) => signer.mac({ key, message })))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': macs.map((mac) => `v1,${Buffer.from(mac).toString('base64')}`).join(' '),
  }
}

/** NOTIFY on this channel means: endpoints changed, or have something to send. Rows are the truth. */
export const WEBHOOK_CHANNEL = 'service_webhook'

/** Call it after the change is committed. */
export async function announceWebhooks(db: Database): Promise<void> {
  await db.execute(sql`select pg_notify(${WEBHOOK_CHANNEL}, '')`)
}
