import * as v from 'valibot'
import { SCOPES, type Plan, PLANS } from './api-key.ts'
import { logged, plainNumber, publicText, timestamp } from './fields.ts'

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
  /** Up to the year 9999. */
  expiresAt: v.optional(
    v.pipe(
      plainNumber,
      v.integer('Expected whole milliseconds.'),
      v.maxValue(253_402_300_799_999, 'Expected a time before the year 10000.'),
    ),
  ),
})

export const RotationInput = v.strictObject({
  graceSeconds: v.picklist(GRACE_SECONDS, `Expected one of ${GRACE_SECONDS.join(', ')}.`),
})
