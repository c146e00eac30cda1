import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as v from 'valibot'
import { parseAddress } from '#contract/address.ts'
import type { Customer, CustomerSort } from '#contract/customer-endpoints.ts'
import { endpoints } from '#contract/endpoints.ts'
import { NATIVE_ETH, NATIVE_SOL, SOLANA_DEVNET } from '#contract/network.ts'
import { createPaymentId, PAYMENT_STATUSES } from '#contract/payment.ts'
import type { Database } from '#postgres/open.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import {
  openAccount,
  openContext,
  ownWallet,
  type OpenedContext,
} from '#testing/service-context.ts'
import { findCustomers, findCustomersFrom, readCustomerTotals } from '../../db/customers.ts'
import { foldTallies } from '../../db/fold-tallies.ts'
import type { NewPayment, PaymentRecord } from '../../db/payments.ts'
import { payment } from '../../db/schema/payment.ts'
import { customer, customerTotal } from '../../db/schema/tally.ts'
import { readCustomers } from './customers.ts'

const NOW = Date.parse('2026-11-21T10:00:00Z')
const ASSETS = [
  { network: 'eip155:31337', ...NATIVE_ETH },
  { network: 'eip155:8453', ...NATIVE_ETH },
  { network: SOLANA_DEVNET, ...NATIVE_SOL },
]

let opened: OpenedContext

beforeAll(async () => {
  opened = await openContext([], { engine: 'postgres', now: () => new Date(NOW) })
})
afterAll(() => opened?.[Symbol.asyncDispose]())

const evm = (n: number) => {
  const parsed = parseAddress(`0x${n.toString(16).padStart(40, '52')}`)
  if (!parsed.ok) throw new Error('No address.')
  return parsed.address
}
const SOLANA = [
  '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
  '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
]
const [OWN, OWN_TOO, PAYERS] = [evm(1), evm(2), [evm(3), evm(4), evm(5), evm(6)]]

const list = (query: Record<string, string>, actor = opened.actor) =>
  readCustomers(opened.context, actor, v.parse(endpoints.customerList.query, query))

async function foldAll(): Promise<void> {
  while ((await foldTallies(opened.context.db)) > 0);
}

/** The same numbers in every run. */
function rng(seed: number) {
  let state = seed
  const next = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
  return { next, pick: <T>(from: readonly T[]): T => from[next(from.length)]! }
}

