import * as v from 'valibot'
import { parseAddress } from './address.ts'
import { containsNul, LosslessNumber, stringifyJson } from './json.ts'
import { isPaymentId } from './payment.ts'

/** Field types that several endpoints share. Each reads the wire into what the programs use inside. */

/**
 * Marks text that the request log shows: an identifier, a figure, or what a chain shows to everybody.
 * All text without the mark is hidden there.
 */
export function logged<Value>() {
  return v.metadata<Value, { logged: true }>({ logged: true })
}
export const publicText = v.pipe(v.string(), logged())

/** Marks a free-form object of which the request log shows only these fields. */
export function loggedAs<Value>(fields: v.GenericSchema) {
  return v.metadata<Value, { loggedAs: v.GenericSchema }>({ loggedAs: fields })
}

/** Refuses a NUL character at any depth: Postgres stores none. */
export function noNul<Value>() {
  return v.check<Value, string>(
    (value) => !containsNul(value),
    'Expected text without a NUL character.',
  )
}

/** Refuses half of a surrogate pair: UTF-8 has no bytes for it, so the database would keep another text than was sent. */
export function wellFormed() {
  return v.check(
    (text: string) => text.isWellFormed(),
    'Expected Unicode text, received half of a surrogate pair.',
  )
}

/** Text of at most so many characters, none of them NUL: what a caller may say where no pattern can be asked for. */
export function boundedText(max: number) {
  return v.pipe(
    v.string(),
    v.maxLength(max, `Expected at most ${max} characters.`),
    noNul(),
    wellFormed(),
  )
}

/** A CAIP-2 chain id as a caller names it. Which ones there are, the configuration says. */
export const networkName = v.pipe(
  v.string(),
  v.regex(/^[-:_a-zA-Z0-9]{1,41}$/, 'Expected a CAIP-2 chain id such as eip155:8453.'),
  logged(),
)

/** An asset as a caller names it: an address, or a symbol, which need not be in Latin letters. */
/** Nothing that could be a key in the wrong place is in the request log. */
const shownAsset = v.pipe(
  v.string(),
  v.regex(/^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44}|[A-Za-z0-9.]{1,12})$/),
  logged(),
)
export const assetName = v.pipe(boundedText(64), loggedAs(shownAsset))

/** A JSON number whose digits count: in as number or `LosslessNumber`, inside as its source text. */
export const decimal = v.pipe(
  v.union(
    [v.pipe(v.number(), v.finite(expectedNumber)), v.instance(LosslessNumber)],
    expectedNumber,
  ),
  v.transform((value) => (typeof value === 'number' ? String(value) : value.value)),
  logged(),
)

function expectedNumber({ input }: { input: unknown }): string {
  return `Expected a number, received ${describe(input)}.`
}

/** A JSON number that is no money, however it is spelled: `30`, `30.0`, `3e1`. */
export const plainNumber = v.pipe(
  v.union(
    [v.pipe(v.number(), v.finite(expectedNumber)), v.instance(LosslessNumber)],
    expectedNumber,
  ),
  v.transform((value) => (typeof value === 'number' ? value : Number(value.value))),
  logged(),
)

/** Atomic units as text, for example `"10000000000000000"`. */
export const atomic = v.pipe(
  v.string(),
  v.regex(/^(0|[1-9][0-9]{0,77})$/, 'Expected atomic units as a string of digits.'),
  logged(),
)

export const paymentId = v.pipe(
  v.string(),
  v.check(isPaymentId, 'Expected pay_ and 22 base58 characters.'),
  logged(),
)

/** So many payments one request asks about. */
export const MOST_PAYMENT_IDS = 100

/** Ids with commas. */
export const paymentIdList = v.pipe(
  v.string(),
  v.transform((text) => text.split(',')),
  v.array(paymentId),
  v.maxLength(MOST_PAYMENT_IDS, `Expected at most ${MOST_PAYMENT_IDS} payment ids.`),
)

/** Unix milliseconds. */
export const timestamp = v.pipe(v.number(), v.integer())

export const resource = v.pipe(
  boundedText(2048),
  v.check(
    (text) => /^https?:\/\/\S+$/i.test(text) && URL.canParse(text),
    'Expected an absolute http or https URL.',
  ),
  // A proof carries it, and has at most 8,192 characters.
  v.check(
    (text) => new TextEncoder().encode(text).length <= 2048,
    'Expected at most 2,048 bytes of UTF-8.',
  ),
)

/** A person's words, kept as they are. Postgres text cannot hold a null character. */
export function storedText(most: number) {
  return v.pipe(
    v.string(),
    v.minLength(1, 'Expected some text.'),
    v.maxLength(most, `Expected at most ${most} characters.`),
    v.check((text) => !text.includes('\0'), 'Expected text without a null character.'),
    wellFormed(),
  )
}

const MAX_METADATA_KEYS = 32
const MAX_METADATA_BYTES = 4096
/** Answers carry metadata inside a row of a list: deeper, and the answer itself would pass the depth that readers accept. */
const MAX_METADATA_DEPTH = 10

/** Free-form: any JSON object of at most 32 keys, 10 levels and 4 KiB. Numbers keep their digits. */
export const metadata = v.pipe(
  v.custom<Record<string, unknown>>(
    isPlainObject,
    (issue) => `Expected an object, received ${describe(issue.input)}.`,
  ),
  v.check(
    (value) => Object.keys(value).length <= MAX_METADATA_KEYS,
    `Expected at most ${MAX_METADATA_KEYS} keys.`,
  ),
  v.check(
    (value) => depthOf(value) <= MAX_METADATA_DEPTH,
    `Expected at most ${MAX_METADATA_DEPTH} levels of nesting.`,
  ),
  v.check(
    (value) => new TextEncoder().encode(stringifyJson(value)).length <= MAX_METADATA_BYTES,
    `Expected at most ${MAX_METADATA_BYTES} bytes.`,
  ),
)

/** A query parameter that spells a whole number within bounds. Never clamped. */
export function wholeNumber(min: number, max: number) {
  const message = `Expected a whole number from ${min} to ${max}`
  return v.pipe(
    v.string(),
    v.check(
      (text) => /^[0-9]{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max,
      (issue) => `${message}, received ${describe(issue.input)}.`,
    ),
    v.transform(Number),
    logged(),
  )
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof LosslessNumber)
  )
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null || value instanceof LosslessNumber) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

/** A foreign value as an error may quote it: short, on one line. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (value instanceof LosslessNumber) return value.value.slice(0, 60)
  if (typeof value === 'string')
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  return String(value)
}

/** What an answer before named as `nextCursor`. */
export const listCursor = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_=.:+/-]{0,200}$/, 'Expected nextCursor of an answer before.'),
)

/** An EVM or Solana address, read into its normal form. */
export const address = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const parsed = parseAddress(dataset.value)
    if (parsed.ok) return parsed.address
    addIssue({
      message:
        parsed.problem === 'bad_checksum'
          ? `Expected a right EIP-55 checksum, received ${describe(dataset.value)}: one character may be wrong.`
          : `Expected 0x and 40 hex digits, or base58 of 32 bytes, received ${describe(dataset.value)}.`,
    })
    return NEVER
  }),
  logged(),
)

/** Addresses with commas. */
export function walletList(most = 20) {
  return v.pipe(
    v.string(),
    v.transform((text) => text.split(',')),
    v.array(address),
    v.minLength(1),
    v.maxLength(most, `Expected at most ${most} addresses.`),
  )
}
