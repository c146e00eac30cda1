import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as v from 'valibot'
import { endpoints } from '#contract/endpoints.ts'
import { createId } from '#contract/payment.ts'
import { EVENT_KINDS } from '#contract/event.ts'
import { NATIVE_ETH } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import { openAccount, openContext, type OpenedContext } from '#testing/service-context.ts'
import type { Actor, Context } from '../context/context.ts'
import { listEvents } from '../events/list.ts'
import { readEvents } from '../events/read.ts'
import { attribute } from '../payments/attribution.ts'
import { readUndelivered } from '../payments/undelivered.ts'
import { sweep } from '../service.ts'
import { readRequests } from '../usage/read-requests.ts'
import { deleteWebhook } from '../webhooks/endpoints.ts'
import { redeliver } from '../webhooks/deliveries.ts'
import { idempotency, requestLog } from './schema/access.ts'
import { webhookDelivery } from './schema/webhook.ts'
import {
  findExpiredHeight,
  findExpiredPayers,
  findExpiredWith,
  findPayment,
  readMonitored,
} from './payments.ts'
import { reserveVerified } from './reservations.ts'
import { requireBudget } from './settlement-fees.ts'
import { findFitting } from './unmatched.ts'
import { readDue as readDueWallets } from './wallet-ledger.ts'
import { leaseWebhook, readDue, releaseWebhook, writeAttempt, writeDeliveries } from './webhooks.ts'

/** What a request reads depends on what it shows, not on what the account or the others have beside it; what is removed is removed in parts. */

const OTHERS = 20_000
const PAYMENTS = 1_000
const STATUSES = ['created', 'pending', 'confirmed', 'finalized']
const MERCHANTS = 1_000
const NETWORK = 'eip155:31337'
const QUIET = '0x00000000000000000000000000000000000A11CE'
const KEY = createId('key')
const HOUR_MS = 3_600_000

let opened: OpenedContext
let context: Context
let db: Database
/** Has all the events, transfers and requests. */
let busy: Actor
/** Has a few of what the others have many of. */
let small: Actor

beforeAll(async () => {
  opened = await openContext([], { engine: 'postgres' })
  ;({ context, actor: busy } = opened)
  ;({ db } = context)
  busy = { ...busy, scopes: new Set(['payment:read']) }
  small = { ...(await openAccount(context)), scopes: new Set(['payment:read']) }
  const facts = sql`'local', 'finalized', ${NETWORK}, ${NATIVE_ETH.address}, 'ETH', 18`
  await db.execute(sql`
    insert into service.payment (id, account_id, mode, status, network, asset, symbol, decimals, amount, sender, recipient, built_height)
    select 'pay_busy' || n, ${busy.accountId}, ${facts}, n, case when n <= 2 then ${QUIET} else '0xsender' || n end, '0xshop', 1 from generate_series(1, ${sql.raw(String(OTHERS))}) n
    union all select 'pay_small' || n, ${small.accountId}, ${facts}, n, '0xsender', '0xshop', 1 from generate_series(1, 5000) n`)
  await db.execute(sql`
    insert into service.event (number, account_id, payment_id, status, source)
    select n, ${busy.accountId}, 'pay_busy' || n, 'finalized', 'watcher' from generate_series(1, ${sql.raw(String(OTHERS))}) n`)
  await db.execute(sql`
    insert into service.claim (scope, exclusive, network, key, account_id, fingerprint, attempt, lease_until, payment_id, consumed_at)
    select account_id, false, ${NETWORK}, id, account_id, '', case when account_id = ${busy.accountId} or id in ('pay_small1', 'pay_small2', 'pay_small3') then 'gone' else 'granted' end, now() - interval '1 hour', id, now() from service.payment`)
  await db.execute(sql`
    insert into service.unmatched_transfer (id, account_id, network, signature, sender, recipient, asset, symbol, decimals, amount, block_height)
    select 'umt_' || n, ${busy.accountId}, ${NETWORK}, '0x' || n, case when n = 1 then ${QUIET} else '0xpayer' || n % 5000 end, '0xshop', ${NATIVE_ETH.address}, 'ETH', 18, n, 2
    from generate_series(1, ${sql.raw(String(OTHERS))}) n`)
  await db.execute(sql`
    insert into service.request_log (account_id, key_id, request_id, at, method, path, endpoint, status, code, duration_ms, skipped)
    select ${busy.accountId}, case when n % 2 = 0 then ${KEY} else 'another' end, 'r', now() - make_interval(secs => n), 'GET', '/usage', 'usage', 200,
      case when n % 2 = 1 or n % 10000 = 0 then 'RATE_LIMIT' end, 1, 0 from generate_series(1, ${sql.raw(String(OTHERS))}) n`)
  await asOwner('vacuum analyze')
})
afterAll(() => opened?.[Symbol.asyncDispose]())