describe('the figures of customers', () => {
  beforeAll(async () => {
    for (const address of [OWN, OWN_TOO, SOLANA[0]!]) await ownWallet(opened, address)
    const { next, pick } = rng(11)
    const rows = Array.from({ length: 900 }, (): NewPayment => {
      const { network, address: asset, symbol, decimals } = pick(ASSETS)
      const wallets = network === SOLANA_DEVNET ? SOLANA : [OWN, OWN_TOO, ...PAYERS]
      const sender = pick(wallets)
      const recipient = pick(wallets.filter((wallet) => wallet !== sender))
      return {
        id: createPaymentId(),
        accountId: opened.actor.accountId,
        mode: pick(['local', 'hosted', 'received'] as const),
        status: pick([...PAYMENT_STATUSES, 'confirmed', 'finalized'] as const),
        network,
        asset,
        symbol,
        decimals,
        sender,
        recipient,
        amount: BigInt(1 + next(9)) * 10n ** BigInt(decimals - next(3)) + BigInt(next(1000)),
        draft: next(6) === 0,
        refundOf: next(4) === 0 ? createPaymentId() : null,
        createdAt: new Date(NOW - next(500) * 7_200_000),
      }
    })
    await opened.context.db.insert(payment).values(rows)
  })

  /** As an accountant would add them up. */
  async function addUp(): Promise<Customer[]> {
    const rows = await opened.context.db.select().from(payment)
    const paid = rows.filter(
      ({ status, draft }) => !draft && (status === 'confirmed' || status === 'finalized'),
    )
    const bought = paid.filter((row) => row.direction === 'received' && row.refundOf === null)
    const returned = paid.filter((row) => row.direction === 'sent' && row.refundOf !== null)
    const sum = (some: readonly PaymentRecord[]) =>
      some.reduce((total, { amount }) => total + amount, 0n).toString()
    return [...new Set(bought.map(({ sender }) => sender))].map((walletAddress) => {
      const own = bought.filter(({ sender }) => sender === walletAddress)
      const back = returned.filter(({ recipient }) => recipient === walletAddress)
      const times = own.map(({ createdAt }) => createdAt.getTime())
      return {
        walletAddress,
        payments: own.length,
        firstAt: Math.min(...times),
        lastAt: Math.max(...times),
        totals: ASSETS.flatMap(({ network, address: asset, symbol, decimals }) => {
          const inAsset = (row: PaymentRecord) => row.network === network && row.asset === asset
          const [paidHere, backHere] = [own.filter(inAsset), back.filter(inAsset)]
          if (paidHere.length === 0 && backHere.length === 0) return []
          return {
            network,
            asset,
            symbol,
            decimals,
            payments: paidHere.length,
            receivedAtomic: sum(paidHere),
            refunds: backHere.length,
            refundedAtomic: sum(backHere),
          }
        }).toSorted((a, b) => (a.network < b.network ? -1 : 1)),
      }
    })
  }

  const ordered = (customers: readonly Customer[]) =>
    customers.toSorted((a, b) => (a.walletAddress < b.walletAddress ? -1 : 1))

  async function compare(): Promise<void> {
    const right = await addUp()
    const all = [OWN, OWN_TOO, ...PAYERS, ...SOLANA]
    const named = await list({ wallets: all.join(',') })
    expect(ordered(named.customers)).toEqual(ordered(right))
  }

  async function compareFolded(): Promise<void> {
    await foldAll()
    await compare()
    const right = await addUp()
    const values: Record<CustomerSort, (customer: Customer) => number> = {
      last: ({ lastAt }) => lastAt,
      first: ({ firstAt }) => firstAt,
      payments: ({ payments }) => payments,
    }
    for (const [sort, valueOf] of Object.entries(values)) {
      const read: Customer[] = []
      for (let cursor: string | null = ''; cursor !== null;) {
        const page = await list({ sort, limit: '2', ...(cursor !== '' && { cursor }) })
        read.push(...page.customers)
        cursor = page.nextCursor
      }
      expect(read, sort).toEqual(
        right.toSorted(
          (a, b) => valueOf(b) - valueOf(a) || (a.walletAddress < b.walletAddress ? 1 : -1),
        ),
      )
    }
  }

  test('are the sums over their payments before folding, and after it in every order', async () => {
    await compare()
    await compareFolded()
    expect((await addUp()).length).toBe(5)
  })

  test('leave out what a reorganization undid, and take it in again', async () => {
    const { db } = opened.context
    const undone = await db
      .update(payment)
      .set({ status: 'rolled_back' })
      .where(sql`sender = ${PAYERS[0]!} and status = 'finalized'`)
      .returning({ id: payment.id })
    expect(undone.length).toBeGreaterThan(5)
    await compare()
    await compareFolded()
    await db
      .update(payment)
      .set({ status: 'confirmed' })
      .where(sql`status = 'rolled_back'`)
    await compare()
    await compareFolded()
  })

  test('follow one statement that adds a payment and takes another one away', async () => {
    const { db } = opened.context
    const received = sql`direction = 'received' and refund_of is null and not draft and network = ${ASSETS[0]!.network} and sender = ${PAYERS[1]!}`
    await db.update(payment).set({
      status: sql`case when ${received} and status = 'finalized' then 'failed' when ${received} and status = 'failed' then 'finalized' else status end`,
    })
    await compareFolded()
  })

  test('forget a customer whose every payment was rolled back', async () => {
    const { db } = opened.context
    await db.update(payment).set({ status: 'rolled_back' }).where(eq(payment.sender, PAYERS[2]!))
    expect((await list({ wallets: PAYERS[2]! })).customers).toEqual([])
    await compareFolded()
    expect((await addUp()).length).toBe(4)
    expect(await db.select().from(customer).where(eq(customer.wallet, PAYERS[2]!))).toEqual([])
  })

  test('know a wallet that the account registers as its own no longer', async () => {
    await ownWallet(opened, PAYERS[3]!)
    expect((await list({ wallets: PAYERS[3]! })).customers).toEqual([])
    await compareFolded()
    expect((await addUp()).map(({ walletAddress }) => walletAddress)).not.toContain(PAYERS[3]!)
  })

  test('are found by the start of an address in any case', async () => {
    await foldAll()
    const start = PAYERS[0]!.slice(0, 12).toLowerCase()
    const found = (await list({ q: start })).customers.map(({ walletAddress }) => walletAddress)
    expect(found).toEqual(PAYERS.slice(0, 2))
    expect((await list({ q: PAYERS[0]! })).customers.length).toBe(1)
    expect((await list({ q: '0x99' })).customers).toEqual([])
    expect((await list({ q: '0x99', wallets: PAYERS[0]! })).customers.length).toBe(1)
  })

  test('are no other account’s', async () => {
    const other = await openAccount(opened.context)
    expect((await list({ wallets: PAYERS.join(',') }, other)).customers).toEqual([])
    expect((await list({ q: '0x' }, other)).customers).toEqual([])
    expect((await list({}, other)).customers).toEqual([])
  })

  test('refuse a cursor of another order', async () => {
    const { nextCursor } = await list({ limit: '1' })
    await expect(list({ sort: 'payments', cursor: nextCursor ?? '' })).rejects.toThrow('same sort')
  })

  test('have no row without a payment or a refund', async () => {
    expect(
      await opened.context.db
        .select()
        .from(customerTotal)
        .where(sql`payments = 0 and refunds = 0`),
    ).toEqual([])
  })
})

