import { sql } from 'drizzle-orm'
import { bigint, index, integer, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import type { Plan, Scope } from '#contract/api-key-body.ts'
import type { StatusClass, UsagePeriod } from '#contract/usage.ts'
import { at, service } from './columns.ts'

export const account = service.table('account', {
  id: text().primaryKey(),
  name: text().notNull(),
  /** The most that a key of this account may have. */
  plan: text().$type<Plan>().notNull(),
  /** What its plan permits; null for everything. */
  scopes: text().array().$type<Scope[]>(),
  /** Base URLs of the facilitators that it may have payments verified by; null for all that the operator allows. */
  facilitators: text().array(),
  createdAt: at('created_at').notNull().defaultNow(),
})

export const apiKey = service.table(
  'api_key',
  {
    id: text().primaryKey(),
    accountId: text()
      .notNull()
      .references(() => account.id),
    name: text().notNull(),
    /** SHA-256 of the whole key, hex: the look-up itself. The key has 238 random bits, so no salt or slow hash is needed. */
    hash: text().notNull(),
    hint: text().notNull(),
    scopes: text().array().$type<Scope[]>().notNull(),
    plan: text().$type<Plan>().notNull(),
    /** In place of the plan's quota. */
    requestsPerMinute: integer(),
    createdAt: at('created_at').notNull().defaultNow(),
    lastUsedAt: at('last_used_at'),
    expiresAt: at('expires_at'),
    revokedAt: at('revoked_at'),
    /** Its successor, once it was rotated; a key is rotated once. */
    replacedBy: text(),
  },
  (t) => [uniqueIndex('api_key_hash').on(t.hash), index('api_key_account').on(t.accountId)],
)

/** How many requests a key made of an endpoint, by minute, hour and day of their answers, UTC. Counted in memory, added up here. */
export const usage = service.table(
  'usage',
  {
    keyId: text().notNull(),
    period: text().$type<UsagePeriod>().notNull(),
    startsAt: at('starts_at').notNull(),
    endpoint: text().notNull(),
    statusClass: text().$type<StatusClass>().notNull(),
    requests: bigint({ mode: 'number' }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.keyId, t.period, t.startsAt, t.endpoint, t.statusClass] }),
    index('usage_age').on(t.period, t.startsAt),
  ],
)

/**
 * What a key asked and was answered, for some days. Written in batches after the response; text that
 * the endpoint's schemas do not mark as shown is not here.
 */
export const requestLog = service.table(
  'request_log',
  {
    id: bigint({ mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    accountId: text().notNull(),
    keyId: text().notNull(),
    /** Of the response; the caller may have chosen it, so it is not unique. */
    requestId: text().notNull(),
    at: at('at').notNull(),
    method: text().notNull(),
    path: text().notNull(),
    endpoint: text().notNull(),
    status: integer().notNull(),
    /** Null for a success. */
    code: text(),
    durationMs: integer().notNull(),
    request: text(),
    response: text(),
    /** Requests of the key before this one that are not in the log. */
    skipped: integer().notNull(),
  },
  (t) => [
    index('request_log_account').on(t.accountId, t.at, t.id),
    index('request_log_key').on(t.accountId, t.keyId, t.at, t.id),
    index('request_log_error')
      .on(t.accountId, t.at, t.id)
      .where(sql`code is not null`),
    index('request_log_key_error')
      .on(t.accountId, t.keyId, t.at, t.id)
      .where(sql`code is not null`),
    index('request_log_request').on(t.accountId, t.requestId),
    index('request_log_age').on(t.at),
  ],
)

/**
 * What was leased to processes out of one limit. `tokens[n]` requests were charged in the slot `slots[n]`, a count of `SLOT_MS` since 1970 by the
 * database's clock. Only the function `service.lease_tokens` writes here.
 */
export const tokenPool = service.table('token_pool', {
  name: text().primaryKey(),
  slots: bigint({ mode: 'number' }).array().notNull(),
  tokens: integer().array().notNull(),
  /** When its last charge ends: the row says nothing any more. */
  emptyAt: at('empty_at').notNull(),
})

/** Open WebSocket connections of all processes, for the plan's limit. A process that died leaves rows whose lease ends. */
export const socket = service.table(
  'socket',
  {
    id: text().primaryKey(),
    keyId: text().notNull(),
    leaseUntil: at('lease_until').notNull(),
  },
  (t) => [index('socket_key').on(t.keyId, t.leaseUntil)],
)

export const idempotency = service.table(
  'idempotency',
  {
    accountId: text().notNull(),
    key: text().notNull(),
    /** SHA-256 over endpoint and body: another request under the same key is a conflict. */
    fingerprint: text().notNull(),
    /** Null while the first request runs. */
    status: integer(),
    body: text(),
    /** A request that died releases its key then. */
    leaseUntil: at('lease_until').notNull(),
    createdAt: at('created_at').notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.key] }),
    index('idempotency_created').on(t.createdAt),
  ],
)
