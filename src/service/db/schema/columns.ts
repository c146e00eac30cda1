import { customType, pgSchema, timestamp } from 'drizzle-orm/pg-core'

/**
 * The service's tables. They have a separate Postgres schema, so that the proxy can share the
 * database.
 */
export const service = pgSchema('service')

/** Atomic units: up to 2^256, exact, `bigint` inside. */
export const atomic = customType<{ data: bigint; driverData: string }>({
  dataType: () => 'numeric(78,0)',
  fromDriver: BigInt,
  toDriver: String,
})

/** A sum of atomic units, which may have more digits than one amount. */
export const atomicSum = customType<{ data: bigint; driverData: string }>({
  dataType: () => 'numeric',
  fromDriver: BigInt,
  toDriver: String,
})

export const at = (name: string) =>
  timestamp(name, { withTimezone: true, precision: 3, mode: 'date' })

/**
 * What a payment is found by beside its columns, as Postgres spells it: an index and the query that uses it must say the same.
 * An entry of an index has little room, so only so many characters of each are in it.
 */
export const SEARCHED = 200

/** The resource without its scheme, in small letters. */
const RESOURCE = String.raw`regexp_replace(lower(resource), '^https?://', '')`

/** The JSON text of `metadata.referenceId`, quotes and all; metadata is kept as it was sent, which Postgres' own JSON may not take. */
const REFERENCE = String.raw`substring(metadata from '"referenceId":("(?:[^"\\]|\\.)*")')`

/** Amounts of all assets are compared on this many decimals, more than any asset has. */
export const AMOUNT_DECIMALS = 36

export const searchExpressions = {
  resource: RESOURCE,
  resourceStart: `left(${RESOURCE}, ${SEARCHED})`,
  referenceStart: `left(${REFERENCE}, ${SEARCHED})`,
  /** The words of metadata, both addresses and the hash, and a mark of the account. */
  words: 'service.payment_words(account_id, metadata, sender, recipient, signature)',
  /** What they are the words of: written as in `payment_words`. */
  written: String.raw`lower(replace(coalesce(metadata, ''), '\n', ' ') || ' ' || sender || ' ' || recipient || ' ' || coalesce(signature, ''))`,
  /** When the money moved: the time that the entries of an export carry. */
  landedAt: 'coalesce(block_time, confirmed_at, created_at)',
  /** What has an entry: it was paid, or it failed and cost its fee. */
  hasLanded: "status in ('confirmed', 'finalized', 'failed')",
  scaledAmount: `(amount * power(10::numeric, ${AMOUNT_DECIMALS} - decimals))`,
} as const
