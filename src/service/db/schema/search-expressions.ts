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
  scaledAmount: `(amount * power(10::numeric, ${AMOUNT_DECIMALS} - decimals))`,
} as const
