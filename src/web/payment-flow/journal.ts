import { openDB, type DBSchema, type IDBPDatabase } from 'idb'
import type {
  Sent,
  TransactionOwner,
  UnnamedTransaction,
  WalletPaymentIntent,
} from '../payment-intent/intent.ts'
import { canCancel, isPaid, isTerminal, mayHaveLeft, type PaymentState } from './machine.ts'

/** One payment as this browser remembers it. `revision` grows with every write: two tabs cannot both move it on. */
export type JournalEntry = {
  id: string
  revision: number
  /** Unix milliseconds. */
  updatedAt: number
  open: 0 | 1
  state: PaymentState
  /** Earlier attempts, newest last: what was built and signed before each rebuild. */
  earlier: readonly PaymentState[]
  /** Unix milliseconds: when this browser first saw it paid. */
  paidAt?: number
  /** Whether the service was told of the signature of this attempt. */
  reported: boolean
}

/** Another tab wrote this payment first. */
export class JournalConflictError extends Error {
  override name = 'JournalConflictError'
}

export interface Journal {
  read(id: string): Promise<JournalEntry | undefined>
  /** Writes the entry durably before it resolves, or throws `JournalConflictError` when another writer was first. */
  write(entry: JournalEntry): Promise<void>
  /** Payments whose outcome is open, newest first. */
  listOpen(): Promise<JournalEntry[]>
  list(): Promise<JournalEntry[]>
}

interface Schema extends DBSchema {
  payments: { key: string; value: JournalEntry; indexes: { open: number; updatedAt: number } }
}

/** Settled payments kept for receipts and for the "first time" finding. */
const MAX_SETTLED = 100

/** Where settlements are kept: apart from payments, because of the proofs in them. */
export const SETTLEMENTS = 'paydesk-settlements'

/** Where payments of the explorer are kept: apart, because no service knows them. */
export const PURCHASE_PAYMENTS = 'paydesk-visit-payments'

/** The journal in this browser's IndexedDB. */
export function openJournal(name = 'paydesk-payments'): Journal {
  let opened: Promise<IDBPDatabase<Schema>> | undefined
  const open = () => (opened ??= openDatabase(name, () => (opened = undefined)))

  return {
    read: async (id) => (await open()).get('payments', id),
    write: async (entry) => writeEntry(await open(), entry),
    listOpen: async () => newestFirst(await (await open()).getAllFromIndex('payments', 'open', 1)),
    list: async () => newestFirst(await (await open()).getAll('payments')),
  }
}

/** A wallet that was asked has answered by then, or its answer is lost. */
const ANSWERED_WITHIN_MS = 6 * 60_000

/**
 * Whose a transaction is that a search for `order` found. One transfer never ends two payments:
 * nobody would follow the second transfer.
 */
export async function readOwner(
  journals: readonly Journal[],
  { order, sent }: { order: WalletPaymentIntent; sent: Sent },
  { signature, nonce, now }: UnnamedTransaction & { now: number },
): Promise<TransactionOwner> {
  const entries = (await Promise.all(journals.map((journal) => journal.list()))).flat()
  const others = entries.filter(
    ({ id, state }) => id !== order.id && state.order.sender === order.sender,
  )
  const all = others.flatMap(({ state, earlier }) => [state, ...earlier])
  if (all.some((state) => 'sent' in state && state.sent.signature === signature)) return 'other'
  const open = others.some(({ state }) =>
    mayBeInWallet(state)
      ? now - state.since < ANSWERED_WITHIN_MS && isTwin(state.order, order)
      : // Whose nonce it certainly is takes it first, as after a speed-up under another hash.
        sent.nonce === undefined &&
        'sent' in state &&
        state.step !== 'failed' &&
        state.sent.nonce === nonce &&
        state.order.network === order.network,
  )
  return open ? 'open' : 'free'
}

/** A wallet that sends by itself has the request open, and may send when this browser no longer waits for it. */
export function mayBeInWallet(
  state: PaymentState,
): state is Extract<PaymentState, { step: 'awaiting_wallet' }> {
  return state.step === 'awaiting_wallet' && !canCancel(state)
}

/** The service looks for a payment for so long. A code that nobody paid until then is no open payment. */
const CODE_LOOKED_FOR_MS = 25 * 3_600_000

/** Whether a payment was begun and may still be made, or has an outcome that is open: nobody should pay it a second time. `now` in Unix milliseconds. */
export function isOutstanding(state: PaymentState, now: number): boolean {
  if (state.step === 'code') return now < state.order.createdAt + CODE_LOOKED_FOR_MS
  return (
    !isPaid(state) &&
    (mayHaveLeft(state) || state.step === 'signed' || state.step === 'awaiting_wallet')
  )
}