const asOwner = (statement: string) =>
  executeAsOwner({ target: context.config.database, db }, statement)

const Read = v.object({ rows: v.pipe(v.string(), v.transform(Number)) })

/** What an action answers, and how many rows of the service's tables it reads. */
async function countRead<T>(
  ask: (tx: Database) => Promise<T>,
): Promise<{ answer: T; read: number }> {
  return db.transaction(async (tx) => {
    const rowsRead = async () => {
      const { rows } = await tx.execute(sql`
        select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as rows from pg_stat_xact_user_tables where schemaname = 'service'`)
      return v.parse(Read, rows[0]).rows
    }
    const before = await rowsRead()
    const answer = await ask(tx)
    return { answer, read: (await rowsRead()) - before }
  })
}

/** The blocks of tables and indexes that an action reads: what an index is searched for counts too, where rows do not show it. */
async function countBlocks(ask: (tx: Database) => Promise<unknown>): Promise<number> {
  const blocksRead = async () => {
    const { rows } = await db.execute(sql`
      select sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read) as rows from pg_statio_user_tables where schemaname = 'service'`)
    return v.parse(Read, rows[0]).rows
  }
  const run = (work: (tx: Database) => Promise<unknown>) =>
    db.transaction(async (tx) => {
      await work(tx)
      await tx.execute(sql`select pg_stat_force_next_flush()`)
    })
  // What was read before on this connection, the only one that is in use, is told first.
  await run(async () => {})
  const before = await blocksRead()
  await run(ask)
  return (await blocksRead()) - before
}

test('a round of a watcher reads what may change and what a transfer fits, however many drafts have expired', async () => {
  const network = 'eip155:8453'
  const [now, since] = [sql`now() - make_interval(secs => n)`, new Date(Date.now() - HOUR_MS * 25)]
  const terms = sql`'local', 'expired', ${network}, ${NATIVE_ETH.address}, 'ETH', 18, 7, '0xrich', '0xshop', 1`
  await db.execute(sql`
    insert into service.payment (id, account_id, mode, status, network, asset, symbol, decimals, amount, sender, recipient, built_height, draft, sender_verified, fingerprint, payer_nonce, expires_at)
    select 'pay_draft' || n, ${busy.accountId}, ${terms}, true, false, '0:' || n, null::bigint, ${now} from generate_series(1, ${sql.raw(String(OTHERS))}) n
    union all select 'pay_proven' || n, ${busy.accountId}, ${terms}, true, n % 2 = 0, null, case when n % 2 = 1 then n end, now() - interval '20 hours' from generate_series(1, 2) n`)
  await asOwner('vacuum analyze service.payment')
  const transfer = {
    sender: '0xrich',
    recipient: '0xshop',
    asset: NATIVE_ETH.address,
    amountAtomic: 7n,
    fingerprint: `0:${OTHERS}`,
  }
  const { answer, read } = await countRead(async (tx) => ({
    followed: await readMonitored(tx, network),
    height: await findExpiredHeight(tx, network, since),
    payers: await findExpiredPayers(tx, network, since),
    late: await findExpiredWith(tx, { network, expiredSince: since }, [
      transfer,
      { ...transfer, sender: '0xanother' },
    ]),
  }))
  expect(answer).toMatchObject({ followed: [], height: 1, payers: undefined })
  const ids = answer.late.map(({ id }) => id)
  expect(ids).toEqual(expect.arrayContaining(['pay_proven1', 'pay_proven2', `pay_draft${OTHERS}`]))
  expect(ids).toHaveLength(51)
  expect(read).toBeLessThan(400)
})

