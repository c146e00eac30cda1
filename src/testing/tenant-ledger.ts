import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { familyOf, type Asset } from '#contract/network.ts'
import { at, listAt, succeed, textAt, type ApiReply } from './api-client.ts'
import { eventually } from './service-context.ts'
import type { Tenant, Tenants } from './two-tenants.ts'

/** A payment as a merchant's accountant reads it from `GET /payments`. */
export type LedgerRow = {
  paymentId: string
  direction: string
  status: string
  signature: string | null
  network: string
  asset: string
  amount: bigint
  sender: string
  recipient: string
}

/** A transfer to an owned wallet that belongs to no order yet. */
export type UnmatchedRow = {
  transferId: string
  network: string
  signature: string
  asset: string
  amount: bigint
  candidates: string[]
}

const PAID = ['confirmed', 'finalized']

export const isConfirmedRow = ({ status }: { status: string }) => PAID.includes(status)

/** @param query for example `status=incomplete` */
export async function readRows({ api }: Pick<Tenant, 'api'>, query = ''): Promise<LedgerRow[]> {
  const { body } = succeed(await api.get(`/payments?limit=500${query && `&${query}`}`))
  return listAt(body, 'payments').map(toRow)
}

/** None where the service knows no such list. */
export async function readUnmatched({ api }: Pick<Tenant, 'api'>): Promise<UnmatchedRow[]> {
  const reply = await api.get('/unmatched?limit=500')
  if (reply.status === 404) return []
  return listAt(succeed(reply).body, 'transfers').map((transfer) => ({
    transferId: textAt(transfer, 'transferId'),
    network: textAt(transfer, 'network'),
    signature: textAt(transfer, 'signature'),
    asset: textAt(transfer, 'asset'),
    amount: BigInt(textAt(transfer, 'amountAtomic')),
    candidates: listAt(transfer, 'candidates').map((candidate) => textAt(candidate, 'paymentId')),
  }))
}

export function readStatus({ api }: Pick<Tenant, 'api'>, paymentId: string): Promise<ApiReply> {
  return api.get(`/payment/status/${paymentId}`)
}

/** What every account says of the transfers of a chain: which of its payments each of them paid, and which wait for an order. */
export type LedgerView = { rows: Map<string, LedgerRow[]>; unmatched: Map<string, UnmatchedRow[]> }

export async function readView(tenants: readonly Tenant[]): Promise<LedgerView> {
  const view: LedgerView = { rows: new Map(), unmatched: new Map() }
  await Promise.all(
    tenants.map(async (tenant) => {
      const [rows, unmatched] = await Promise.all([readRows(tenant), readUnmatched(tenant)])
      view.rows.set(tenant.name, rows)
      view.unmatched.set(tenant.name, unmatched)
    }),
  )
  return view
}

/** The payments that a transfer paid, as `A pay_…`, and `A unmatched` where it waits for an order. */
export function takersOf(view: LedgerView, signature: string): string[] {
  const paid = [...view.rows].flatMap(([name, rows]) =>
    rows
      .filter((row) => row.signature === signature && isConfirmedRow(row))
      .map((row) => `${name} ${row.paymentId}`),
  )
  const waiting = [...view.unmatched].flatMap(([name, list]) =>
    list.filter((each) => each.signature === signature).map(() => `${name} unmatched`),
  )
  return [...paid, ...waiting]
}

export type Baseline = Map<string, bigint>

const holdingName = (network: string, asset: Asset, owner: string) =>
  `${network} ${asset.address} ${owner}`

/** What the wallets of a merchant hold before anything is paid. */
export async function readHoldings(t: Tenants, tenant: Tenant): Promise<Baseline> {
  const entries = t.networks.flatMap(({ network, assets }) =>
    assets.flatMap((asset) =>
      walletsOf(tenant, network).map(
        async (owner) =>
          [holdingName(network, asset, owner), await t.balance(network, asset, owner)] as const,
      ),
    ),
  )
  return new Map(await Promise.all(entries))
}

/**
 * The merchant's books against the chain: of every asset, the payments received and sent that the list shows are those that the summary adds
 * up, and with the money that waits for an order they make what the merchant's own wallets hold more or less than before.
 */