/** So much of the same asset to the same recipient: five dollars' worth of a token are not five ether. */
export function isTwin(one: WalletPaymentIntent, other: WalletPaymentIntent): boolean {
  return (
    one.network === other.network &&
    one.recipient === other.recipient &&
    one.amountAtomic === other.amountAtomic &&
    one.asset.address === other.asset.address
  )
}

/** What was signed, and proofs of others, go once the payment is settled or nothing came of it. */
function forgetful(state: PaymentState): PaymentState {
  const { operation } = state.order
  const order =
    operation && 'proof' in operation
      ? { ...state.order, operation: { ...operation, proof: '' } }
      : state.order
  return 'sent' in state
    ? { ...state, order, sent: { ...state.sent, bytes: null } }
    : { ...state, order }
}

/** The e-mail address that a payer typed goes once nothing can be built with it again. */
function withoutEmail(state: PaymentState): PaymentState {
  const { link, ...order } = state.order
  if (link?.email === undefined) return state
  const { email: _, ...other } = link
  return { ...state, order: { ...order, link: other } }
}

function storable(state: PaymentState): PaymentState {
  if (state.step === 'finalized' || state.step === 'cancelled')
    return withoutEmail(forgetful(state))
  return isTerminal(state) || state.step === 'draft' ? forgetful(state) : state
}

/** The entry as it may be stored. */
export function journalEntry(
  previous: JournalEntry | undefined,
  state: PaymentState,
  now: number,
): JournalEntry {
  const paidAt = previous?.paidAt ?? (isPaid(state) ? now : undefined)
  const rebuilt = previous !== undefined && state.attempt > previous.state.attempt
  return {
    id: state.order.id,
    revision: (previous?.revision ?? 0) + 1,
    updatedAt: now,
    open: isTerminal(state) || state.step === 'draft' ? 0 : 1,
    state: storable(state),
    // Of an attempt before this one nothing is sent or built again.
    earlier: rebuilt
      ? [...previous.earlier, withoutEmail(forgetful(previous.state))]
      : (previous?.earlier ?? []),
    ...(paidAt !== undefined && { paidAt }),
    reported: rebuilt ? false : (previous?.reported ?? false),
  }
}

async function openDatabase(name: string, forget: () => void): Promise<IDBPDatabase<Schema>> {
  const database = await openDB<Schema>(name, 2, {
    async upgrade(...[upgraded, from, , transaction]) {
      if (from === 0) {
        const store = upgraded.createObjectStore('payments', { keyPath: 'id' })
        store.createIndex('open', 'open')
        store.createIndex('updatedAt', 'updatedAt')
        return
      }
      const store = transaction.objectStore('payments')
      for (const entry of await store.getAll()) await store.put(renameFields(entry))
    },
    // A newer tab wants to upgrade: step aside, and open again on the next use.
    blocking: () => {
      database.close()
      forget()
    },
    terminated: forget,
  })
  return database
}

/** Names of version 1 of this database, and what they are called since version 2. */
const RENAMED: Record<string, string> = {
  deed: 'operation',
  sponsor: 'feePayer',
  trouble: 'userError',
  allow: 'approve',
  carry_out: 'execute',
}

/** An entry of version 1 under the names of version 2. A payment under way must not be misread. */
function renameFields<T>(entry: T): T {
  const rename = (value: unknown, key = ''): unknown => {
    if (Array.isArray(value)) return value.map((item) => rename(item))
    if (typeof value === 'string')
      return key === 'kind' || key === 'way' ? (RENAMED[value] ?? value) : value
    if (
      typeof value !== 'object' ||
      value === null ||
      Object.getPrototypeOf(value) !== Object.prototype
    )
      return value
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [RENAMED[name] ?? name, rename(item, name)]),
    )
  }
  return rename(entry) as T
}

async function writeEntry(database: IDBPDatabase<Schema>, entry: JournalEntry): Promise<void> {
  // Relaxed durability may lose the last writes of a crash; what is written here decides whether money moves again.
  const transaction = database.transaction('payments', 'readwrite', { durability: 'strict' })
  const stored = await transaction.store.get(entry.id)
  if ((stored?.revision ?? 0) !== entry.revision - 1) {
    transaction.abort()
    await transaction.done.catch(() => undefined)
    throw new JournalConflictError(`Payment ${entry.id} was moved on by another tab.`)
  }
  await transaction.store.put(entry)
  if (!stored) await prune(transaction.store)
  await transaction.done
}

type Store = {
  index(name: 'updatedAt'): { getAll(): Promise<JournalEntry[]> }
  delete(key: string): Promise<void>
}

async function prune(store: Store): Promise<void> {
  const settled = (await store.index('updatedAt').getAll()).filter((entry) => entry.open === 0)
  for (const entry of settled.slice(0, Math.max(0, settled.length - MAX_SETTLED)))
    await store.delete(entry.id)
}

function newestFirst(entries: JournalEntry[]): JournalEntry[] {
  return entries.sort((a, b) => b.state.order.createdAt - a.state.order.createdAt)
}