test("the inbox of an account is read without the other accounts' undelivered payments", async () => {
  const page = v.parse(endpoints.undeliveredList.query, {})
  const { answer, read } = await countRead((tx) => readUndelivered({ db: tx }, small, page))
  expect(answer.total).toBe(3)
  expect(read).toBeLessThan(50)
})

test("one key's errors are read without its successes and the errors of other keys", async () => {
  const query = v.parse(endpoints.requestList.query, { keyId: KEY, result: 'error' })
  const { answer, read } = await countRead((tx) =>
    readRequests({ ...context, db: tx }, busy, query),
  )
  expect(answer.requests).toHaveLength(2)
  expect(read).toBeLessThan(20)
})

test('a transfer that fits an order is found among those of its payer', async () => {
  const { answer, read } = await countRead((tx) => findFitting(tx, ['pay_busy1', 'pay_busy2']))
  expect([...answer].map(([id, { signature }]) => [id, signature])).toEqual([['pay_busy1', '0x1']])
  expect(read).toBeLessThan(20)
})

test('an order is compared with what its payer may still pay, not with what it has paid', async () => {
  const terms = sql`${NETWORK}, ${NATIVE_ETH.address}, 'ETH', 18, 7, '0xbuyer', '0xpayee', 1`
  await db.execute(sql`
    insert into service.payment (id, account_id, mode, status, network, asset, symbol, decimals, amount, sender, recipient, built_height, sender_verified)
    select 'pay_received' || n, ${small.accountId}, 'received', 'finalized', ${terms}, true from generate_series(1, 5000) n
    union all select 'pay_bought' || n, ${small.accountId}, 'local', 'finalized', ${terms}, true from generate_series(1, 5000) n
    union all select 'pay_open', ${small.accountId}, 'local', 'created', ${terms}, true`)
  await asOwner('vacuum analyze service.payment')
  const row = await findPayment(db, 'pay_open')
  if (!row) throw new Error('There is no order.')
  const transfer = {
    sender: '0xbuyer',
    recipient: '0xpayee',
    asset: NATIVE_ETH.address,
    amountAtomic: 7n,
    memo: null,
    nonce: 0,
  }
  const seen = { transfer, signature: '0x7', block: { height: 2, blockTime: null } }
  const { answer, read } = await countRead((tx) => attribute(tx, row, seen))
  expect(answer).toBe('sender')
  expect(read).toBeLessThan(20)
})

test('managed wallets with something new are found without all that they ever sent', async () => {
  await db.execute(sql`
    insert into service.wallet (id, account_id, family, address, name, vault_key_id, wrapped_key, sealed_secret)
    select 'wal_' || n, ${small.accountId}, 'evm', '0xmanaged' || n, 'till', '', '', '' from generate_series(1, 5) n`)
  await db.execute(sql`
    insert into service.wallet_ledger (network, address, received, checked_at) select ${NETWORK}, '0xmanaged' || n, 0, now() from generate_series(1, 5) n`)
  await db.execute(sql`
    insert into service.payment (id, account_id, mode, status, network, asset, symbol, decimals, amount, sender, recipient, nonce, updated_at)
    select 'pay_hosted' || n, ${small.accountId}, 'hosted', 'finalized', ${NETWORK}, ${NATIVE_ETH.address}, 'ETH', 18, n, '0xmanaged' || n % 5 + 1, '0xshop', n,
      now() + case n when 1 then interval '1 s' else interval '-1 hour' end from generate_series(1, 5000) n`)
  await db.execute(sql`
    insert into service.attempt (payment_id, number, network, signer, signature, signed_transaction, nonce, max_fee, broadcast_at)
    select 'pay_busy' || n, 1, ${NETWORK}, '0xmanaged' || n % 5 + 1, '0xsigned' || n, '', n, 1,
      now() + case n when 3 then interval '1 s' else interval '-1 hour' end from generate_series(1, 5000) n`)
  await asOwner(
    'vacuum analyze service.payment, service.attempt, service.wallet, service.wallet_ledger',
  )
  const { answer, read } = await countRead((tx) =>
    readDueWallets(tx, { network: NETWORK, family: 'evm', everyMs: HOUR_MS }),
  )
  expect(answer.toSorted()).toEqual(['0xmanaged2', '0xmanaged4'])
  expect(read).toBeLessThan(50)
})

