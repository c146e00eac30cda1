import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type SQL } from 'drizzle-orm'
import pg from 'pg'
import type { Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import { createPaymentId } from '#contract/payment.ts'
import { openDatabase, type Database, type DatabaseTarget } from '#postgres/open.ts'
import { OFFLINE_NETWORKS } from '#testing/fixture.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { createTestDatabase } from '#testing/postgres.ts'
import { insertTestPayment } from '#testing/service-app.ts'
import { openTestSigner, type TestSigner } from '#testing/test-signer.ts'
import { eventually, openContext, type OpenedContext } from '#testing/service-context.ts'
import { startNumbering } from '../api/events/numbering.ts'
import { SERVICE_SCHEMA } from '../db/migrations-folder.ts'
import { claimAssigned } from '../db/claims.ts'
import { findPayment } from '../db/payments.ts'
import { lockTransfer } from '../db/unmatched.ts'
import { lockDirections } from '../db/wallet-owners.ts'
import { sendPayment } from '../hosted/send.ts'
import { createWallet } from '../wallets/create-wallet.ts'
import { applyObservation, rollBack } from './apply-observation.ts'
import { buildTransaction } from './build.ts'
import { reserveRefund } from './reserve-refund.ts'

/** Who waits for whom in the database while many accounts write at once. */

const ACCOUNTS = 6
const ROUNDS = 3
/** How long a commit takes, as on a network disk: locks are held meanwhile. */
const COMMIT_MS = 10

type Wait = { waiting: string; blocking: string; lock: string }

const READ_WAITS = `
  select waiting.application_name as waiting, blocking.application_name as blocking,
    concat_ws(' ', l.locktype, l.relation::regclass, l.classid, l.objid, l.mode) as lock
  from pg_locks l join pg_stat_activity waiting using (pid)
  cross join lateral unnest(pg_blocking_pids(l.pid)) as of(pid) join pg_stat_activity blocking on blocking.pid = of.pid
  where not l.granted and waiting.datname = current_database()
    -- Who adds a page to a table holds this lock for that moment, never until the commit.
    and l.locktype <> 'extend'`

const READ_WAITING = sql`select pid from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`

function named(target: DatabaseTarget, name: string): DatabaseTarget {
  if (!('url' in target)) throw new Error('Expected a server.')
  return { ...target, url: `${target.url}?application_name=${name}` }
}

/** Transactions commit late; `planted` runs in each before that. */
function delayCommits(db: Database, planted?: (tx: Database) => Promise<unknown>): void {
  const begin = db.transaction.bind(db)
  db.transaction = (work, config) =>
    begin(async (tx) => {
      const result = await work(tx)
      await planted?.(tx)
      await sleep(COMMIT_MS)
      return result
    }, config)
}

/** One account's payments from the first event to the last, in a separate process. */
async function openWriter(
  evm: EvmFixture,
  { target, signer }: { target: DatabaseTarget; signer: TestSigner },
  planted?: (tx: Database) => Promise<unknown>,
) {
  const opened = await openContext([evm.network], { target, signer })
  const { context, actor } = opened
  delayCommits(context.db, planted)
  const payer = await evm.wallet(10n ** 18n)
  const recipientAddress = (await evm.wallet(0n)).address
  const { address: till } = await createWallet(
    { ...context, now: new Date() },
    { accountId: actor.accountId, family: 'evm', name: 'till' },
  )
  await evm.client.setBalance({ address: till as Hex, value: 10n ** 18n })
  let writes = 0
  async function write(): Promise<void> {
    const terms = { recipientAddress, amount: '0.01' }
    await buildTransaction(context, actor, { walletAddress: payer.address, ...terms })
    const { paymentId } = await sendPayment(context, actor, {
      body: { walletAddress: till, ...terms },
      idempotency: undefined,
      waitMs: 0,
    })
    const row = await findPayment(context.db, paymentId)
    const seen = {
      state: 'landed',
      succeeded: true,
      height: (row?.builtHeight ?? 0) + 1,
      blockHash: '0xblock',
      confirmed: true,
      feeAtomic: 1n,
      feePayer: till,
      blockTime: null,
      transfer: {
        sender: till,
        recipient: recipientAddress,
        asset: row?.asset ?? '',
        amountAtomic: row?.amount ?? 0n,
        memo: null,
        nonce: row?.nonce ?? null,
      },
      failure: null,
    } as const
    const observe = (finalized: boolean) =>
      applyObservation(context, {
        paymentId,
        signature: row?.reportedSignature ?? '',
        source: 'watcher',
        observation: { ...seen, finalized },
      })
    expect(await observe(false)).toBe('moved')
    const confirmed = await findPayment(context.db, paymentId)
    expect(confirmed && (await rollBack(context, confirmed))).toBe(true)
    expect(await observe(true)).toBe('moved')
    writes += 5
  }
  return {
    run: async () => {
      for (let round = 0; round < ROUNDS; round++) await write()
    },
    writes: () => writes,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

async function stormOf(planted?: (tx: Database) => Promise<unknown>) {
  await using stack = new AsyncDisposableStack()
  const evm = stack.use(await startEvm({ slotsInEpoch: 2 }))
  await evm.mine()
  const { target } = stack.use(await createTestDatabase('postgres', 'service'))
  const signer = stack.use(openTestSigner())
  const writers = []
  for (let index = 0; index < ACCOUNTS; index++) {
    const place = { target: named(target, `account-${index}`), signer }
    writers.push(stack.use(await openWriter(evm, place, planted)))
  }
  const numbering = stack.use(await openDatabase(named(target, 'numbering'), SERVICE_SCHEMA))
  const log = { warn: (facts: unknown) => expect.fail(String(facts)), info: () => {} }
  stack.defer(
    await startNumbering(
      { db: numbering.db, log: log as unknown as Parameters<typeof startNumbering>[0]['log'] },
      numbering.listen,
    ),
  )
  if (!('url' in target)) throw new Error('Expected a server.')
  const watcher = new pg.Client({ connectionString: target.migrationUrl })
  await watcher.connect()
  stack.defer(() => watcher.end())
  const running = { writes: true }
  const waits: Wait[] = []
  let looks = 0
  const storm = Promise.all(writers.map((writer) => writer.run())).finally(
    () => (running.writes = false),
  )
  while (running.writes) {
    const { rows } = await watcher.query<Wait>(READ_WAITS)
    waits.push(...rows)
    looks++
  }
  await storm
  const between = waits.filter(({ waiting, blocking }) => waiting !== blocking)
  return { looks, between, writes: writers.reduce((sum, { writes }) => sum + writes(), 0) }
}

describe('while many accounts write at once', () => {
  test('no account waits for another one, and nobody who writes waits for the numbering of events', async () => {
    const { looks, between, writes } = await stormOf()
    expect(writes).toBe(ACCOUNTS * ROUNDS * 5)
    expect(looks).toBeGreaterThan(50)
    expect(between).toEqual([])
  })

  test('a lock around every commit would be seen', async () => {
    const { between } = await stormOf((tx) =>
      tx.execute(sql`select pg_advisory_xact_lock(4020002)`),
    )
    expect(between).toContainEqual(
      expect.objectContaining({
        waiting: expect.stringMatching(/^account-/),
        blocking: expect.stringMatching(/^account-/),
        lock: expect.stringMatching(/^advisory/),
      }),
    )
  })
})

/**
 * Two transactions that lock the same rows in opposite orders end in a deadlock: one waits a second
 * and runs again. So everybody locks the directions of an account, a payment, a transfer and a claim
 * in this order.
 */
describe('what waits for a lock holds none that the other one takes later', () => {
  const opened = () => openContext(OFFLINE_NETWORKS)

  /** Holds a lock, begins `work`, and once that waits for it, takes the `next` one: refused at once where `work` has it. */
  async function crossing(
    { context }: OpenedContext,
    hold: (tx: Database) => Promise<unknown>,
    { work, next }: { work: () => Promise<unknown>; next: SQL },
  ): Promise<unknown> {
    let working: Promise<unknown> = Promise.resolve()
    await context.db.transaction(async (tx) => {
      await hold(tx)
      working = work()
      await eventually(
        async () => (await tx.execute(READ_WAITING)).rows.length,
        (waiting) => waiting > 0,
      )
      expect((await tx.execute(next)).rows).toHaveLength(1)
    })
    return working
  }

  test('a refund, while wallets of its account are registered', async () => {
    await using made = await opened()
    const { context, actor } = made
    const { accountId } = actor
    const original = { id: createPaymentId(), accountId, status: 'finalized' } as const
    await insertTestPayment(context.db, original)
    const refund = { refundOf: original.id, refundReason: null, refundNote: null }
    const work = () =>
      context.db.transaction(async (tx) => {
        await reserveRefund(tx, refund, 1n)
        await insertTestPayment(tx, { id: createPaymentId(), accountId, amount: 1n, ...refund })
      })
    const next = sql`select id from service.payment where id = ${original.id} for update nowait`
    await crossing(made, (tx) => lockDirections(tx, accountId), { work, next })
  })

  test('an order that its payer proves, while a proof moves the transfer that was assigned to it', async () => {
    await using made = await opened()
    const { context, actor } = made
    const { accountId } = actor
    const signature = `0x${'5'.repeat(64)}`
    const id = createPaymentId()
    const tied = { status: 'pending', evidence: 'unproven', reportedSignature: signature } as const
    await insertTestPayment(context.db, { id, accountId, ...tied, builtHeight: 1 })
    const row = await findPayment(context.db, id)
    if (!row) throw new Error('Expected a payment.')
    const { network, sender, recipient, asset, amount: amountAtomic } = row
    const key = `txid:${signature}`
    const claimant = { scope: accountId, accountId, exclusive: false }
    await claimAssigned(context.db, claimant, { network, key, paymentId: id })
    const transfer = { sender, recipient, asset, amountAtomic, memo: null, nonce: 0 }
    const work = () =>
      applyObservation(context, {
        paymentId: id,
        signature,
        source: 'watcher',
        observation: {
          state: 'landed',
          succeeded: true,
          confirmed: true,
          finalized: true,
          height: 2,
          blockHash: '0xblock',
          blockTime: null,
          feeAtomic: 1n,
          feePayer: sender,
          transfer,
          moved: [transfer],
          failure: null,
        },
      })
    const next = sql`select key from service.claim where key = ${key} for update nowait`
    const applied = await crossing(
      made,
      (tx) => lockTransfer(tx, { accountId, network, signature }),
      {
        work,
        next,
      },
    )
    expect(applied).toBe('moved')
  })
})
