import { t } from '@lingui/core/macro'
import { openDB, type DBSchema, type IDBPDatabase } from 'idb'
import type { ResourceInfo } from '#x402/requirements.ts'
import { noteOpenPurchase } from '../../../local-data/open-purchases.ts'
import { ReaderError } from '../../../locales/reader-error.ts'
import type { Version } from '../request/challenge.ts'
import type { ResourceRequest } from '../request/request.ts'
import type { PaymentHeader } from '../request/send-request.ts'
import type { Way } from '../request/usable.ts'

/** What a server said to a request that carried the payment. */
export type Delivery = {
  /** Unix milliseconds. */
  at: number
  /** Null: no answer that could be read. */
  status: number | null
  outcome: 'served' | 'pending' | 'refused' | 'failed' | 'unanswered'
  /** What `PAYMENT-RESPONSE` says, in x402's word. */
  reason: string | null
}

/**
 * One paid request, from the choice of an offer to the answer. The payment itself is the machine's, in its own journal under the same id;
 * this remembers what was asked, by which terms, and the one header that pays it: made once, sent as often as it takes.
 */
export type Purchase = {
  id: string
  revision: number
  /** Unix milliseconds. */
  createdAt: number
  updatedAt: number
  request: ResourceRequest
  version: Version
  /** The entry of `accepts` as it came, in JSON: numbers keep their digits. */
  entry: string
  resource: ResourceInfo
  way: Way
  header: PaymentHeader | null
  /** The newest ones. */
  deliveries: readonly Delivery[]
  /** How many there were. Entries of former versions have it from the next delivery on. */
  deliveryCount?: number
  /** Unix milliseconds of the first response with what was paid for. */
  servedAt?: number
  /** Unix milliseconds: the reader said by hand that they have it. */
  closedAt?: number
}

const MAX_DELIVERIES = 20

/** The server has given what was paid for. */
export function isServed({ servedAt, deliveries }: Purchase): boolean {
  return servedAt !== undefined || deliveries.some(({ outcome }) => outcome === 'served')
}

/** Nothing more is expected: it was delivered, or its reader says so. */
export function isClosed(purchase: Purchase): boolean {
  return purchase.closedAt !== undefined || isServed(purchase)
}

/** Closes a purchase by hand, or opens it again. */
export function closeByHand(purchase: Purchase, closedAt: number | null): Purchase {
  const { closedAt: before, ...open } = purchase
  return closedAt === null ? open : { ...open, closedAt: before ?? closedAt }
}

export function countDeliveries({ deliveryCount, deliveries }: Purchase): number {
  return deliveryCount ?? deliveries.length
}

/** With one more answer. The number of answers and the one that delivered outlast the list. */
export function addDelivery(purchase: Purchase, delivery: Delivery): Purchase {
  const deliveries = [...purchase.deliveries, delivery]
  const servedAt = purchase.servedAt ?? deliveries.find(({ outcome }) => outcome === 'served')?.at
  return {
    ...purchase,
    deliveries: deliveries.slice(-MAX_DELIVERIES),
    deliveryCount: countDeliveries(purchase) + 1,
    ...(servedAt !== undefined && { servedAt }),
  }
}

/** The paid requests of this browser. A header in here is as good as money until it is used: it leaves for its server alone. */

interface Schema extends DBSchema {
  visits: { key: string; value: Purchase; indexes: { updatedAt: number } }
}

/** Visits that are served or closed, and kept to be looked at. */
const MAX_CLOSED = 20

let opened: Promise<IDBPDatabase<Schema>> | undefined

/** @throws an error when another tab wrote this purchase first, or the browser keeps nothing */
export async function writePurchase(purchase: Purchase): Promise<Purchase> {
  const database = await open()
  const next = { ...purchase, revision: purchase.revision + 1, updatedAt: Date.now() }
  const transaction = database.transaction('visits', 'readwrite', { durability: 'strict' })
  const stored = await transaction.store.get(purchase.id)
  if ((stored?.revision ?? 0) !== purchase.revision) {
    transaction.abort()
    await transaction.done.catch(() => undefined)
    throw new ReaderError(t`Open in another tab. Continue there, or close it.`)
  }
  await transaction.store.put(next)
  if (!stored) await prune(transaction.store)
  await transaction.done
  noteOpenPurchase(next.id, !isClosed(next))
  return next
}

export async function readPurchase(id: string): Promise<Purchase | undefined> {
  return (await open()).get('visits', id)
}

/** Newest first. */
export async function listPurchases(): Promise<Purchase[]> {
  return (await (await open()).getAllFromIndex('visits', 'updatedAt')).toReversed()
}

function open(): Promise<IDBPDatabase<Schema>> {
  return (opened ??= openDB<Schema>('paydesk-visits', 1, {
    upgrade(database) {
      database.createObjectStore('visits', { keyPath: 'id' }).createIndex('updatedAt', 'updatedAt')
    },
    // A newer tab wants to upgrade: step aside, and open again on the next use.
    blocking: (_current, _blocked, event) => {
      if (event.target instanceof IDBDatabase) event.target.close()
      opened = undefined
    },
    terminated: () => (opened = undefined),
  }))
}

type Store = {
  index(name: 'updatedAt'): { getAll(): Promise<Purchase[]> }
  delete(key: string): Promise<void>
}

async function prune(store: Store): Promise<void> {
  const closed = (await store.index('updatedAt').getAll()).filter(isClosed)
  for (const { id } of closed.slice(0, Math.max(0, closed.length - MAX_CLOSED)))
    await store.delete(id)
}
