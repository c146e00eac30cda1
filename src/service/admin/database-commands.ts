import { resolve } from 'node:path'
import * as v from 'valibot'
import { backUpDatabase } from '#postgres/backup.ts'
import {
  readForeignReceipts,
  readUnprovenOrders,
  type ForeignReceipt,
  type UnprovenOrder,
} from '../db/claims.ts'
import { startEpoch } from '../db/deployment.ts'
import { read, type ClosedCommands, type Commands } from './command-line.ts'

export const backupCommands: ClosedCommands = {
  backup: {
    options: ['file'],
    async runClosed(source, values) {
      const file = resolve(
        read(values, 'file', [v.pipe(v.string(), v.nonEmpty()), 'the path of a new file']),
      )
      const bytes = await backUpDatabase(source, file)
      return {
        value: { file, bytes },
        text: `The backup is in ${file}, ${bytes} bytes.
It has neither the vault key nor SIGNER_DIR: keep a copy of the vault key apart from it.`,
      }
    },
  },
}

export const restoreCommands: Commands = {
  restore: {
    options: [],
    declaresRestore: true,
    async run({ db }) {
      const epoch = await startEpoch(db)
      return {
        value: { epoch },
        text: `Epoch ${epoch} begins. Start the service: it compares each network and wallet with its chain, and sends and grants again after that.
Keys that were revoked and wallets that were released since the backup are valid again: check key list and wallet owners.`,
      }
    },
  },
}

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