test('a page, a search and a customer read no more rows than they answer with, times five', async () => {
  const { context } = opened
  const { db } = context
  const actor = await openAccount(context)
  const { accountId } = actor
  await ownWallet({ ...opened, actor }, evm(9))
  await db.execute(sql`
    insert into service.payment (id, account_id, mode, status, network, asset, symbol, decimals, amount, sender, recipient)
    select 'pay_c' || n, ${accountId}, 'local', 'finalized', 'eip155:31337', ${NATIVE_ETH.address}, 'ETH', 18, n, '0x' || md5((n % 3000)::text), ${evm(9)}
    from generate_series(1, 6000) n`)
  await foldAll()
  await executeAsOwner(
    { target: context.config.database, db },
    'vacuum analyze service.payment, service.customer, service.customer_total',
  )
  /** What this connection has read, what it did before included. */
  const rowsRead = async (tx: Database) => {
    const { rows } = await tx.execute<{ read: string }>(
      sql`select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::text as read from pg_stat_xact_user_tables where schemaname = 'service'`,
    )
    return Number(rows[0]?.read)
  }
  const readBy = async <T>(ask: (tx: Database) => Promise<readonly T[]>) =>
    db.transaction(async (tx) => {
      const before = await rowsRead(tx)
      const answer = await ask(tx)
      return { answered: answer.length, read: (await rowsRead(tx)) - before }
    })
  const asked = [
    await readBy((tx) =>
      findCustomers(tx, accountId, { sort: 'last', after: undefined, limit: 50 }),
    ),
    await readBy((tx) =>
      findCustomers(tx, accountId, { sort: 'first', after: undefined, limit: 50 }),
    ),
    await readBy((tx) =>
      findCustomers(tx, accountId, {
        sort: 'payments',
        after: { value: 2, wallet: '0x8' },
        limit: 50,
      }),
    ),
    await readBy((tx) => findCustomersFrom(tx, accountId, { start: '0x', limit: 50 })),
    await readBy(async (tx) =>
      readCustomerTotals(
        tx,
        accountId,
        (await findCustomers(tx, accountId, { sort: 'last', after: undefined, limit: 5 })).map(
          ({ wallet }) => wallet,
        ),
      ),
    ),
  ]
  expect(asked.map(({ answered }) => answered)).toEqual([50, 50, 50, 50, 5])
  for (const { answered, read } of asked) {
    expect(read).toBeLessThanOrEqual(5 * answered)
  }
})
