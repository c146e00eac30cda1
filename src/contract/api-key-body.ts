import * as v from 'valibot'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { logged, plainNumber, publicText, timestamp } from './fields.ts'

export const SCOPES = [
  'payment:send',
  'payment:receive',
  'payment:read',
  'transaction:build',
  'token:read',
  'keys:manage',
  'wallets:manage',
] as const
export type Scope = (typeof SCOPES)[number]

/** `requestsPerMinute`: what passes in any 60 seconds, at once or spread; of one key, and of all keys of an account together. */
export const PLANS = {
  standard: { requestsPerMinute: 100, webSockets: 5, messagesPerSecond: 50 },
  premium: { requestsPerMinute: 1000, webSockets: 20, messagesPerSecond: 200 },
} as const
export type Plan = keyof typeof PLANS

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const KEY = /^pk_(live|test)_[0-9A-Za-z]{46}$/

/** A new key: `pk_live_` or `pk_test_`, 40 random base62 characters, 6 of checksum. */
export function createApiKey(environment: 'live' | 'test'): string {
  let secret = ''
  while (secret.length < 40) {
    for (const byte of crypto.getRandomValues(new Uint8Array(64))) {
      // 248 is the largest multiple of 62 in a byte: above it the choice would lean to the first characters.
      if (byte < 248 && secret.length < 40) secret += BASE62.charAt(byte % 62)
    }
  }
  const body = `pk_${environment}_${secret}`
  return body + checksum(body)
}

/** Whether the text can be a key at all: shape and checksum, no look-up. */
export function isApiKey(text: string): boolean {
  return KEY.test(text) && checksum(text.slice(0, -6)) === text.slice(-6)
}

/** What may be shown of a key: its first and last four characters. */
export function apiKeyHint(key: string): string {
  const secret = key.slice(8)
  return `${key.slice(0, 8)}${secret.slice(0, 4)}…${secret.slice(-4)}`
}

/** The last six characters of a key, over all before them. */
export function checksum(body: string): string {
  let value = 0n
  for (const byte of sha256(utf8ToBytes(body)).subarray(0, 6)) value = (value << 8n) | BigInt(byte)
  let text = ''
  for (let index = 0; index < 6; index++) {
    text = BASE62.charAt(Number(value % 62n)) + text
    value /= 62n
  }
  return text
}

/** What the API says of a key, and what is said to make one. */

const plan = v.picklist(Object.keys(PLANS) as [Plan, ...Plan[]])

export const keyId = v.pipe(
  v.string(),
  v.regex(/^key_[1-9A-HJ-NP-Za-km-z]{22}$/, 'Expected key_ and 22 base58 characters.'),
  logged(),
)

/** How long a rotated key stays valid beside its successor: not at all, a minute, 15 minutes, an hour, 6 hours, a day. */
export const GRACE_SECONDS = [0, 60, 900, 3600, 21_600, 86_400] as const

/** An account has at most so many valid keys, without those that a rotation replaced and whose grace runs. */
export const MOST_KEYS = 20
/** And at most so many with those. */
export const MOST_KEYS_IN_ROTATION = 2 * MOST_KEYS

const facts = {
  id: publicText,
  name: v.string(),
  /** Its first and last four characters: all that is ever shown of it again. */
  hint: v.string(),
  scopes: v.array(v.picklist(SCOPES)),
  plan,
  createdAt: timestamp,
  /** To the minute; null before the first use. */
  lastUsedAt: v.nullable(timestamp),
  /** Null for a key that does not expire. Of a rotated key: when its grace ends. */
  expiresAt: v.nullable(timestamp),
  /** A deleted or expired key stays in the list, so that its usage keeps a name. */
  status: v.picklist(['active', 'expired', 'deleted']),
  rotation: v.object({
    /** The key it took the place of. */
    replaces: v.nullable(v.string()),
    /** The key that takes its place; its own `expiresAt` is the end of the grace. */
    replacedBy: v.nullable(v.string()),
  }),
}

export const ApiKeyRow = v.object(facts)
export type ApiKeyRow = v.InferOutput<typeof ApiKeyRow>

/** `key` is the key itself, told in this one answer. */
export const NewApiKeyBody = v.object({ success: v.literal(true), key: v.string(), ...facts })

/** From 1970 to the year 9999. */
export const keyEnd = v.pipe(
  plainNumber,
  v.integer('Expected whole milliseconds.'),
  v.minValue(0, 'Expected a time after the year 1969.'),
  v.maxValue(253_402_300_799_999, 'Expected a time before the year 10000.'),
)

export const ApiKeyInput = v.strictObject({
  name: v.pipe(
    v.string(),
    v.trim(),
    v.regex(
      /^[^\p{Cc}\p{Cs}]{1,100}$/u,
      'Expected 1 to 100 characters, none of them a control character.',
    ),
  ),
  scopes: v.pipe(
    v.array(v.picklist(SCOPES, `Expected one of ${SCOPES.join(', ')}.`)),
    v.minLength(1, 'Expected at least one scope.'),
    v.maxLength(SCOPES.length, `Expected at most ${SCOPES.length} scopes.`),
  ),
  plan: v.optional(plan, 'standard'),
  environment: v.optional(v.picklist(['live', 'test']), 'live'),
  expiresAt: v.optional(keyEnd),
})

export const RotationInput = v.strictObject({
  graceSeconds: v.picklist(GRACE_SECONDS, `Expected one of ${GRACE_SECONDS.join(', ')}.`),
})
