const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const LENGTH = 22

/** `pay_…`, `acc_…`, `key_…`, `wal_…`: 22 base58 characters that spell 128 random bits. Unguessable and never sequential. */
export function createId<Prefix extends string>(prefix: Prefix): `${Prefix}_${string}` {
  let value = 0n
  for (const byte of crypto.getRandomValues(new Uint8Array(16)))
    value = (value << 8n) | BigInt(byte)
  let text = ''
  for (let index = 0; index < LENGTH; index++) {
    text = BASE58.charAt(Number(value % 58n)) + text
    value /= 58n
  }
  return `${prefix}_${text}`
}

/**
 * The states of a payment and the moves between them, as data. Every program reads this table;
 * nothing else decides.
 *
 * created     built or accepted; no byte is known to be on the chain
 * pending     broadcast, reported, or seen; the outcome is open
 * confirmed   landed and paid, by the network's confirmation policy
 * finalized   landed permanently
 * expired     can no longer land and was never seen
 * failed      landed and reverted, refused before broadcast, or can no longer land after broadcast
 * rolled_back was confirmed; its block is gone
 */
export const PAYMENT_STATUSES = [
  'created',
  'pending',
  'confirmed',
  'finalized',
  'expired',
  'failed',
  'rolled_back',
] as const
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

/**
 * What lists are narrowed by: the statuses, and what of a paid payment went back. No payment has the
 * last two as its `status`: it stays confirmed or finalized, and its `refund` says the rest.
 */
export const LISTED_STATUSES = [...PAYMENT_STATUSES, 'refunded', 'partly_refunded'] as const
export type ListedStatus = (typeof LISTED_STATUSES)[number]

export const PAYMENT_MODES = ['local', 'hosted', 'received'] as const
export type PaymentMode = (typeof PAYMENT_MODES)[number]

/** A payment as seen by an account that owns the recipient, the sender, both, or neither. */
export const DIRECTIONS = ['received', 'sent', 'internal', 'external'] as const
export type Direction = (typeof DIRECTIONS)[number]

/**
 * What ties a landed transaction to an order, as only its payer can provide it:
 *
 * hosted          the service signed this transaction for this payment
 * memo            Solana: the memo carries the payment id
 * payer_signature the payer signed the order and the nonce of the transaction
 * fingerprint     the fees per gas are the random ones the order was built with
 * sender          the sender is verified by its session or owned by the account
 * unproven        confirmed before evidence was required: matched by parties and amount alone
 */
export const EVIDENCES = [
  'hosted',
  'memo',
  'payer_signature',
  'fingerprint',
  'sender',
  'unproven',
] as const
export type Evidence = (typeof EVIDENCES)[number]

/** Who observed what an event reports. */
export const EVENT_SOURCES = ['service', 'client', 'watcher', 'facilitator'] as const
export type EventSource = (typeof EVENT_SOURCES)[number]

export const LEGAL_MOVES: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>> = {
  created: ['pending', 'expired', 'failed'],
  pending: ['confirmed', 'failed'],
  confirmed: ['finalized', 'rolled_back'],
  rolled_back: ['pending', 'confirmed', 'failed'],
  expired: ['confirmed'],
  finalized: [],
  failed: [],
}

export function canMove(from: PaymentStatus, to: PaymentStatus): boolean {
  return LEGAL_MOVES[from].includes(to)
}

/** Whether the status is final, unless the chain contradicts itself. */
export function isSettled(status: PaymentStatus): boolean {
  return status === 'finalized' || status === 'failed' || status === 'expired'
}

/** Whether the payee has the money by the network's confirmation policy. */
export function isPaid(status: PaymentStatus): boolean {
  return status === 'confirmed' || status === 'finalized'
}

const PAYMENT_ID = /^pay_[1-9A-HJ-NP-Za-km-z]{22}$/

export function createPaymentId(): string {
  return createId('pay')
}

export function isPaymentId(text: string): boolean {
  return PAYMENT_ID.test(text)
}

const NAMED_ID = /(?=(pay_[1-9A-HJ-NP-Za-km-z]{22}))/g

/** The ids of payments that a text names, each once. */
export function namedPaymentIds(text: string): Set<string> {
  return new Set([...text.matchAll(NAMED_ID)].map(([, id = '']) => id))
}

/** What of a payment is neither refunded nor on its way back, and never less than nothing. Atomic units. */
export function refundableOf({
  amountAtomic,
  refund: { refundedAtomic, pendingAtomic },
}: {
  amountAtomic: string
  refund: { refundedAtomic: string; pendingAtomic: string }
}): bigint {
  const left = BigInt(amountAtomic) - BigInt(refundedAtomic) - BigInt(pendingAtomic)
  return left > 0n ? left : 0n
}
