import {
  readForeignReceipts,
  readUnprovenOrders,
  type ForeignReceipt,
  type UnprovenOrder,
} from '../db/claims.ts'
import type { Commands } from './command-line.ts'

export const paymentCommands: Commands = {
  'payment unproven': {
    options: [],
    async run({ db }) {
      const [orders, receipts] = await Promise.all([
        readUnprovenOrders(db),
        readForeignReceipts(db),
      ])
      const lines = [
        `Orders that were confirmed by parties and amount alone, before evidence of the payer was asked for: ${orders.length}.`,
        ...orders.map(describeOrder),
        `Payments that an account received for a wallet of another account: ${receipts.length}.`,
        ...receipts.map(describeReceipt),
      ]
      return { value: { orders, receipts }, text: lines.join('\n') }
    },
  },
}

function describeOrder(order: UnprovenOrder): string {
  const { competing } = order
  return [
    ...describePayment(order),
    competing === 0
      ? 'no equal order'
      : `${competing} equal ${competing === 1 ? 'order' : 'orders'}`,
  ].join('  ')
}

function describeReceipt(receipt: ForeignReceipt): string {
  return [...describePayment(receipt), `the wallet belongs to ${receipt.ownerId}`].join('  ')
}

function describePayment({
  paymentId,
  accountId,
  network,
  signature,
  sender,
  recipient,
  asset,
  amountAtomic,
}: Omit<UnprovenOrder, 'competing'>): string[] {
  return [
    paymentId,
    accountId,
    network,
    signature ?? 'no transaction',
    `${sender} → ${recipient}`,
    `${amountAtomic} of ${asset}`,
  ]
}
