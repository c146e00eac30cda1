import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { count, max, sql } from 'drizzle-orm'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { createId, type PaymentStatus } from '#contract/payment.ts'
import { openDatabase, type Database, type DatabaseTarget } from '#postgres/open.ts'
import { openSigner } from '#signer/client.ts'
import { ApiClient, succeed, textAt } from '#testing/api-client.ts'
import { OFFLINE_NETWORKS } from '#testing/fixture.ts'
import { createTestDatabase, databaseVariables, executeAsOwner } from '#testing/postgres.ts'
import { createTestKey, insertTestPayment } from '#testing/service-app.ts'
import { eventually } from '#testing/service-context.ts'
import { startServiceProcess, type ServiceProcess } from '#testing/service-process.ts'
import {
  WebhookReceiver,
  type ReceivedWebhook,
  type ReceiverMode,
} from '#testing/webhook-receiver.ts'
import { SERVICE_SCHEMA } from '../db/migrations-folder.ts'
import { recordEvent } from '../db/record-event.ts'
import { webhookDelivery } from '../db/schema/webhook.ts'
import { announceWebhooks } from './deliver.ts'

const STATUSES: readonly PaymentStatus[] = ['created', 'pending', 'confirmed', 'finalized']
const TYPES = STATUSES.map((status) => `payment.${status}`)
const SENDERS = 3
/** In each round all senders but one are killed, so that one takes over and the others come back. */
const KILLED_AT_ONCE = SENDERS - 1
const MODES: readonly (ReceiverMode | 'refuse')[] = [200, 500, 'hang', 'refuse']
const ROUNDS = 6
/** The round in which the receiver stays away for a day. */
const DAY_IN_ROUND = 3
const PAYMENTS = 10
/** With several, several processes send at once: each endpoint is served by one of them. */
const ENDPOINTS = 3
/** Attempts of a round before its kills: there is more to send, so requests are open. */
const ATTEMPTS = 8

test(
  'senders that are killed 12 times, and a receiver that fails, hangs and is away for a day: 0 lost, 0 out of order per payment, and what comes twice has its id',
  { timeout: 300_000 },
  async () => {
    await using database = await createTestDatabase('postgres', 'service')
    await using opened = await openDatabase(database.target, SERVICE_SCHEMA)
    const { db } = opened
    const here = { target: database.target, db }
    await using receiver = await WebhookReceiver.start()
    await using running = new AsyncDisposableStack()
    // The senders find it and start none: half of the work of each start.
    const folder = mkdtempSync(join(tmpdir(), 'paydesk-senders-'))
    running.defer(() => rmSync(folder, { recursive: true, force: true }))
    const VAULT_KEY_FILE = join(folder, 'vault.key')
    running.use(await openSigner({ env: { VAULT_KEY_FILE } }))
    const env = {
      VAULT_KEY_FILE,
      ...databaseVariables(database.target),
      NETWORKS: JSON.stringify(OFFLINE_NETWORKS),
      WEBHOOK_LOOPBACK: '1',
    }
    const start = async (): Promise<ServiceProcess> => running.use(await startServiceProcess(env))
    const { accountId, key } = await createTestKey(db)
    const senders = await Promise.all(Array.from({ length: SENDERS }, start))
    const secrets = new Map<string, Webhook>()
    for (let endpoint = 0; endpoint < ENDPOINTS; endpoint++) {
      const url = `${receiver.url}/${endpoint}`
      const created = await new ApiClient(senders[0]!.url, key).post('/webhooks', { url })
      secrets.set(new URL(url).pathname, new Webhook(textAt(succeed(created).body, 'secret')))
    }
    const ids: string[] = []
    const signals: (NodeJS.Signals | null)[] = []

    for (let round = 0; round < ROUNDS; round++) {
      const mode = MODES[round % MODES.length] ?? 200
      const attempted = await countAttempts()
      if (mode === 'refuse') await receiver.close()
      else receiver.answer = () => mode
      await letHoursPass(here, 1)
      ids.push(...(await passThroughAll(db, accountId)))
      await eventually(countAttempts, (attempts) => attempts >= attempted + ATTEMPTS)
      const victims = Array.from(
        { length: KILLED_AT_ONCE },
        (_, index) => (round + index) % SENDERS,
      )
      for (const index of victims) {
        const victim = senders[index]!
        await victim.kill()
        signals.push(await victim.ended)
      }
      const replaced = Promise.all(victims.map(async (index) => (senders[index] = await start())))
      if (round === DAY_IN_ROUND) await letDayPass(here)
      await replaced
      // A receiver that comes back has lost the requests that it left hanging.
      if (mode === 'hang') await receiver.close()
      if (mode === 'hang' || mode === 'refuse') await receiver.open()
    }

    /** Attempts that came to the receiver, whatever became of them, or found nobody there. */
    async function countAttempts(): Promise<number> {
      const [row] = await db
        .select({ written: sql<number>`coalesce(sum(attempts), 0)::int` })
        .from(webhookDelivery)
      return receiver.received.length + (row?.written ?? 0)
    }

    receiver.answer = () => 200
    const wanted = ids.length * TYPES.length
    const isComplete = () =>
      [...secrets.keys()].every(
        (path) =>
          new Set(receiver.accepted.filter((one) => one.path === path).map(({ id }) => id)).size >=
          wanted,
      )
    // An attempt that failed just now has its next one in some hours.
    for (let hour = 0; hour < 12 && !isComplete(); hour++) {
      await letHoursPass(here, 1)
      await delay(1_000)
    }
    await eventually(
      async () => pendingOf(db),
      (pending) => pending === 0,
    )

    expect(signals).toEqual(Array.from({ length: ROUNDS * KILLED_AT_ONCE }, () => 'SIGKILL'))
    expect(new Set(receiver.received.map(({ status }) => status))).toEqual(new Set([200, 500, 0]))
    for (const [path, secret] of secrets) {
      const received = receiver.received.filter((one) => one.path === path)
      expectWhole(received, ids)
      for (const { body, headers } of received)
        expect(() => secret.verify(body, headers as Record<string, string>)).not.toThrow()
    }
    // Some were taken by the receiver when their sender died: they came again.
    const distinct = new Set(receiver.accepted.map(({ path, id }) => `${path} ${id}`)).size
    expect(distinct).toBe(wanted * ENDPOINTS)
    expect(receiver.accepted.length).toBeGreaterThan(distinct)
  },
)

