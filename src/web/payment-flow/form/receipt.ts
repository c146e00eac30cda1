import { formatAmount } from '#contract/amount.ts'
import { familyOf, type Network } from '#contract/network.ts'
import type { Receipt } from '#contract/receipt.ts'
import { isPaid, type PaymentState } from '../machine.ts'
import { callNetwork } from '../../rpc/call.ts'

/** The receipt of a paid payment; nothing while it is not paid by our own RPC's word. */
export function receiptOf(state: PaymentState): Omit<Receipt, 'signed'> | undefined {
  if (!isPaid(state) || (state.step !== 'confirmed' && state.step !== 'finalized')) return undefined
  const { order, built, landed } = state
  const counted = order.item ?? order.quantity
  return {
    receipt: 'paydesk/2',
    paymentId: built.paymentId,
    network: order.network,
    transaction: landed.signature,
    height: landed.height,
    blockHash: landed.blockHash,
    status: state.step,
    payer: order.sender,
    recipient: order.recipient,
    amount: formatAmount(order.amountAtomic, order.asset.decimals),
    amountAtomic: order.amountAtomic.toString(),
    asset: order.asset.address,
    symbol: order.asset.symbol,
    decimals: order.asset.decimals,
    feeAtomic: landed.feeAtomic.toString(),
    resource: order.resource ?? null,
    description: order.description ?? null,
    reference: order.reference ?? null,
    ...(counted &&
      counted.pieces > 1 && { quantity: { pieces: counted.pieces, price: counted.price } }),
    ...(order.quote && { quote: order.quote }),
    orderedAt: order.createdAt,
  }
}

/** With the bytes that the payer signed, as the user's own RPC hands them out; without them where it does not. */
export async function fullReceiptOf(
  state: PaymentState,
  network: Network,
): Promise<Receipt | undefined> {
  const receipt = receiptOf(state)
  return receipt && withSigned(receipt, network)
}

export async function withSigned(
  receipt: Omit<Receipt, 'signed'>,
  network: Network,
): Promise<Receipt> {
  return { ...receipt, signed: await signedBytes(network, receipt.transaction).catch(() => null) }
}

async function signedBytes(network: Network, transaction: string): Promise<Receipt['signed']> {
  const { readSignedEvm, readSignedSolana } = await import('./signed-transaction.ts')
  const callEndpoint = (method: string, params: readonly unknown[]) =>
    callNetwork(network, method, params)
  if (familyOf(network.network) === 'evm')
    return readSignedEvm(await callEndpoint('eth_getTransactionByHash', [transaction]), transaction)
  const options = { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 }
  return readSignedSolana(await callEndpoint('getTransaction', [transaction, options]), transaction)
}
