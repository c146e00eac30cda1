import { formatAmount } from '#contract/amount.ts'
import { isPaid, type PaymentState } from '../../payment/machine.ts'

/** A payment in the words "payer paid X in transaction Y": what the chain shows, and nothing about a delivery. */
export type Receipt = {
  receipt: 'paydesk/1'
  paymentId: string
  network: string
  transaction: string
  height: number
  status: 'confirmed' | 'finalized'
  payer: string
  recipient: string
  amount: string
  amountAtomic: string
  asset: string
  symbol: string
  feeAtomic: string
  resource: string | null
  description: string | null
  reference: string | null
  orderedAt: number
}

/** The receipt of a paid payment; nothing while it is not paid by our own RPC's word. */
export function receiptOf(state: PaymentState): Receipt | undefined {
  if (!isPaid(state) || (state.step !== 'confirmed' && state.step !== 'finalized')) return undefined
  const { order, built, landed } = state
  return {
    receipt: 'paydesk/1',
    paymentId: built.paymentId,
    network: order.network,
    transaction: landed.signature,
    height: landed.height,
    status: state.step,
    payer: order.sender,
    recipient: order.recipient,
    amount: formatAmount(order.amountAtomic, order.asset.decimals),
    amountAtomic: order.amountAtomic.toString(),
    asset: order.asset.address,
    symbol: order.asset.symbol,
    feeAtomic: landed.feeAtomic.toString(),
    resource: order.resource ?? null,
    description: order.description ?? null,
    reference: order.reference ?? null,
    orderedAt: order.createdAt,
  }
}
