import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { createId } from '#contract/id.ts'
import type { PaymentStatus } from '#contract/payment.ts'
import { openDatabase } from '#postgres/open.ts'
import { ApiClient, succeed, textAt } from '#testing/api-client.ts'
import { DEAF_NETWORKS } from '#testing/fixture.ts'
import { createTestDatabase, databaseVariables } from '#testing/postgres.ts'
import { createTestKey, insertTestPayment } from '#testing/service-app.ts'
import { eventually } from '#testing/service-context.ts'
import { startServiceProcess, type ServiceProcess } from '#testing/service-process.ts'
import { WebhookReceiver, type ReceivedWebhook } from '#testing/webhook-receiver.ts'
import { SERVICE_SCHEMA } from '../db/migrations-folder.ts'
import { recordEvent } from '../db/record-event.ts'

const STATUSES: readonly PaymentStatus[] = ['created', 'pending', 'confirmed', 'finalized']
const KILLS = 3
const PAYMENTS = 40

test(
  'senders that are killed while they deliver: 0 lost, 0 out of order, and what comes twice has its id',
  { timeout: 240_000 },
  async () => {
    await using database = await createTestDatabase('postgres')
    await using opened = await openDatabase(database.target, SERVICE_SCHEMA)
    await using receiver = await WebhookReceiver.start()
    await using running = new AsyncDisposableStack()
    const env = {
      ...databaseVariables(database.target),
      NETWORKS: JSON.stringify(DEAF_NETWORKS),
      WEBHOOK_LOOPBACK: '1',
    }
    const start = async (): Promise<ServiceProcess> => running.use(await startServiceProcess(env))
    const { accountId, key } = await createTestKey(opened.db)
    let service = await start()
    const created = succeed(
      await new ApiClient(service.url, key).post('/webhooks', { url: receiver.url }),
    )
    const secret = new Webhook(textAt(created.body, 'secret'))
    const ids: string[] = []

    /** Payments that pass through all statuses, all at once. */
    async function write(): Promise<void> {
      const fresh = Array.from({ length: PAYMENTS }, () => createId('pay'))
      for (const id of fresh)
        await insertTestPayment(opened.db, { id, accountId, network: 'eip155:31337' })
      await Promise.all(
        fresh.map(async (paymentId) => {
          for (const status of STATUSES)
            await opened.db.transaction((tx) =>
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
      ids.push(...fresh)
    }

    for (let kill = 0; kill < KILLS; kill++) {
      // Some are answered, then none: the sender dies while requests are open.
      const until = receiver.received.length + PAYMENTS
      receiver.answer = () => (receiver.received.length < until ? 200 : 'hang')
      const hanging = new Promise<void>((resolve) => {
        receiver.onReceived = () => {
          if (receiver.received.at(-1)?.status === 0) resolve()
        }
      })
      await write()
      await hanging
      await service.kill()
      receiver.answer = () => 200
      service = await start()
    }
    // The last events are sent by two processes that share the work.
    await start()
    await write()
    const wanted = ids.length * STATUSES.length
    const countAccepted = async () => new Set(receiver.accepted.map(({ id }) => id)).size
    await eventually(countAccepted, (count) => count >= wanted)

    const firstOf = new Map<string, ReceivedWebhook>()
    for (const webhook of receiver.accepted)
      if (!firstOf.has(webhook.id)) firstOf.set(webhook.id, webhook)
    expect(firstOf.size).toBe(wanted)
    for (const id of ids)
      expect(
        [...firstOf.values()].filter(({ paymentId }) => paymentId === id).map(({ type }) => type),
      ).toEqual(STATUSES.map((status) => `payment.${status}`))
    // Some were under way when their sender died: they came again, with their id.
    expect(receiver.received.length).toBeGreaterThan(wanted)
    for (const { body, headers } of receiver.received)
      expect(() => secret.verify(body, headers as Record<string, string>)).not.toThrow()
    let previous: string | null = null
    for (const webhook of [...firstOf.values()].toSorted(
      (a, b) => Number(a.cursor) - Number(b.cursor),
    )) {
      expect(webhook.previous).toBe(previous)
      previous = webhook.cursor
    }
  },
)
