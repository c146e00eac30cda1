import { sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, jsonb, primaryKey, text } from 'drizzle-orm/pg-core'
import type { WebhookFailure, WebhookState, WebhookType } from '#contract/webhook-endpoints.ts'
import type { SealedKey } from '#signer/protocol.ts'
import { account } from './access.ts'
import { at, service } from './columns.ts'

/** A secret of an endpoint, sealed; until when it signs, null without an end. */
export type WebhookSecret = Omit<SealedKey, 'accountId'> & { expiresAt: number | null }

/** Where a merchant's server takes events of its account. */
export const webhookEndpoint = service.table(
  'webhook_endpoint',
  {
    id: text().primaryKey(),
    accountId: text()
      .notNull()
      .references(() => account.id),
    url: text().notNull(),
    /** Which types of event it takes; all when empty. */
    events: text().array().$type<WebhookType[]>().notNull(),
    enabled: boolean().notNull().default(true),
    /** One, or two while they are rotated. */
    secrets: jsonb().$type<WebhookSecret[]>().notNull(),
    /** The number of the newest event that has its delivery, or needs none. */
    cursor: bigint({ mode: 'bigint' }).notNull(),
    /** The process that sends to it, and until when the others leave it alone. */
    holder: text(),
    leaseUntil: at('lease_until'),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [index('webhook_endpoint_account').on(t.accountId, t.createdAt)],
)

/** One row for each endpoint and event: what is to be sent, and what was answered last. */
export const webhookDelivery = service.table(
  'webhook_delivery',
  {
    endpointId: text()
      .notNull()
      .references(() => webhookEndpoint.id, { onDelete: 'cascade' }),
    /** `webhook-id`: the same with every attempt. */
    id: text().notNull(),
    /** Of the event; null for a test. */
    number: bigint({ mode: 'bigint' }),
    /** The number of the delivery before it; null for the first one, and for a test. */
    previous: bigint({ mode: 'bigint' }),
    /** For a test: its own id. Deliveries of one payment are in order. */
    paymentId: text().notNull(),
    type: text().$type<WebhookType | 'test'>().notNull(),
    state: text().$type<WebhookState>().notNull().default('pending'),
    attempts: integer().notNull().default(0),
    nextAttemptAt: at('next_attempt_at').notNull(),
    /** No attempt is scheduled after it. */
    retryUntil: at('retry_until').notNull(),
    body: text(),
    lastAttemptAt: at('last_attempt_at'),
    durationMs: integer(),
    responseStatus: integer(),
    responseBody: text(),
    failure: text().$type<WebhookFailure>(),
    createdAt: at('created_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.endpointId, t.id] }),
    index('webhook_delivery_number').on(t.endpointId, t.number),
    index('webhook_delivery_created').on(t.endpointId, t.createdAt, t.id),
    // What the log forgets: nothing that waits.
    index('webhook_delivery_age')
      .on(t.createdAt)
      .where(sql`state <> 'pending'`),
    index('webhook_delivery_due')
      .on(t.endpointId, t.nextAttemptAt, t.number)
      .where(sql`state = 'pending'`),
    index('webhook_delivery_dead')
      .on(t.endpointId, t.createdAt)
      .where(sql`state = 'dead'`),
    index('webhook_delivery_waiting')
      .on(t.endpointId, t.paymentId, t.number)
      .where(sql`state = 'pending'`),
  ],
)