test('the network fees of a day are added up without those of other days', async () => {
  await db.execute(sql`
    insert into service.settlement_fee (payment_id, network, wallet, scope, reserved, paid, created_at)
    select 'pay_busy' || n, ${NETWORK}, '0xrelayer', ${busy.accountId}, 1, 1, now() - make_interval(hours => 12 * n) from generate_series(1, ${sql.raw(String(OTHERS))}) n`)
  await asOwner('vacuum analyze service.settlement_fee')
  const limits = { wallet: 9n, account: 9n, keyless: 9n }
  const spender = { network: NETWORK, wallet: '0xrelayer', accountId: busy.accountId }
  const ask = (feeAtomic: bigint) => (tx: Database) =>
    requireBudget(tx, { ...spender, feeAtomic, limits })
  const { read } = await countRead(ask(8n))
  expect(read).toBeLessThan(20)
  await expect(ask(9n)(db)).rejects.toMatchObject({ code: 'RATE_LIMIT' })
  const verify = (tx: Database) =>
    reserveVerified(tx, {
      ...spender,
      payer: '0xpayer',
      asset: NATIVE_ETH.address,
      key: 'message:1',
      amountAtomic: 1n,
      availableAtomic: 1n,
      height: 1,
      validBefore: BigInt(Math.floor(Date.now() / 1_000) + 60),
      payee: '0xshop',
      keyless: false,
      claimScope: busy.accountId,
      headS: 0n,
      validAfter: 0n,
      leastLeftS: 1n,
      feeAtomic: 8n,
      limits,
    })
  const verified = await countRead(verify)
  expect(verified.answer?.reserved).toBe(true)
  expect(verified.read).toBeLessThan(20)
})

test('a reader that follows a quiet wallet from long ago reads its payments, not all events of the account', async () => {
  const filter = { accountId: busy.accountId, kinds: [], wallets: [QUIET] }
  const answer = await readEvents(db, filter, 0n)
  expect(answer.map(({ paymentId }) => paymentId)).toEqual(['pay_busy1', 'pay_busy2'])
  expect(await countBlocks((tx) => readEvents(tx, filter, 0n))).toBeLessThan(100)
  const beside = await readEvents(db, { ...filter, kinds: ['refund_request'] }, 0n)
  expect(beside).toEqual(answer)
  const all = await readEvents(db, { ...filter, kinds: EVENT_KINDS }, 50n)
  expect(all.map(({ number }) => number)).toEqual(
    Array.from({ length: 100 }, (_, index) => BigInt(51 + index)),
  )
})

test('a reader that follows a busy wallet reads what is new, not all of its payments', async () => {
  const filter = { accountId: busy.accountId, kinds: [], wallets: ['0xshop'] }
  const { answer, read } = await countRead((tx) => readEvents(tx, filter, BigInt(OTHERS - 2)))
  expect(answer).toHaveLength(2)
  expect(read).toBeLessThan(50)
})

test('a page of events costs as many statements as one event', async () => {
  let statements = 0
  const starts = ['select', 'selectDistinctOn', 'execute', '$count']
  const counted = new Proxy(db, {
    get: (target, name: keyof Database) => {
      if (starts.includes(name)) statements++
      return target[name]
    },
  })
  const page = async (after: number) => {
    statements = 0
    const { events } = await listEvents({ ...context, db: counted }, busy, { after: String(after) })
    return { events: events.length, statements }
  }
  // What is read once in a process is known then.
  await page(0)
  const one = await page(OTHERS - 1)
  expect(one.events).toBe(1)
  expect(await page(0)).toEqual({ events: 100, statements: one.statements })
})

