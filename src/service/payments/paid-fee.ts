import { inArray } from 'drizzle-orm'
import { familyOf, NATIVE_ETH, NATIVE_SOL } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import type { PaymentRecord } from '../db/payments.ts'
import { settlementFee, settlementOrder } from '../db/schema/proof.ts'

export type PaidFee = {
  feeAtomic: bigint
  payer: string | null
  /** Whether it was paid for the transaction that the payment names. */
  ofTransaction: boolean
}

/** What the chain took for these payments: the one reader of it, for lists and for a payment alone. */
export async function readPaid(
  db: Database,
  rows: readonly PaymentRecord[],
): Promise<(row: PaymentRecord) => PaidFee | undefined> {
  const received = rows.filter(({ mode }) => mode === 'received')
  const settled = await readSettled(db, {
    ids: received.map(({ id }) => id),
    unnamed: received.filter(({ fee, feePayer }) => fee !== null && feePayer === null),
  })
  return (row) => feeOf(row, settled.get(row.id))
}

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

function feeOf(row: PaymentRecord, settled: Settled | undefined): PaidFee | undefined {
  // A settlement that failed has cost its wallet a fee as well; 0 where nothing landed.
  if (settled?.wallet) {
    const { wallet, paid } = settled
    if (!paid) return undefined
    const ofTransaction = row.fee === paid && (row.feePayer ?? wallet) === wallet
    return { feeAtomic: paid, payer: wallet, ofTransaction }
  }
  if (row.fee === null) return undefined
  const payer = payerOf(row, settled?.byPayee === true)
  return { feeAtomic: row.fee, payer, ofTransaction: true }
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