export async function expectLedger(t: Tenants, tenant: Tenant, before: Baseline): Promise<void> {
  const { rows, unmatched, summary, now } = await readStill(t, tenant)
  const paid = rows.filter(isConfirmedRow)
  for (const { network, assets } of t.networks) {
    for (const asset of assets) {
      const own = paid.filter((row) => row.network === network && row.asset === asset.address)
      const of = (direction: string) =>
        sum(own.filter((row) => row.direction === direction).map(({ amount }) => amount))
      const told = listAt(summary.body, 'assets').find(
        (each) => at(each, 'network') === network && at(each, 'asset') === asset.address,
      )
      const waiting = sum(
        unmatched
          .filter((each) => each.network === network && each.asset === asset.address)
          .map(({ amount }) => amount),
      )
      const spent = asset.native
        ? await feesOf(
            tenant,
            paid.filter((row) => row.network === network),
          )
        : 0n
      const moved = sum(
        walletsOf(tenant, network).map(
          (owner) =>
            held(now, holdingName(network, asset, owner)) -
            held(before, holdingName(network, asset, owner)),
        ),
      )
      expect(
        {
          of: `${tenant.name} ${asset.symbol}`,
          received: textOr(told, 'receivedAtomic'),
          sent: textOr(told, 'sentAtomic'),
          arrived: moved,
        },
        'the summary says what the list says, and both what the chain says',
      ).toEqual({
        of: `${tenant.name} ${asset.symbol}`,
        received: of('received').toString(),
        sent: of('sent').toString(),
        arrived: of('received') + waiting - of('sent') - spent,
      })
    }
  }
  const received = paid
    .filter(({ direction }) => direction === 'received')
    .map(({ network, signature }) => `${network} ${signature}`)
  expect(received.length, 'no transfer is two payments').toBe(new Set(received).size)
}

/** Read until two readings are the same: a transfer may find its payment between two requests. */
async function readStill(t: Tenants, tenant: Tenant) {
  const read = async () => {
    const [rows, unmatched, summary, now] = await Promise.all([
      readRows(tenant),
      readUnmatched(tenant),
      tenant.api.get('/payments/summary').then(succeed),
      readHoldings(t, tenant),
    ])
    return { rows, unmatched, summary, now }
  }
  type Reading = Awaited<ReturnType<typeof read>>
  const comparable = ({ rows, unmatched, now }: Reading) => ({ rows, unmatched, now })
  let last = await read()
  return eventually(
    async () => {
      const [before, next] = [last, await read()]
      last = next
      return { ...next, still: isDeepStrictEqual(comparable(before), comparable(next)) }
    },
    ({ still }) => still,
  )
}

/** Drafts of visitors who have shown nothing are in no list and in no figure of the merchant. */
export async function expectNoDrafts(tenant: Tenant, drafts: readonly string[]): Promise<void> {
  const [rows, summary] = await Promise.all([
    readRows(tenant),
    tenant.api.get('/payments/summary').then(succeed),
  ])
  expect(rows.filter(({ paymentId }) => drafts.includes(paymentId))).toEqual([])
  const counted = listAt(summary.body, 'statuses').reduce<number>(
    (total, each) => total + Number(at(each, 'count')),
    0,
  )
  expect(counted, 'the summary counts what the list shows').toBe(rows.length)
}

/** In the native currency, of what the merchant's own wallets sent. */
async function feesOf(tenant: Tenant, rows: readonly LedgerRow[]): Promise<bigint> {
  const own = rows.filter(({ sender, network }) => walletsOf(tenant, network).includes(sender))
  const fees = await Promise.all(
    own.map(async ({ paymentId }) =>
      BigInt(textAt((await readStatus(tenant, paymentId)).body, 'fee.amountAtomic')),
    ),
  )
  return sum(fees)
}

function walletsOf({ payout, managed }: Tenant, network: string): string[] {
  return familyOf(network) === 'evm'
    ? [payout.evm.address, managed.evm]
    : [payout.solana.publicKey.toBase58(), managed.solana]
}

function toRow(row: unknown): LedgerRow {
  const signature = at(row, 'signature')
  return {
    paymentId: textAt(row, 'paymentId'),
    direction: String(at(row, 'direction') ?? at(row, 'type')),
    status: textAt(row, 'status'),
    signature: typeof signature === 'string' ? signature : null,
    network: textAt(row, 'network'),
    asset: textAt(row, 'asset'),
    amount: BigInt(textAt(row, 'amountAtomic')),
    sender: textAt(row, 'sender'),
    recipient: textAt(row, 'recipient'),
  }
}

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
const held = (holdings: Baseline, name: string) => holdings.get(name) ?? 0n
const textOr = (told: unknown, field: string) => String(at(told, field) ?? '0')
