import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { eq, sql, type SQL } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NATIVE_ETH } from '#contract/network.ts'
import { createId, type Direction } from '#contract/payment.ts'
import { openDatabase, type Database, type DatabaseTarget } from '#postgres/open.ts'
import { asOwner, createTestDatabase, ENGINES, type Engine } from '#testing/postgres.ts'
import { openContext, type OpenedContext } from '#testing/service-context.ts'
import type { Observation } from '../chains/chain.ts'
import { applyObservation } from '../payments/apply-observation.ts'
import { claimForOrder, takeClaim } from './claims.ts'
import { foldTallies } from './fold-tallies.ts'
import { SERVICE_SCHEMA } from './migrations-folder.ts'
import { findPayment, readEvents, type PaymentRecord } from './payments.ts'
import { event, eventNumbering, payment } from './schema/payment.ts'
import { claim } from './schema/proof.ts'
import { wallet, walletOwner } from './schema/wallet.ts'

/** How the fixture was made and what is in it: src/testing/fixtures/README.md. */
const FIXTURE = new URL('../../testing/fixtures/before-wallet-owners.sql.gz', import.meta.url)
/** The migration that makes the schema of the database that the fixture is a copy of. */
const NEWEST = '0000_initial'
const BREAKPOINT = '--> statement-breakpoint'

/** Counts are made again from the payments; rate limits last a minute. */
const NOT_KEPT = ['payment_change', 'payment_tally', 'rate_limit']

/** Tables that have another name since, by the former one. */
const RENAMED: Readonly<Record<string, string>> = { wallet_books: 'wallet_ledger' }

/** An attempt at a proof whose process ended, in the account of the thief. */
const ENDED_ATTEMPT = { network: 'eip155:31337', key: `txid:0x${'ab'.repeat(32)}` }

type Columns = Record<string, string[]>
type Rows = Record<string, string[]>
type Journal = { entries: { tag: string }[] }

