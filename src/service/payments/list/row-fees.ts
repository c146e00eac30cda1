import { and, eq, inArray, sql } from 'drizzle-orm'
import { formatAmount } from '#contract/amount.ts'
import type { EndpointReply } from '#contract/endpoints.ts'
import { LosslessNumber } from '#contract/json.ts'
import {
  familyOf,
  NATIVE_ETH,
  NATIVE_SOL,
  nativeAsset,
  type Asset,
  type Network,
} from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import type { PaymentRecord } from '../../db/payments.ts'
import { WHOLE_ACCOUNT } from '../../db/schema/tally.ts'
import { walletOwner } from '../../db/schema/wallet.ts'
import { readPaid, type PaidFee } from '../paid-fee.ts'

/** Later than any payment. */
const NEVER = new Date(8.64e15)

type RowFee = EndpointReply<'paymentList'>['payments'][number]['fee']

export type FeeReader = {
  networks: readonly Network[]
  accountId: string
  /** Looked from these wallets; from those of the account without any. */
  wallets: readonly string[] | undefined
}

/**
 * What the chain took for the transactions of these payments, and from whom. Two queries, and only
 * where another wallet than the sender may have paid; one more for networks that are configured no more.
 */
export async function readRowFees(
  db: Database,
  rows: readonly PaymentRecord[],
  { networks, accountId, wallets }: FeeReader,
): Promise<Map<string, RowFee>> {
  const paidOf = await readPaid(db, rows)
  const paid = rows.flatMap((row) => {
    const fee = paidOf(row)
    return fee ? [{ row, fee }] : []
  })
  const [owned, nativeOf] = await Promise.all([
    readOwned(db, accountId, {
      wallets,
      payers: paid.flatMap(({ row, fee }) => (isSender(row, fee) ? [] : (fee.payer ?? []))),
    }),
    readNatives(db, {
      networks,
      accountId,
      ids: paid.map(({ row }) => row.network),
    }),
  ])
  return new Map(
    paid.map(({ row, fee: { feeAtomic, payer } }) => {
      const { symbol, decimals } = nativeOf(row.network)
      const own = wallets
        ? payer !== null && wallets.includes(payer)
        : payer === row.sender
          ? row.direction === 'sent' || row.direction === 'internal'
          : payer !== null && row.createdAt < (owned.get(payer) ?? row.createdAt)
      return [
        row.id,
        {
          amount: new LosslessNumber(formatAmount(feeAtomic, decimals)),
          amountAtomic: feeAtomic.toString(),
          symbol,
          decimals,
          payer,
          own,
        },
      ]
    }),
  )
}

const isSender = (row: PaymentRecord, { payer }: PaidFee) => payer === row.sender

type NativeCurrency = Pick<Asset, 'symbol' | 'decimals'>

/** Of an EVM network that is configured no more, where nothing was paid in it. */
const UNNAMED: NativeCurrency = { symbol: 'native', decimals: NATIVE_ETH.decimals }

/**
 * What network fees are paid in: as configured, or as the account's last payment in it says where the
 * network is configured no more. The tallies tell its day: no index finds an asset.
 */
export async function readNatives(
  db: Database,
  {
    networks,
    accountId,
    ids,
  }: Pick<FeeReader, 'networks' | 'accountId'> & { ids: readonly string[] },
): Promise<(network: string) => NativeCurrency> {
  const known = new Map<string, NativeCurrency>(
    networks.map((each) => [each.network, nativeAsset(each)]),
  )
  const unknown = [...new Set(ids)].filter((id) => familyOf(id) === 'evm' && !known.has(id))
  if (unknown.length > 0) {
    const named = sql`account_id = ${accountId} and day >= 0 and asset = ${NATIVE_ETH.address} and network in (${sql.join(
      unknown.map((id) => sql`${id}`),
      sql`, `,
    )})`
    const { rows } = await db.execute<NativeCurrency & { network: string }>(sql`
      select latest.network, last.symbol, last.decimals
      from (
        select network, max(day) as day from (
          select network, day from service.payment_tally where ${named} and party = ${WHOLE_ACCOUNT} and payments > 0
          union all select network, day from service.payment_change where ${named}
        ) as days group by network
      ) as latest
      cross join lateral (
        select symbol, decimals from service.payment
        where account_id = ${accountId} and not draft and created_at >= to_timestamp(latest.day::float8 * 86400)
          and created_at < to_timestamp((latest.day + 1)::float8 * 86400)
          and payment.network = latest.network and asset = ${NATIVE_ETH.address}
        order by created_at desc, id desc limit 1
      ) as last`)
    for (const { network, ...currency } of rows) known.set(network, currency)
  }
  return (id) => known.get(id) ?? (familyOf(id) === 'evm' ? UNNAMED : NATIVE_SOL)
}

/**
 * Until when these wallets were the account's: a fee of a payment that was created before their release
 * stays in its books, as the payment's direction does. A registration counts for earlier payments too.
 */
async function readOwned(
  db: Database,
  accountId: string,
  { wallets, payers }: { wallets: readonly string[] | undefined; payers: readonly string[] },
): Promise<ReadonlyMap<string, Date>> {
  if (wallets || payers.length === 0) return new Map()
  const rows = await db
    .select({ address: walletOwner.address, releasedAt: walletOwner.releasedAt })
    .from(walletOwner)
    .where(
      and(eq(walletOwner.accountId, accountId), inArray(walletOwner.address, [...new Set(payers)])),
    )
  const until = new Map<string, Date>()
  for (const { address, releasedAt } of rows) {
    const [known, at] = [until.get(address), releasedAt ?? NEVER]
    if (!known || known < at) until.set(address, at)
  }
  return until
}
