import { readFile } from 'node:fs/promises'
import { and, eq, inArray, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as v from 'valibot'
import { endpoints } from '#contract/endpoints.ts'
import { NATIVE_ETH, NATIVE_SOL, SOLANA_DEVNET, type Network } from '#contract/network.ts'
import { createPaymentId, PAYMENT_STATUSES, type Direction } from '#contract/payment.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import { openContext, ownWallet, type OpenedContext } from '#testing/service-context.ts'
import { foldTallies } from '../../db/fold-tallies.ts'
import type { NewPayment, PaymentRecord } from '../../db/payments.ts'
import { payment } from '../../db/schema/payment.ts'
import { settlementFee, settlementOrder } from '../../db/schema/proof.ts'
import { paymentTally } from '../../db/schema/tally.ts'
import { readList } from './history.ts'
import { readSummary } from './summary.ts'

const NOW = Date.parse('2026-11-21T10:00:00Z')
const DAY = 86_400_000
const EVM_WALLETS = [
  '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
]
const SOL_WALLETS = [
  '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
  '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
]
/** Two of a family, so that every direction is met. */
const OWNED = [EVM_WALLETS[0]!, EVM_WALLETS[2]!, SOL_WALLETS[0]!]
const ROWS = 1_400
/** Configured nowhere. */
const TOKEN = {
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  symbol: 'OLD',
  decimals: 2,
}

const networks: Network[] = [
  { network: 'eip155:31337', assets: [NATIVE_ETH] },
  { network: SOLANA_DEVNET, assets: [NATIVE_SOL] },
].map((facts) => ({
  ...facts,
  name: facts.network,
  rpcUrls: ['http://127.0.0.1:9'],
  testnet: true,
  blockTimeMs: 1000,
  confirmations: 1,
}))

/** The same numbers in every run. */
function rng(seed: number) {
  let state = seed
  const next = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
  return { next, pick: <T>(from: readonly T[]): T => from[next(from.length)]! }
}

let opened: OpenedContext
let kept: PaymentRecord[]

type Query = Record<string, string>

async function list(query: Query, wallets?: string[]) {
  return readList(opened.context, opened.actor, {
    ...v.parse(endpoints.paymentList.query, query),
    wallets,
  })
}

/** As an accountant would say it. */
function expectedDirection(
  { sender, recipient }: PaymentRecord,
  own: readonly string[],
): Direction {
  if (own.includes(sender)) return own.includes(recipient) ? 'internal' : 'sent'
  return own.includes(recipient) ? 'received' : 'external'
}

/** What the list must be, found the plain way. */
function expected(query: Query, wallets?: string[]): string[] {
  const landed = query.by === 'landed'
  const timeOf = ({ blockTime, confirmedAt, createdAt }: PaymentRecord) =>
    (landed ? (blockTime ?? confirmedAt ?? createdAt) : createdAt).getTime()
  return kept
    .filter((row) => !landed || ['confirmed', 'finalized', 'failed'].includes(row.status))
    .filter((row) => {
      const direction = expectedDirection(row, wallets ?? OWNED)
      return (!query.type || direction === query.type) && (direction !== 'external' || !wallets)
    })
    .filter((row) => row.draft === (query.status === 'incomplete'))
    .filter(
      (row) =>
        !query.status ||
        query.status === 'incomplete' ||
        query.status.split(',').includes(row.status),
    )
    .filter((row) => !query.network || row.network === query.network)
    .filter((row) => !query.asset || row.symbol.toLowerCase() === query.asset)
    .filter((row) => !query.since || timeOf(row) >= Number(query.since))
    .filter((row) => !query.until || timeOf(row) < Number(query.until))
    .filter(
      (row) =>
        !query.minAmount || row.amount >= BigInt(query.minAmount) * 10n ** BigInt(row.decimals),
    )
    .filter(
      (row) =>
        !query.q ||
        [row.sender, row.recipient].includes(query.q) ||
        row.resource?.slice('https://'.length).startsWith(query.q),
    )
    .sort((a, b) => timeOf(b) - timeOf(a) || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id)
}

/** As they come to be: what a payee settles is known first, then the chain shows fees, and what a wallet of the service paid. */
async function addFees(rows: readonly NewPayment[]): Promise<void> {
  const { db } = opened.context
  const received = rows.filter(({ mode }) => mode === 'received')
  const facts = ({ id, accountId, network }: NewPayment) => ({ paymentId: id, accountId, network })
  const third = (index: number) => received.filter((_, at) => at % 3 === index)
  await db
    .insert(settlementOrder)
    .values(third(0).map((row) => ({ ...facts(row), key: row.id, fingerprint: 'f', checks: '[]' })))
  await db
    .update(payment)
    .set({ fee: sql`length(${payment.id}) * 1000 + ascii(right(${payment.id}, 1))` })
    .where(sql`ascii(right(${payment.id}, 1)) % 3 > 0`)
  const settled = third(1).concat(third(0).slice(0, 9))
  await db.insert(settlementFee).values(
    settled.map((row, index) => ({
      ...facts(row),
      wallet: index % 2 === 0 ? OWNED[0]! : EVM_WALLETS[1]!,
      scope: 'keyless',
      reserved: 9n,
      paid: index % 4 === 0 ? 70n : null,
    })),
  )
  await db
    .update(settlementFee)
    .set({ paid: sql`coalesce(paid, 0) + 500` })
    .where(sql`ascii(right(payment_id, 1)) % 2 = 0`)
}

const FLOWS = ['received', 'refundsReceived', 'sent', 'refunded', 'fees'] as const
type Sums = Record<(typeof FLOWS)[number], bigint>

/** What the overview must say of a period, added up from the rows of the list. */
async function addUpList(since: number, until: number, wallets?: string[]) {
  const sums = new Map<string, Sums>()
  const at = (network: string, symbol: string): Sums => {
    const key = `${network} ${symbol}`
    const kept = sums.get(key) ?? {
      received: 0n,
      refundsReceived: 0n,
      sent: 0n,
      refunded: 0n,
      fees: 0n,
    }
    sums.set(key, kept)
    return kept
  }
  let cursor: string | null = null
  do {
    const page = await list(
      { since: String(since), until: String(until), limit: '500', ...(cursor && { cursor }) },
      wallets,
    )
    for (const row of page.payments) {
      if (row.fee?.own) at(row.network, row.fee.symbol).fees += BigInt(row.fee.amountAtomic)
      if (row.status !== 'confirmed' && row.status !== 'finalized') continue
      const back = row.refundOf !== null
      if (row.type === 'received')
        at(row.network, row.symbol)[back ? 'refundsReceived' : 'received'] += BigInt(
          row.amountAtomic,
        )
      if (row.type === 'sent')
        at(row.network, row.symbol)[back ? 'refunded' : 'sent'] += BigInt(row.amountAtomic)
    }
    cursor = page.nextCursor
  } while (cursor)
  return sums
}

async function compareSummary(): Promise<void> {
  const today = Math.floor(NOW / DAY) * DAY
  for (const wallets of [undefined, [EVM_WALLETS[0]!, EVM_WALLETS[1]!, SOL_WALLETS[0]!]]) {
    const summary = await readSummary(opened.context, opened.actor, { wallets, days: 4 })
    const since = today - 3 * DAY
    for (const [period, sums] of [
      ['now', await addUpList(since, today + DAY - 1, wallets)],
      ['before', await addUpList(since - 4 * DAY, since - 1, wallets)],
    ] as const) {
      const listed = Object.fromEntries(
        [...sums].filter(([, each]) => FLOWS.some((flow) => each[flow] > 0n)),
      )
      const shown = summary.assets.flatMap((asset) => {
        const from = period === 'now' ? asset : asset.previous
        const flows = Object.fromEntries(FLOWS.map((flow) => [flow, BigInt(from[`${flow}Atomic`])]))
        return FLOWS.some((flow) => flows[flow]! > 0n)
          ? [[`${asset.network} ${asset.symbol}`, flows] as const]
          : []
      })
      expect(Object.fromEntries(shown), period).toEqual(listed)
    }
    for (const asset of summary.assets)
      for (const flow of FLOWS)
        expect(asset.days.reduce((sum, day) => sum + BigInt(day[`${flow}Atomic`]), 0n)).toBe(
          BigInt(asset[`${flow}Atomic`]),
        )
    const inPeriod = { since: String(since), until: String(today + DAY - 1) }
    for (const { status, count } of summary.statuses)
      expect(count, status).toBe(expected({ ...inPeriod, status }, wallets).length)
  }
}

describe('on Postgres', () => {
  beforeAll(async () => {
    opened = await openContext(networks, { now: () => new Date(NOW) })
    for (const address of OWNED) await ownWallet(opened, address)
    const { next, pick } = rng(7)
    const rows = Array.from({ length: ROWS }, (): NewPayment => {
      const solana = next(4) === 0
      const wallets = solana ? SOL_WALLETS : EVM_WALLETS
      const sender = pick(wallets)
      const asset = solana ? NATIVE_SOL : next(4) === 0 ? TOKEN : NATIVE_ETH
      const mode = pick(['local', 'local', 'hosted', 'received'] as const)
      return {
        id: createPaymentId(),
        accountId: opened.actor.accountId,
        refundOf: next(5) === 0 ? 'pay_1111111111111111111111' : null,
        mode,
        status: pick(PAYMENT_STATUSES),
        network: solana ? SOLANA_DEVNET : 'eip155:31337',
        asset: asset.address,
        symbol: asset.symbol,
        decimals: asset.decimals,
        amount: BigInt(1 + next(5)) * 10n ** BigInt(asset.decimals),
        sender,
        recipient: pick(wallets.filter((wallet) => wallet !== sender)),
        // What a proof paid was never a visitor's draft.
        draft: mode !== 'received' && next(5) === 0,
        resource: pick([null, 'https://shop.example/a', 'https://shop.example/b']),
        // Few moments, so that many payments share one; whole days apart, so that the edges of days are met.
        createdAt: new Date(NOW - next(9) * DAY + pick([0, 1, 2, -36_000_000])),
        blockTime: pick([null, new Date(NOW - next(9) * DAY + pick([0, 1, -36_000_000]))]),
        confirmedAt: pick([null, new Date(NOW - next(9) * DAY)]),
      }
    })
    await opened.context.db.insert(payment).values(rows)
    await addFees(rows)
    kept = await opened.context.db.select().from(payment)
  })
  afterAll(() => opened[Symbol.asyncDispose]())

  const midnight = Date.parse('2026-11-18T00:00:00Z')
  const queries: Query[] = [
    {},
    { type: 'sent' },
    { type: 'received', status: 'finalized,failed' },
    { network: SOLANA_DEVNET },
    { asset: 'eth', status: 'created' },
    { since: String(midnight) },
    { until: String(midnight) },
    { since: String(midnight - 3 * DAY + 1), until: String(midnight + DAY) },
    { since: String(midnight), until: String(midnight) },
    { since: String(midnight - 1), until: String(midnight + 1), type: 'sent' },
    { type: 'internal' },
    { type: 'internal', since: String(midnight - 3 * DAY) },
    { type: 'external', status: 'confirmed,finalized' },
    { by: 'landed' },
    { by: 'landed', since: String(midnight), type: 'received' },
    { by: 'landed', since: String(midnight - 2 * DAY), until: String(midnight + DAY) },
    { by: 'landed', status: 'finalized,failed' },
    { by: 'landed', status: 'finalized,pending', until: String(midnight) },
    { by: 'landed', status: 'pending' },
    { by: 'landed', q: 'shop.example/a', since: String(midnight) },
    { status: 'incomplete' },
    { status: 'incomplete', type: 'received', q: 'shop.example/a' },
    { q: EVM_WALLETS[1]!, type: 'sent' },
    { minAmount: '3', type: 'received' },
    { q: 'shop.example/a', status: 'finalized' },
  ]
  const scopes: (string[] | undefined)[] = [
    undefined,
    [EVM_WALLETS[0]!],
    [EVM_WALLETS[0]!, SOL_WALLETS[1]!],
    [EVM_WALLETS[0]!, EVM_WALLETS[1]!, SOL_WALLETS[0]!],
  ]

  async function compareAll(): Promise<void> {
    await compareSummary()
    for (const wallets of scopes) {
      for (const query of queries) {
        const all = expected(query, wallets)
        const near = await list({ ...query, limit: '20' }, wallets)
        expect(
          { total: near.total, ids: near.payments.map(({ paymentId }) => paymentId) },
          JSON.stringify({ query, wallets }),
        ).toEqual({
          total: all.length,
          ids: all.slice(0, 20),
        })
        for (const offset of [500, all.length - 3, all.length].filter((each) => each >= 500)) {
          const far = await list({ ...query, limit: '7', offset: String(offset) }, wallets)
          expect(
            far.payments.map(({ paymentId }) => paymentId),
            JSON.stringify({ query, wallets, offset }),
          ).toEqual(all.slice(offset, offset + 7))
        }
      }
    }
  }

  test('totals, pages at any offset and the figures of the overview are those of plain counting, before, amid and after folding', async () => {
    const { db } = opened.context
    await compareAll()
    expect(await foldTallies(db)).toBeGreaterThan(0)
    expect(await foldTallies(db)).toBe(0)
    await compareAll()

    // Half of it moves on: some counts fall to nothing, some are noted only, some are folded.
    const moved = kept.filter((_, index) => index % 2 === 0).map(({ id }) => id)
    await db.update(payment).set({ status: 'rolled_back' }).where(inArray(payment.id, moved))
    await executeAsOwner(
      { target: opened.context.config.database, db },
      `delete from service.payment where id = '${kept.find(({ mode }) => mode === 'local')!.id}'`,
    )
    kept = await db.select().from(payment)
    await compareAll()
    // Evidence comes for half of the drafts.
    const proven = kept.filter(({ draft }, index) => draft && index % 3 === 0).map(({ id }) => id)
    expect(proven.length).toBeGreaterThan(0)
    await db.update(payment).set({ draft: false }).where(inArray(payment.id, proven))
    kept = await db.select().from(payment)
    await compareAll()
    await foldTallies(db)
    await compareAll()
    // The chain says which wallet paid a fee, then no more.
    for (const feePayer of [EVM_WALLETS[0], EVM_WALLETS[1], null]) {
      await db
        .update(payment)
        .set({ feePayer })
        .where(sql`ascii(right(${payment.id}, 1)) % 2 = 0 and network like 'eip155:%'`)
      await compareSummary()
      await foldTallies(db)
      await compareSummary()
    }
    expect(
      await db
        .select()
        .from(paymentTally)
        .where(and(eq(paymentTally.payments, 0), eq(paymentTally.fees, 0n))),
    ).toEqual([])
  })

  test('the migration makes the tallies, the customers and their totals that the triggers and folding made', async () => {
    const { db } = opened.context
    while ((await foldTallies(db)) > 0);
    // What a wallet of the service paid stays under the status in which it was noted: fees are read over all statuses.
    const place = 'account_id, party, direction, day, network, asset'
    const read = () =>
      Promise.all(
        [
          `select ${place}, status, payments, amount, refunds, refunded from service.payment_tally where payments <> 0`,
          `select ${place}, sum(fees) from service.payment_tally group by ${place} having sum(fees) <> 0`,
          'select * from service.customer',
          'select * from service.customer_total',
        ].map(async (query) => {
          const { rows } = await db.execute<{ row: string }>(
            `select kept::text as row from (${query}) as kept order by 1`,
          )
          return rows.map(({ row }) => row)
        }),
      )
    const noted = await read()
    for (const rows of noted) expect(rows.length).toBeGreaterThan(0)
    const migration = await readFile(
      new URL('../../db/migrations/0014_customers.sql', import.meta.url),
      'utf8',
    )
    const rebuild = migration.split('--> statement-breakpoint').slice(-2)
    const owner = { target: opened.context.config.database, db }
    const emptied =
      'truncate service.payment_change, service.payment_tally, service.customer, service.customer_total'
    // As it was then: no row of these says from the chain who paid its fee.
    const former = 'alter table service.payment rename column fee_payer to later'
    const now = 'alter table service.payment rename column later to fee_payer'
    for (const statement of [emptied, former, ...rebuild, now])
      await executeAsOwner(owner, statement)
    while ((await foldTallies(db)) > 0);
    expect(await read()).toEqual(noted)
  })

  test('a transaction that is undone leaves no trace in the counts', async () => {
    const before = (await list({})).total
    await opened.context.db
      .transaction(async (tx) => {
        await tx.update(payment).set({ status: 'expired' })
        tx.rollback()
      })
      .catch(() => undefined)
    await foldTallies(opened.context.db)
    expect((await list({})).total).toBe(before)
    expect((await list({ status: 'expired' })).total).toBe(expected({ status: 'expired' }).length)
  })
})

test('a reader beside a folding writer never sees a payment twice or not at all', async () => {
  const net = await openContext(networks, { engine: 'postgres', now: () => new Date(NOW) })
  const other = await openContext(networks, { beside: net.context })
  try {
    const { db } = net.context
    const row = (): NewPayment => ({
      id: createPaymentId(),
      accountId: net.actor.accountId,
      mode: 'local',
      status: 'created',
      network: 'eip155:31337',
      asset: NATIVE_ETH.address,
      symbol: 'ETH',
      decimals: 18,
      amount: 1n,
      sender: EVM_WALLETS[0]!,
      recipient: EVM_WALLETS[1]!,
    })
    await db.insert(payment).values(Array.from({ length: 50 }, row))
    let writing = true
    const writer = (async () => {
      for (let round = 0; round < 60; round++) {
        await db.update(payment).set({ status: round % 2 === 0 ? 'pending' : 'created' })
        await Promise.all([foldTallies(db), foldTallies(other.context.db)])
      }
      writing = false
    })()
    const seen = new Set<number>()
    while (writing)
      seen.add(
        (
          await readList(net.context, net.actor, {
            ...v.parse(endpoints.paymentHistory.query, {}),
            wallets: undefined,
          })
        ).total,
      )
    await writer
    expect([...seen]).toEqual([50])
  } finally {
    await other[Symbol.asyncDispose]()
    await net[Symbol.asyncDispose]()
  }
})