describe.each(ENGINES)('a database from before wallets had owners, on %s', (engine) => {
  let opened: OpenedContext
  let before: Rows
  let afterFailure: Rows
  let after: Rows
  let migrated: Rows
  let migratedAgain: Rows
  const disposal = new AsyncDisposableStack()

  beforeAll(async () => {
    const { first, target } = await createLastingDatabase(engine, disposal)
    const old = { ...SERVICE_SCHEMA, migrations: copyMigrations(disposal, keepUntil(NEWEST)) }
    const broken = { ...SERVICE_SCHEMA, migrations: copyMigrations(disposal, failAtTheEnd) }
    const columns = await within(first, old, async (db) => {
      await load(db)
      const { payment = [], ...others } = await readColumns(db)
      // Written where the events say it.
      return { ...others, payment: payment.filter((name) => name !== 'confirmed_at') }
    })
    const kept = Object.fromEntries(
      Object.entries(columns).filter(([table]) => !NOT_KEPT.includes(table)),
    )
    before = await within(target, old, (db) => readRows(db, columns))
    await expect(openDatabase(target, broken)).rejects.toMatchObject({ cause: { code: '22012' } })
    afterFailure = await within(target, old, (db) => readRows(db, columns))
    migrated = await within(target, SERVICE_SCHEMA, async (db) => {
      after = await readRows(db, kept, RENAMED)
      return readRows(db, await readColumns(db))
    })
    migratedAgain = await within(target, SERVICE_SCHEMA, async (db) =>
      readRows(db, await readColumns(db)),
    )
    opened = disposal.use(await openContext([], { target }))
  })
  afterAll(() => disposal.disposeAsync())

  test('keeps every row, with all that it said', () => {
    expect(before['payment']?.length).toBeGreaterThan(200)
    expect(before['wallet_books']?.length).toBeGreaterThan(0)
    expect(before['payment_change']?.length).toBeGreaterThan(0)
    expect(before['payment_tally']?.length).toBeGreaterThan(100)
    for (const [table, rows] of Object.entries(after))
      expect([table, rows]).toEqual([table, before[table]])
    expect(Object.keys(after)).toEqual(
      Object.keys(before).filter((table) => !NOT_KEPT.includes(table)),
    )
  })

  test('stays as it was when a migration fails', () => {
    expect(afterFailure).toEqual(before)
  })

  test('is changed by nothing when it is opened a second time', () => {
    expect(migratedAgain).toEqual(migrated)
  })

  test('keeps the positions of readers of events: each has its id as its number, and the next one follows', async () => {
    const rows = await opened.context.db.select().from(event).orderBy(event.id)
    expect(rows.length).toBeGreaterThan(200)
    expect(rows.filter(({ id, number }) => number !== id)).toEqual([])
    expect(await opened.context.db.select().from(eventNumbering)).toMatchObject([
      { last: rows.at(-1)?.id, holder: null },
    ])
  })

  test('gives each managed wallet to its account, and no other wallet to anybody', async () => {
    const { db } = opened.context
    const managed = await db.select().from(wallet)
    const owned = await db.select().from(walletOwner)
    const facts = ({
      accountId,
      address,
      createdAt,
    }: {
      accountId: string
      address: string
      createdAt: Date
    }) => ({ accountId, address, createdAt })
    expect(managed).toHaveLength(4)
    expect(byAddress(owned.map(facts))).toEqual(byAddress(managed.map(facts)))
    expect(
      new Set(owned.map(({ kind, proof, releasedAt }) => `${kind} ${proof} ${releasedAt}`)),
    ).toEqual(new Set(['managed managed null']))
    expect(byAddress(owned).map(({ scope }) => scope)).toEqual(
      byAddress(managed).map(({ family }) => family),
    )
  })

  test('has the directions of the wallets that are owned', async () => {
    const { db } = opened.context
    await expectDirections(db)
    expect(
      await directionsOf(db, [
        'PAYOUT-0',
        'PAYOUT-1',
        'TO-MANAGED',
        'HOSTED-THIEF',
        'ORDER-OF-THE-BUYER',
        'SOL-1',
      ]),
    ).toEqual({
      'PAYOUT-0': 'sent',
      'PAYOUT-1': 'sent',
      'TO-MANAGED': 'received',
      'HOSTED-THIEF': 'external',
      'ORDER-OF-THE-BUYER': 'external',
      'SOL-1': 'external',
    })
  })

  test('counts its payments by direction', async () => {
    await undone(opened.context.db, expectTallies)
  })

  test("has the seller's directions and counts once the operator has registered the seller's wallets", async () => {
    await undone(opened.context.db, async (tx) => {
      for (const reference of ['ORDER-OF-THE-BUYER', 'SOL-1']) {
        const order = await findReference(tx, reference)
        const scope = order.network.startsWith('eip155:') ? 'evm' : 'solana'
        const { accountId, recipient: address } = order
        await tx.insert(walletOwner).values({
          id: createId('own'),
          scope,
          address,
          accountId,
          kind: 'payout',
          proof: 'operator',
        })
        await tx
          .update(payment)
          .set({
            direction: sql`service.payment_direction(account_id, network, sender, recipient)`,
          })
          .where(sql`account_id = ${accountId} and (sender = ${address} or recipient = ${address})`)
      }
      await expectDirections(tx)
      await expectTallies(tx)
      expect(
        await directionsOf(tx, [
          'ORDER-OF-THE-BUYER',
          'ABANDONED',
          'SOL-1',
          'PAYOUT-2',
          'CROSS-THIEF',
        ]),
      ).toEqual({
        'ORDER-OF-THE-BUYER': 'received',
        ABANDONED: 'received',
        'SOL-1': 'received',
        'PAYOUT-2': 'internal',
        'CROSS-THIEF': 'external',
      })
      const refunds = await tx
        .select()
        .from(payment)
        .where(sql`metadata like '%"refundOf"%'`)
      expect(
        refunds
          .map(({ mode, direction }) => ({ mode, direction }))
          .toSorted((a, b) => (a.mode < b.mode ? -1 : 1)),
      ).toEqual([
        { mode: 'hosted', direction: 'sent' },
        { mode: 'local', direction: 'sent' },
      ])
    })
  })

  test('lets no account use a transfer again that was used before', async () => {
    await undone(opened.context.db, async (tx) => {
      const used = await tx
        .select()
        .from(claim)
        .where(sql`consumed_at is not null and attempt <> 'order'`)
      expect(used.length).toBeGreaterThanOrEqual(5)
      for (const { network, key, accountId } of used) {
        const stranger = {
          scope: opened.actor.accountId,
          accountId: opened.actor.accountId,
          exclusive: false,
        }
        expect(
          await takeClaim(tx, { network, key, ...stranger, fingerprint: 'another' }),
        ).toMatchObject({ taken: false, claim: { key, accountId } })
      }
    })
  })

  test('grants no payment again that was settled before grants were recorded', async () => {
    const { rows } = await opened.context.db.execute<{ attempt: string; status: string }>(sql`
      select claim.attempt, paid.status from service.claim join service.payment as paid on paid.id = claim.payment_id
      where consumed_at is not null and attempt not in ('order', 'assigned')`)
    const told = rows.filter(({ status }) => status !== 'pending')
    expect(told.length).toBeGreaterThan(2)
    for (const { attempt } of told) expect(attempt).toBe('granted')
  })

  test('has each claim of a payment in the account of the payment', async () => {
    const rows = await opened.context.db
      .select({ claimed: claim.accountId, paid: payment.accountId })
      .from(claim)
      .innerJoin(payment, eq(payment.id, claim.paymentId))
    expect(rows.length).toBeGreaterThan(10)
    for (const { claimed, paid } of rows) expect(claimed).toBe(paid)
  })

  test('lets another account use a transfer that an ended attempt looked at', async () => {
    await undone(opened.context.db, async (tx) => {
      const stranger = {
        scope: opened.actor.accountId,
        accountId: opened.actor.accountId,
        exclusive: false,
      }
      expect(
        await takeClaim(tx, { ...ENDED_ATTEMPT, ...stranger, fingerprint: 'another' }),
      ).toMatchObject({ taken: true })
    })
  })

  test('has used every transfer up that confirmed an order on EVM, for the account of the order', async () => {
    await undone(opened.context.db, async (tx) => {
      const { rows } = await tx.execute(sql`
        select id from service.payment as paid where mode <> 'received' and network like 'eip155:%' and status in ('confirmed', 'finalized')
          and not exists (select 1 from service.claim where network = paid.network and key = 'txid:' || paid.signature and consumed_at is not null)`)
      expect(rows).toEqual([])
      const stolen = await findReference(tx, 'ORDER-OF-THE-THIEF')
      const other = await findReference(tx, 'ORDER-OF-THE-BUYER')
      const { network, accountId } = stolen
      const own = { scope: accountId, accountId, exclusive: false }
      expect(
        await claimForOrder(tx, own, { network, key: keyOf(stolen), paymentId: other.id }),
      ).toBe('taken')
      // A proof may adopt the order, and nothing else.
      expect(
        await takeClaim(tx, { network, key: keyOf(stolen), ...own, fingerprint: 'a proof' }),
      ).toMatchObject({ taken: true, lease: { order: stolen.id } })
    })
  })

  test('binds only the account of a planted order, and everybody where the account owns the payee', async () => {
    await undone(opened.context.db, async (tx) => {
      const planted = await findReference(tx, 'CROSS-THIEF')
      const victim = await findReference(tx, 'CROSS-BUYER')
      const owned = await findReference(tx, 'TO-MANAGED')
      if (!planted || !victim || !owned) throw new Error('The fixture has other orders.')
      expect([planted.status, victim.status]).toEqual(['finalized', 'expired'])
      const as = (accountId: string) => ({
        network: planted.network,
        scope: accountId,
        accountId,
        exclusive: false,
        fingerprint: 'a proof',
      })
      expect(await takeClaim(tx, { ...as(victim.accountId), key: keyOf(planted) })).toMatchObject({
        taken: true,
      })
      expect(await takeClaim(tx, { ...as(planted.accountId), key: keyOf(owned) })).toMatchObject({
        taken: false,
        claim: { paymentId: owned.id },
      })
    })
  })

  test('says what ties each payment to its transfer', async () => {
    const rows = await opened.context.db.select().from(payment)
    for (const { id, evidence, ...row } of rows)
      expect([id, evidence]).toEqual([id, evidenceOf(row)])
    const told = Map.groupBy(rows, ({ evidence }) => evidence)
    for (const evidence of ['hosted', 'memo', 'unproven', null] as const)
      expect(told.get(evidence)?.length).toBeGreaterThan(4)
  })

  test('names the unproven orders with the number of equal orders that competed', async () => {
    const { rows } = await opened.context.db.execute<{
      reference: string
      status: string
      competing: number
    }>(sql`
      select substring(paid.metadata from '"referenceId":"([^"]*)"') as reference, paid.status, count(other.id)::int as competing
      from service.payment as paid
      left join service.payment as other on other.id <> paid.id and other.mode = 'local' and other.network = paid.network and other.sender = paid.sender
        and other.recipient = paid.recipient and other.asset = paid.asset and other.amount = paid.amount
        and other.created_at <= coalesce(paid.confirmed_at, paid.updated_at)
        -- Still to be paid then: an expired order could be paid for another day.
        and coalesce(other.confirmed_at, other.expires_at + interval '1 day') >= coalesce(paid.confirmed_at, paid.updated_at)
      where paid.evidence = 'unproven' group by paid.id order by reference`)
    expect(rows.filter(({ competing }) => competing > 0)).toEqual([
      { reference: 'CROSS-THIEF', status: 'finalized', competing: 1 },
      { reference: 'ORDER-OF-THE-BUYER', status: 'pending', competing: 1 },
      { reference: 'ORDER-OF-THE-THIEF', status: 'finalized', competing: 1 },
    ])
    expect(rows.map(({ reference }) => reference)).toEqual(
      expect.arrayContaining(['ADOPTED', 'PENDING', 'TO-MANAGED', 'TWICE']),
    )
  })

  test('lets the transaction that an order waits for confirm it', async () => {
    const { context } = opened
    const pending = await findReference(context.db, 'PENDING')
    expect(pending).toMatchObject({ status: 'pending', evidence: 'unproven' })
    const signature = pending.reportedSignature ?? ''
    expect(
      await applyObservation(context, {
        paymentId: pending.id,
        signature,
        observation: landed(pending),
        source: 'watcher',
      }),
    ).toBe('moved')
    expect(await findPayment(context.db, pending.id)).toMatchObject({
      status: 'finalized',
      signature,
      evidence: 'unproven',
      draft: false,
    })
    expect((await readEvents(context.db, pending.id)).map(({ status }) => status)).toEqual([
      'created',
      'pending',
      'confirmed',
      'finalized',
    ])
    expect(
      await context.db.select().from(claim).where(eq(claim.paymentId, pending.id)),
    ).toMatchObject([{ key: `txid:${signature}`, attempt: 'order' }])
    const [newest] = (
      await context.db.execute<{ newest: string }>(
        sql`select max(id)::text as newest from service.event`,
      )
    ).rows
    expect(
      await context.db.$count(event, sql`id = ${newest?.newest} and payment_id = ${pending.id}`),
    ).toBe(1)
  })

  test('lets a hosted payment end whose transaction confirmed the planted order of another account', async () => {
    const { context } = opened
    const planted = await findReference(context.db, 'HOSTED-THIEF')
    const captured = await findReference(context.db, 'PAYOUT-CAPTURED')
    expect([planted.status, captured.status, captured.evidence]).toEqual([
      'finalized',
      'pending',
      'hosted',
    ])
    const signature = planted.signature ?? ''
    expect(signature).toBe(captured.reportedSignature)
    expect(
      await applyObservation(context, {
        paymentId: captured.id,
        signature,
        observation: landed(captured),
        source: 'watcher',
      }),
    ).toBe('moved')
    expect(await findPayment(context.db, captured.id)).toMatchObject({
      status: 'finalized',
      signature,
      evidence: 'hosted',
    })
  })

  test('confirms an open order only with evidence', async () => {
    const { context } = opened
    for (const reference of ['OPEN', 'REPORTED']) {
      const open = await findReference(context.db, reference)
      expect(open).toMatchObject({ status: 'created', evidence: null, draft: false })
      const signature = open.reportedSignature ?? `0x${'cd'.repeat(32)}`
      expect(
        await applyObservation(context, {
          paymentId: open.id,
          signature,
          observation: landed(open),
          source: 'watcher',
        }),
      ).toBe('unproven')
      expect(await findPayment(context.db, open.id)).toMatchObject({
        status: 'created',
        signature: null,
      })
    }
  })
})