describe('webhooks', () => {
  const START = new Date('2026-06-01T00:00:00Z')
  const endpointId = 'whk_down'

  beforeAll(async () => {
    await db.execute(sql`
      insert into service.account (id, name, plan) select 'acc_m' || n, 'Merchant', 'premium' from generate_series(1, ${sql.raw(String(MERCHANTS))}) n`)
    await db.execute(sql`
      insert into service.webhook_endpoint (id, account_id, url, events, secrets, cursor)
      select 'whk_m' || n, 'acc_m' || n, 'https://shop.example', '{}'::text[], '[]'::jsonb, 0 from generate_series(1, ${sql.raw(String(MERCHANTS))}) n
      union all select ${endpointId}, ${small.accountId}, 'https://down.example', '{}'::text[], '[]'::jsonb, 0`)
    await db.execute(sql`
      insert into service.payment (id, account_id, mode, status, network, asset, symbol, decimals, amount, sender, recipient)
      select 'pay_sent' || n, ${small.accountId}, 'local', 'finalized', ${NETWORK}, ${NATIVE_ETH.address}, 'ETH', 18, n, 'a', 'b' from generate_series(1, ${sql.raw(String(PAYMENTS))}) n`)
    for (const [index, status] of STATUSES.entries())
      await db.execute(sql`
        insert into service.event (number, account_id, payment_id, status, source)
        select ${OTHERS + index * PAYMENTS}::bigint + n, ${small.accountId}, 'pay_sent' || n, ${status}, 'watcher' from generate_series(1, ${sql.raw(String(PAYMENTS))}) n`)
    await asOwner('vacuum analyze')
  })

  /** Attempts all that is due, as a sender does, at a receiver that is down. */
  async function attemptAll(now: Date): Promise<number> {
    const holder = 'the test'
    const lease = await leaseWebhook(db, { holder, now, accounts: [small.accountId] })
    expect(lease?.id).toBe(endpointId)
    const held = { id: endpointId, accountId: small.accountId, holder, now }
    while ((await writeDeliveries(db, held))?.more);
    let attempts = 0
    for (;;) {
      const due = await readDue(db, { ...held, limit: 100 })
      if (due.length === 0) break
      attempts += due.length
      await Promise.all(
        due.map((delivery) =>
          writeAttempt(db, delivery, {
            holder,
            attempt: {
              state: 'pending',
              nextAttemptAt: new Date(now.getTime() + HOUR_MS),
              body: '{}',
              lastAttemptAt: now,
              durationMs: 1,
              responseStatus: 503,
              responseBody: '',
              failure: 'status',
            },
          }),
        ),
      )
    }
    await releaseWebhook(db, endpointId, holder)
    return attempts
  }

  test("a receiver that is down delays no other one: what waits behind a payment's first delivery is not read", async () => {
    expect(await attemptAll(START)).toBe(PAYMENTS)
    await asOwner('vacuum analyze service.webhook_delivery')
    const soon = new Date(START.getTime() + HOUR_MS / 2)
    const lease = { holder: 'another', now: soon, accounts: [small.accountId] }
    const none = await countRead((tx) => leaseWebhook(tx, lease))
    expect(none.answer).toBeUndefined()
    expect(none.read).toBeLessThan(20)
    const due = (now: Date) => countRead((tx) => readDue(tx, { id: endpointId, now, limit: 16 }))
    expect(await due(soon)).toMatchObject({ answer: [], read: 0 })
    const again = await due(new Date(START.getTime() + HOUR_MS))
    expect(again.answer).toHaveLength(16)
    expect(again.read).toBeLessThan(100)
    expect(await attemptAll(new Date(START.getTime() + HOUR_MS))).toBe(PAYMENTS)
  })

  test('after events of some accounts the endpoints of the others are not read', async () => {
    const accounts = ['acc_m1', 'acc_m2']
    const { answer, read } = await countRead((tx) =>
      leaseWebhook(tx, { holder: 'another', now: START, accounts }),
    )
    expect(answer).toBeUndefined()
    expect(read).toBeLessThan(20)
  })

  test('a range is delivered again, and a webhook deleted with its log, some rows at a time', async () => {
    await refuseMoreThan(2_000, 'update')
    await refuseMoreThan(5_000, 'delete')
    await db.execute(sql`
      insert into service.webhook_delivery (endpoint_id, id, number, payment_id, type, state, next_attempt_at, retry_until, created_at)
      select ${endpointId}, 'evt_' || n, n, 'pay_busy' || n, 'payment.finalized', 'dead', ${START.toISOString()}::timestamptz, now(), ${START.toISOString()}::timestamptz - make_interval(secs => n)
      from generate_series(1, 10000) n`)
    const params = { id: endpointId }
    const again = (body: object) =>
      redeliver(context, small, {
        params,
        query: undefined,
        body: v.parse(endpoints.webhookRedeliver.body, body),
      })
    const since = START.getTime() - 8_000_000
    expect(await again({ since, until: START.getTime(), state: 'dead' })).toMatchObject({
      deliveries: 8_000,
    })
    expect(await again({ from: '1', to: String(OTHERS + 4 * PAYMENTS) })).toMatchObject({
      deliveries: 14_000,
    })
    const pending = eq(webhookDelivery.state, 'pending')
    expect(await db.$count(webhookDelivery, pending)).toBe(14_000)
    await deleteWebhook(context, small, endpointId)
    expect(await db.$count(webhookDelivery)).toBe(0)
  })

  /** Makes Postgres refuse a statement that changes more deliveries. */
  async function refuseMoreThan(most: number, what: 'update' | 'delete'): Promise<void> {
    await asOwner(`
      create function service.test_most_${what}() returns trigger language plpgsql as $$
      begin
        if (select count(*) from changed) > ${most} then raise exception 'more than ${most} rows at once'; end if;
        return null;
      end $$;
      create trigger test_most_${what} after ${what} on service.webhook_delivery
        referencing old table as changed for each statement execute function service.test_most_${what}()`)
  }
})

