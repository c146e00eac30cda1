import { sql, type SQL } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as v from 'valibot'
import { NATIVE_SOL, SOLANA_DEVNET } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import { openContext, type OpenedContext } from '#testing/service-context.ts'
import { readFromNonce, readUnpaid, readUnpaidSignatures } from '../db/nonce-queue.ts'
import { readMonitored } from '../db/payments.ts'

/** What is asked for each send and at each look at a chain reads what is under way, not what a wallet has ever paid or settled. */

const ROWS = 20_000
const RECENT = 10
const MOST_READ = 20 * RECENT
const nonceQueue = { network: SOLANA_DEVNET, sender: 'till' }
const recent = ROWS - RECENT + 1

let opened: OpenedContext

beforeAll(async () => {
  opened = await openContext([], { engine: 'postgres' })
  const { context, actor } = opened
  // A busy machine takes longer for so many rows than a program may.
  const insert = (statement: SQL) =>
    context.db.transaction(async (tx) => {
      await tx.execute(sql`set local statement_timeout = 0`)
      await tx.execute(statement)
    })
  for (const { mode, sender, signer } of [
    { mode: 'hosted', sender: nonceQueue.sender, signer: null },
    { mode: 'received', sender: 'payer', signer: nonceQueue.sender },
  ]) {
    await insert(sql`
      insert into service.payment (id, account_id, mode, status, network, asset, symbol, decimals, amount, sender, recipient, signature, block_height)
      select ${mode} || n, ${actor.accountId}, ${mode}, 'finalized', ${nonceQueue.network}, ${NATIVE_SOL.address}, 'SOL', 9, n, ${sender}, 'payee', ${mode} || n, n
      from generate_series(1, ${sql.raw(String(ROWS))}) n`)
    await insert(sql`
      insert into service.attempt (payment_id, number, network, signer, signature, signed_transaction, max_fee)
      select ${mode} || n, 1, ${nonceQueue.network}, ${signer}, ${mode} || n, 'AA==', 5000
      from generate_series(1, ${sql.raw(String(ROWS))}) n`)
  }
  await executeAsOwner(
    { target: context.config.database, db: context.db },
    'vacuum analyze service.payment, service.attempt',
  )
})
afterAll(() => opened?.[Symbol.asyncDispose]())

const Read = v.object({ rows: v.pipe(v.string(), v.transform(Number)) })

/** How many rows of payments and attempts this connection has read and not yet told the server's statistics. */
async function rowsRead(tx: Database): Promise<number> {
  const { rows } = await tx.execute(sql`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as rows from pg_stat_xact_user_tables
    where schemaname = 'service' and relname in ('payment', 'attempt')`)
  return v.parse(Read, rows[0]).rows
}

async function countRead<T>(
  ask: (tx: Database) => Promise<readonly T[]>,
): Promise<{ answer: readonly T[]; read: number }> {
  return opened.context.db.transaction(async (tx) => {
    const before = await rowsRead(tx)
    const answer = await ask(tx)
    return { answer, read: (await rowsRead(tx)) - before }
  })
}

test.each<[string, number, (tx: Database) => Promise<readonly unknown[]>]>([
  [
    'the places of a Solana wallet',
    2 * RECENT,
    (tx) => readUnpaid(tx, nonceQueue, { height: recent, named: new Set() }),
  ],
  ['their signatures', 2 * RECENT, (tx) => readUnpaidSignatures(tx, nonceQueue, recent)],
  ['the nonces of an EVM wallet', 0, (tx) => readFromNonce(tx, nonceQueue, 0)],
  ['what a watcher follows', 0, (tx) => readMonitored(tx, nonceQueue.network)],
])('%s without the payments of before', async (_, count, ask) => {
  const { answer, read } = await countRead(ask)
  expect(answer).toHaveLength(count)
  expect(read).toBeLessThanOrEqual(MOST_READ)
})

test('all that is read is counted', async () => {
  const { read } = await countRead(
    async (tx) => (await tx.execute(sql`select amount from service.payment where amount > 0`)).rows,
  )
  expect(read).toBe(2 * ROWS)
})