test.each(ENGINES)(
  'deliveries that wait at the upgrade are due with the first one of their payment, on %s',
  async (engine) => {
    await using disposal = new AsyncDisposableStack()
    const { first, target } = await createLastingDatabase(engine, disposal)
    const before = copyMigrations(disposal, keepUntil('0019_refunded_payments'))
    await within(first, { ...SERVICE_SCHEMA, migrations: before }, async (db) => {
      await db.execute(
        sql`insert into service.account (id, name, plan) values ('acc', 'Merchant', 'standard')`,
      )
      for (const endpoint of ['whk_1', 'whk_2'])
        await db.execute(
          sql`insert into service.webhook_endpoint (id, account_id, url, events, secrets, cursor) values (${endpoint}, 'acc', 'https://shop.example', '{}', '[]', 0)`,
        )
      await db.execute(sql`
        insert into service.webhook_delivery (endpoint_id, id, number, payment_id, type, state, next_attempt_at, retry_until, created_at)
        select endpoint, id, number, payment, 'payment.created', state, '2026-06-01T00:00:00Z'::timestamptz + make_interval(hours => hour), '2026-06-04T00:00:00Z', '2026-06-01T00:00:00Z'
        from (values ('whk_1', 'evt_1', 1, 'pay_a', 'delivered', 9), ('whk_1', 'evt_2', 2, 'pay_a', 'pending', 4), ('whk_1', 'evt_3', 3, 'pay_a', 'pending', 0),
          ('whk_1', 'evt_4', 4, 'pay_a', 'dead', 0), ('whk_1', 'evt_5', 5, 'pay_a', 'pending', 1), ('whk_1', 'evt_6', 6, 'pay_b', 'pending', 0),
          ('whk_1', 'evt_7', 7, 'pay_b', 'pending', 5), ('whk_1', 'test_1', null, 'test_1', 'pending', 0), ('whk_2', 'evt_3', 3, 'pay_a', 'pending', 0)
        ) as written(endpoint, id, number, payment, state, hour)`)
    })
    const hours = await within(target, SERVICE_SCHEMA, async (db) => {
      const { rows } = await db.execute<{ name: string; hour: number }>(sql`
        select endpoint_id || ' ' || id as name, (extract(epoch from next_attempt_at - '2026-06-01T00:00:00Z') / 3600)::int as hour from service.webhook_delivery order by 1`)
      return Object.fromEntries(rows.map(({ name, hour }) => [name, hour]))
    })
    expect(hours).toEqual({
      'whk_1 evt_1': 9,
      'whk_1 evt_2': 4,
      'whk_1 evt_3': 4,
      'whk_1 evt_4': 0,
      'whk_1 evt_5': 4,
      'whk_1 evt_6': 0,
      'whk_1 evt_7': 5,
      'whk_1 test_1': 0,
      'whk_2 evt_3': 0,
    })
  },
)