test('what cannot be removed keeps nothing else from being removed, and much is removed in parts', async () => {
  await asOwner(`
    create function service.test_refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger test_refuse before delete on service.idempotency execute function service.test_refuse()`)
  await db.execute(sql`
    insert into service.idempotency (account_id, key, fingerprint, lease_until, created_at)
    select ${small.accountId}, 'old' || n, '', now(), now() - interval '40 days' from generate_series(1, 12000) n`)
  await db.execute(sql`
    insert into service.request_log (account_id, key_id, request_id, at, method, path, endpoint, status, duration_ms, skipped)
    select ${small.accountId}, 'key', 'r', now() - interval '8 days', 'GET', '/usage', 'usage', 200, 1, 0 from generate_series(1, 12000) n`)
  await db.execute(sql`
    insert into service.payment (id, account_id, mode, status, network, asset, symbol, decimals, amount, sender, recipient, draft, unsigned_transaction, created_at)
    values ('pay_draft', ${small.accountId}, 'local', 'created', ${NETWORK}, ${NATIVE_ETH.address}, 'ETH', 18, 1, 'a', 'b', true, 'AA==', now() - interval '25 hours')`)
  const drafts = sql`draft and unsigned_transaction is not null`
  const left = async () => [
    await db.$count(idempotency, eq(idempotency.accountId, small.accountId)),
    await db.$count(requestLog, eq(requestLog.accountId, small.accountId)),
    (await db.execute(sql`select from service.payment where ${drafts}`)).rows.length,
  ]
  expect(await left()).toEqual([12_000, 12_000, 1])
  await sweep(context)
  expect(await left()).toEqual([12_000, 0, 0])
  await asOwner('drop trigger test_refuse on service.idempotency')
  await sweep(context)
  expect(await left()).toEqual([0, 0, 0])
})