type Opened = { target: DatabaseTarget; db: Database }

/** Payments that pass through all statuses, all at once. */
async function passThroughAll(db: Database, accountId: string): Promise<string[]> {
  const ids = Array.from({ length: PAYMENTS }, () => createId('pay'))
  for (const id of ids) await insertTestPayment(db, { id, accountId, network: 'eip155:31337' })
  await Promise.all(
    ids.map(async (paymentId) => {
      for (const status of STATUSES)
        await db.transaction((tx) =>
          recordEvent(tx, {
            accountId,
            paymentId,
            status,
            source: 'watcher',
            blockHeight: null,
            at: new Date(),
          }),
        )
    }),
  )
  return ids
}

/** To the senders, every delivery is older by this. They are told as after a change of an endpoint: they would look for themselves within 15 s. */
async function letHoursPass({ target, db }: Opened, hours: number): Promise<void> {
  const passed = `interval '${hours} hours'`
  // The senders' own role may not change when a delivery was made. They take its rows in another order, so it waits for them to end theirs.
  await executeAsOwner(
    { target, db },
    `begin; lock table service.webhook_delivery in exclusive mode;
    update service.webhook_delivery set created_at = created_at - ${passed},
      next_attempt_at = next_attempt_at - ${passed}, retry_until = retry_until - ${passed};
    commit`,
  )
  await announceWebhooks(db)
}

/** Hour by hour: what is due is attempted before the next one, as on a real day. */
async function letDayPass(opened: Opened): Promise<void> {
  const { db } = opened
  const due = sql`state = 'pending' and next_attempt_at <= now() and not exists (
    select from service.webhook_delivery earlier where earlier.endpoint_id = webhook_delivery.endpoint_id
      and earlier.payment_id = webhook_delivery.payment_id and earlier.state = 'pending' and earlier.number < webhook_delivery.number)`
  for (let hour = 0; hour < 24; hour++) {
    await letHoursPass(opened, 1)
    await eventually(
      () => db.$count(webhookDelivery, due),
      (deliveries) => deliveries === 0,
    )
  }
  const [most] = await db.select({ attempts: max(webhookDelivery.attempts) }).from(webhookDelivery)
  expect(most?.attempts).toBeGreaterThan(7)
}

async function pendingOf(db: Database): Promise<number> {
  const [row] = await db
    .select({ pending: count() })
    .from(webhookDelivery)
    .where(sql`state <> 'delivered'`)
  return row?.pending ?? 0
}

/** What a receiver relies on, of one endpoint: all that came to it, in the order in which it came. */
function expectWhole(received: readonly ReceivedWebhook[], payments: readonly string[]): void {
  const first = new Map<string, ReceivedWebhook>()
  const idsOf = new Map<string, Set<string>>()
  const early: string[] = []
  for (const webhook of received) {
    const { id, paymentId, type, status } = webhook
    const before = TYPES.slice(0, TYPES.indexOf(type))
    const taken = new Set(
      [...first.values()].filter((one) => one.paymentId === paymentId).map((one) => one.type),
    )
    // Not even tried before those before it were taken.
    if (!before.every((one) => taken.has(one))) early.push(`${paymentId} ${type}`)
    const event = `${paymentId} ${type}`
    idsOf.set(event, (idsOf.get(event) ?? new Set()).add(id))
    if (status === 200 && !first.has(id)) first.set(id, webhook)
  }
  expect(early).toEqual([])
  expect([...idsOf].filter(([, { size }]) => size > 1)).toEqual([])
  const taken = [...first.values()]
  for (const id of payments)
    expect(taken.filter(({ paymentId }) => paymentId === id).map(({ type }) => type)).toEqual(TYPES)
  expect(taken).toHaveLength(payments.length * TYPES.length)
  let previous: string | null = null
  for (const webhook of taken.toSorted((a, b) => Number(a.cursor) - Number(b.cursor))) {
    expect(webhook.previous).toBe(previous)
    previous = webhook.cursor
  }
}