describe.each(ENGINES)('the books of a former version, on %s', (engine) => {
  const disposal = new AsyncDisposableStack()
  let opened: OpenedContext
  let before: { counted: bigint; folded: bigint }

  const FEE = 21_000n
  const [PAYER, PAYEE, ETH] = ['0xPayer', '0xPayee', NATIVE_ETH.address]
  /** In turn: id, transaction, mode, status, fee payer, and minutes between creation and confirmation; `-` where the time of the block is unknown. */
  const ROWS = [
    // Three settlements that the payee executed in one transaction.
    ['pay_a1', '0xa', 'received', 'finalized', PAYEE, '0'],
    ['pay_a2', '0xa', 'received', 'finalized', PAYEE, '0'],
    ['pay_a3', '0xa', 'received', 'finalized', PAYEE, '0'],
    // Paid by a managed wallet, and proven to its own account.
    ['pay_b1', '0xb', 'received', 'finalized', PAYER, '0-'],
    ['pay_b2', '0xb', 'hosted', 'finalized', PAYER, '5'],
    // The two may still change, and then their fee is booked once.
    ['pay_c1', '0xc', 'received', 'confirmed', PAYEE, '0'],
    ['pay_c2', '0xc', 'received', 'confirmed', PAYEE, '0'],
    // The rows do not agree about who paid.
    ['pay_d1', '0xd', 'received', 'finalized', PAYEE, '0'],
    ['pay_d2', '0xd', 'received', 'finalized', PAYER, '0'],
    // Reverted, and executed by the payee all the same.
    ['pay_e1', '0xe', 'received', 'failed', PAYEE, ''],
    ['pay_e2', '0xe', 'received', 'failed', PAYEE, ''],
    ['pay_f1', '0xf', 'received', 'finalized', PAYEE, '7'],
    // Its day is that of its creation, and stays so.
    ['pay_g1', '0x0', 'received', 'finalized', PAYEE, '7-'],
  ] as const
  const CORRECTED = ['pay_a2', 'pay_a3', 'pay_b1', 'pay_e2']

  const readFees = async (db: Database) => {
    const { rows } = await db.execute<{ counted: string; folded: string }>(sql`
      select (select coalesce(sum(fee), 0)::text from service.payment) as counted, (
        select coalesce(sum(fees), 0)::text from (
          select fees from service.payment_tally where day = -1 and party in (${PAYER}, ${PAYEE})
        ) as each) as folded`)
    return { counted: BigInt(rows[0]?.counted ?? 0), folded: BigInt(rows[0]?.folded ?? 0) }
  }

  beforeAll(async () => {
    const { first, target } = await createLastingDatabase(engine, disposal)
    const old = copyMigrations(disposal, keepUntil('0023_day_of_fees'))
    before = await within(first, { ...SERVICE_SCHEMA, migrations: old }, async (db) => {
      await db.execute(
        sql`insert into service.account (id, name, plan) values ('acc', 'Merchant', 'standard')`,
      )
      for (const address of [PAYER, PAYEE])
        await db.execute(
          sql`insert into service.wallet_owner (id, address, scope, account_id, kind, proof) values (${address}, ${address}, 'evm', 'acc', 'payout', 'operator')`,
        )
      for (const [id, signature, mode, status, feePayer, minutes] of ROWS) {
        const created = '2026-06-01T00:00:00Z'
        const block = minutes.endsWith('-') ? null : created
        await db.execute(sql`
          insert into service.payment (id, account_id, mode, status, network, asset, symbol, decimals, amount, sender, recipient, signature, fee, fee_payer, block_time, created_at, updated_at)
          values (${id}, 'acc', ${mode}, ${status}, 'eip155:31337', ${ETH}, 'ETH', 18, 1000, ${PAYER}, ${PAYEE}, ${signature}, ${FEE.toString()}::numeric, ${feePayer}, ${block}, ${created}, ${created})`)
        if (minutes !== '')
          await db.execute(sql`
            insert into service.event (account_id, payment_id, status, source, at) values
              ('acc', ${id}, 'confirmed', 'service', ${created}::timestamptz - interval '1 hour'),
              ('acc', ${id}, 'confirmed', 'service', ${created}::timestamptz + make_interval(mins => ${Number.parseInt(minutes, 10)}))`)
      }
      while ((await foldTallies(db)) > 0);
      return readFees(db)
    })
    await within(target, SERVICE_SCHEMA, async (db) => {
      while ((await foldTallies(db)) > 0);
    })
    opened = disposal.use(await openContext([], { target }))
  })
  afterAll(() => disposal.disposeAsync())

  test('has the fee of a transaction once, in rows and in sums, and says which rows were corrected', async () => {
    const rows = await opened.context.db.select().from(payment).orderBy(payment.id)
    expect(rows.map(({ id }) => id)).toEqual(ROWS.map(([id]) => id))
    expect(rows.flatMap(({ id, feeCorrectedAt }) => (feeCorrectedAt ? [id] : []))).toEqual(
      CORRECTED,
    )
    for (const { id, fee, feePayer } of rows)
      expect([id, fee, feePayer === null]).toEqual(
        CORRECTED.includes(id) ? [id, null, true] : [id, FEE, false],
      )
    const removed = FEE * BigInt(CORRECTED.length)
    const after = await readFees(opened.context.db)
    expect([before.counted - after.counted, before.folded - after.folded]).toEqual([
      removed,
      removed,
    ])
  })

  test('says when each payment was recorded as confirmed, where that moves it to no other day', async () => {
    const rows = await opened.context.db.select().from(payment).orderBy(payment.id)
    const minutes = rows.map(({ id, confirmedAt }) => [
      id,
      confirmedAt && (confirmedAt.getTime() - Date.parse('2026-06-01T00:00:00Z')) / 60_000,
    ])
    expect(minutes).toEqual(
      ROWS.map(([id, , , , , each]) => [
        id,
        each === '' || each === '7-' ? null : Number.parseInt(each, 10),
      ]),
    )
  })
})

