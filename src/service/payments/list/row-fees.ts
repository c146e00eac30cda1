import { and, eq, inArray } from 'drizzle-orm'
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
import { settlementFee, settlementOrder } from '../../db/schema/proof.ts'
import { walletOwner } from '../../db/schema/wallet.ts'

/** Later than any payment. */
const NEVER = new Date(8.64e15)

type RowFee = EndpointReply<'paymentList'>['payments'][number]['fee']
type Paid = { feeAtomic: bigint; payer: string | null }

export type FeeReader = {
  networks: readonly Network[]
  accountId: string
  /** Looked from these wallets; from those of the account without any. */
  wallets: readonly string[] | undefined
}

/**
 * What the chain took for the transactions of these payments, and from whom. Two queries, and only
 * where another wallet than the sender may have paid.
 */
export async function readRowFees(
  db: Database,
  rows: readonly PaymentRecord[],
  { networks, accountId, wallets }: FeeReader,
): Promise<Map<string, RowFee>> {
  const received = rows.filter(({ mode }) => mode === 'received')
  const settled = await readSettled(db, {
    ids: received.map(({ id }) => id),
    unnamed: received.filter(({ fee, feePayer }) => fee !== null && feePayer === null),
  })
  const paid = rows.flatMap((row) => {
    const fee = feeOf(row, settled.get(row.id))
    return fee ? [{ row, fee }] : []
  })
  const owned = await readOwned(db, accountId, {
    wallets,
    payers: paid.flatMap(({ row, fee }) => (isSender(row, fee) ? [] : (fee.payer ?? []))),
  })
  return new Map(
    paid.map(({ row, fee: { feeAtomic, payer } }) => {
      const { symbol, decimals } = nativeOf(networks, row.network)
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

const isSender = (row: PaymentRecord, { payer }: Paid) => payer === row.sender

type Settled = { wallet: string | null; paid: bigint | null; byPayee: boolean }

/**
 * Who paid for the settlements of proofs: a wallet of the service, or the payee itself. `unnamed`:
 * rows without the fee's payer, from before it was recorded.
 */
async function readSettled(
  db: Database,
  { ids, unnamed }: { ids: readonly string[]; unnamed: readonly PaymentRecord[] },
): Promise<Map<string, Settled>> {
  const [fees, orders] = await Promise.all([
    ids.length === 0
      ? []
      : db
          .select({
            id: settlementFee.paymentId,
            wallet: settlementFee.wallet,
            paid: settlementFee.paid,
          })
          .from(settlementFee)
          .where(inArray(settlementFee.paymentId, [...ids])),
    unnamed.length === 0
      ? []
      : db
          .select({ id: settlementOrder.paymentId })
          .from(settlementOrder)
          .where(
            inArray(
              settlementOrder.paymentId,
              unnamed.map(({ id }) => id),
            ),
          ),
  ])
  return new Map<string, Settled>([
    ...orders.map(({ id }) => [id, { wallet: null, paid: null, byPayee: true }] as const),
    ...fees.map(({ id, wallet, paid }) => [id, { wallet, paid, byPayee: false }] as const),
  ])
}

function feeOf(row: PaymentRecord, settled: Settled | undefined): Paid | undefined {
  // A settlement that failed has cost its wallet a fee as well; 0 where nothing landed.
  if (settled?.wallet)
    return settled.paid ? { feeAtomic: settled.paid, payer: settled.wallet } : undefined
  if (row.fee === null) return undefined
  return { feeAtomic: row.fee, payer: payerOf(row, settled?.byPayee === true) }
}

/** As in the function `payment_fee_payer` of the database. Without the chain's word the way of settling tells, as far as it can. */
function payerOf(row: PaymentRecord, byPayee: boolean): string | null {
  if (row.feePayer !== null) return row.feePayer
  if (row.mode !== 'received' || row.asset === nativeAddress(row.network)) return row.sender
  return byPayee ? row.recipient : null
}

export function nativeAddress(network: string): string {
  return (familyOf(network) === 'evm' ? NATIVE_ETH : NATIVE_SOL).address
}

/** What network fees are paid in. */
export function nativeOf(
  networks: readonly Network[],
  id: string,
): Pick<Asset, 'symbol' | 'decimals'> {
  const network = networks.find(({ network: each }) => each === id)
  return network ? nativeAsset(network) : familyOf(id) === 'evm' ? NATIVE_ETH : NATIVE_SOL
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