/** A database that can be opened several times; PGlite needs a folder for that. `first`: to be opened before `target`. */
async function createLastingDatabase(
  engine: Engine,
  disposal: AsyncDisposableStack,
): Promise<{ first: DatabaseTarget; target: DatabaseTarget }> {
  const { target } = disposal.use(await createTestDatabase(engine))
  if ('url' in target) return { first: target, target }
  const dataDir = temporaryFolder(disposal)
  return { first: { ...target, dataDir }, target: { dataDir } }
}

function temporaryFolder(disposal: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-migrations-'))
  disposal.defer(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function copyMigrations(disposal: AsyncDisposableStack, change: (folder: string) => void): string {
  const folder = temporaryFolder(disposal)
  cpSync(SERVICE_SCHEMA.migrations, folder, { recursive: true })
  change(folder)
  return folder
}

const journalOf = (folder: string) => join(folder, 'meta/_journal.json')

function readJournal(folder: string): Journal {
  return JSON.parse(readFileSync(journalOf(folder), 'utf8'))
}

const keepUntil = (tag: string) => (folder: string) => {
  const journal = readJournal(folder)
  const newest = journal.entries.findIndex((entry) => entry.tag === tag)
  writeFileSync(
    journalOf(folder),
    JSON.stringify({ ...journal, entries: journal.entries.slice(0, newest + 1) }),
  )
}

function failAtTheEnd(folder: string): void {
  const file = join(folder, `${readJournal(folder).entries.at(-1)?.tag}.sql`)
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n${BREAKPOINT}\nSELECT 1 / 0;`)
}

async function within<T>(
  target: DatabaseTarget,
  schema: typeof SERVICE_SCHEMA,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  await using database = await openDatabase(asOwner(target), schema)
  return await work(database.db)
}

/** Changes that no other test sees. */
async function undone(db: Database, work: (tx: Database) => Promise<void>): Promise<void> {
  const undo = new Error('undo')
  const run = db.transaction(async (tx) => {
    await work(tx)
    throw undo
  })
  await run.catch((error: unknown) => {
    if (error !== undo) throw error
  })
}

async function load(db: Database): Promise<void> {
  const statements = gunzipSync(readFileSync(FIXTURE)).toString().split(BREAKPOINT)
  await db.transaction(async (tx) => {
    for (const statement of statements) await tx.execute(sql.raw(statement))
    const [thief] = (
      await tx.execute<{ id: string }>(
        sql`select id from service.account where name = 'Another seller'`,
      )
    ).rows
    await tx.execute(sql`
      insert into service.claim (network, key, account_id, fingerprint, attempt, lease_until)
      values (${ENDED_ATTEMPT.network}, ${ENDED_ATTEMPT.key}, ${thief?.id}, 'a question', 'an attempt', now() - interval '1 minute')`)
  })
}

async function readColumns(db: Database): Promise<Columns> {
  const { rows } = await db.execute<{ table: string; column: string }>(sql`
    select table_name as "table", column_name as "column" from information_schema.columns where table_schema = 'service' order by table_name, ordinal_position`)
  return Object.fromEntries(
    [...Map.groupBy(rows, ({ table }) => table)].map(([table, columns]) => [
      table,
      columns.map(({ column }) => column),
    ]),
  )
}

/**
 * Every row of every table in these columns; in the old ones without the claims that the migration
 * adds for orders. `renamed`: where the rows of a table are now.
 */
async function readRows(
  db: Database,
  columns: Columns,
  renamed: Readonly<Record<string, string>> = {},
): Promise<Rows> {
  const found: Rows = {}
  for (const [table, names] of Object.entries(columns)) {
    const values = sql.join(
      names.map((name) => sql.identifier(name)),
      sql`, `,
    )
    const where: SQL =
      table === 'claim' && !names.includes('scope') ? sql`where attempt <> 'order'` : sql``
    const { rows } = await db.execute<{ line: string }>(
      sql`select row(${values})::text as line from service.${sql.identifier(renamed[table] ?? table)} ${where} order by 1`,
    )
    found[table] = rows.map(({ line }) => line)
  }
  return found
}

async function findReference(db: Database, reference: string): Promise<PaymentRecord> {
  const [row] = await db
    .select()
    .from(payment)
    .where(sql`metadata like ${`%"referenceId":"${reference}"%`}`)
  if (!row) throw new Error(`The fixture has no payment ${reference}.`)
  return row
}

const keyOf = ({ signature }: PaymentRecord) => `txid:${signature}`

function byAddress<T extends { address: string }>(rows: readonly T[]): T[] {
  return rows.toSorted((a, b) => (a.address < b.address ? -1 : 1))
}

/** By the definition of a direction, payment by payment. */
async function expectDirections(db: Database): Promise<void> {
  const owned = new Set(
    (await db.select().from(walletOwner)).map(
      ({ accountId, address }) => `${accountId} ${address}`,
    ),
  )
  for (const { id, accountId, sender, recipient, direction } of await db.select().from(payment)) {
    const [pays, gets] = [sender, recipient].map((address) => owned.has(`${accountId} ${address}`))
    expect([id, direction]).toEqual([
      id,
      pays && gets ? 'internal' : gets ? 'received' : pays ? 'sent' : 'external',
    ])
  }
}

async function directionsOf(
  db: Database,
  references: readonly string[],
): Promise<Record<string, Direction>> {
  const directions: Record<string, Direction> = {}
  for (const reference of references)
    directions[reference] = (await findReference(db, reference)).direction
  return directions
}

/** Holds the folded tallies against a plain count of the payments. */
async function expectTallies(tx: Database): Promise<void> {
  while ((await foldTallies(tx)) > 0);
  const { rows } = await tx.execute(sql`
    with part as (
      select *, floor(extract(epoch from created_at) / 86400)::int as on_day from service.payment where not draft
    ), plain as (
      select account_id, party, direction, place.day, network, asset, status, count(*) as payments, sum(amount) as amount
      from (
        select account_id, '' as party, direction, on_day, network, asset, status, amount from part
        union all select account_id, sender, 'sent', on_day, network, asset, status, amount from part
        union all select account_id, recipient, 'received', on_day, network, asset, status, amount from part
      ) as seen
      cross join lateral (values (seen.on_day), (-1)) as place(day)
      group by 1, 2, 3, 4, 5, 6, 7
    ), tallied as (
      select account_id, party, direction, day, network, asset, status, payments, amount from service.payment_tally
    )
    (select 'not tallied' as problem, * from (select * from plain except select * from tallied) as missing)
    union all (select 'not there', * from (select * from tallied except select * from plain) as extra)`)
  expect(rows).toEqual([])
  expect(
    await tx
      .execute(sql`select 1 from service.payment_tally`)
      .then((tallies) => tallies.rows.length),
  ).toBeGreaterThan(100)
}

function evidenceOf({
  mode,
  network,
  status,
}: Pick<PaymentRecord, 'mode' | 'network' | 'status'>): PaymentRecord['evidence'] {
  if (mode === 'received' || status === 'created' || status === 'expired' || status === 'failed')
    return null
  if (mode === 'hosted') return 'hosted'
  return network.startsWith('solana:') ? 'memo' : 'unproven'
}

/** What the chain shows of a final transaction that meets the terms of an order. */
function landed({
  sender,
  recipient,
  asset,
  amount,
  nonce,
  builtHeight,
}: PaymentRecord): Observation {
  const transfer = { sender, recipient, asset, amountAtomic: amount, memo: null, nonce }
  return {
    state: 'landed',
    succeeded: true,
    height: (builtHeight ?? 0) + 1,
    blockHash: `0x${'ef'.repeat(32)}`,
    confirmed: true,
    finalized: true,
    feeAtomic: 21_000n,
    feePayer: sender,
    blockTime: null,
    transfer,
    failure: null,
  }
}
