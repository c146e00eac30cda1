import * as v from 'valibot'
import { GRACE_SECONDS } from '#contract/api-key-body.ts'
import { announceKeyChange } from '../keys/accounts.ts'
import { createKey } from '../keys/create-key.ts'
import { listKeys, type KeyRow, revokeKey, rotateKey } from '../keys/manage-keys.ts'
import {
  read,
  readAccount,
  readKeyId,
  readName,
  readPlanOr,
  readScopes,
  UsageError,
  type Commands,
  type Operator,
} from './command-line.ts'

const expires = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/),
  v.transform((text) => new Date(text)),
  v.check((date) => !Number.isNaN(date.getTime())),
)
const grace = v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number), v.picklist(GRACE_SECONDS))
const quota = v.pipe(v.string(), v.regex(/^[1-9]\d{0,5}$/), v.transform(Number))

const environment = v.optional(v.picklist(['live', 'test']))

/** As the dashboard does: `test` where every network of the service is a test network. */
function usualEnvironment(networks: Operator['networks']): 'live' | 'test' {
  return (networks?.() ?? [{ testnet: false }]).every(({ testnet }) => testnet) ? 'test' : 'live'
}

export const keyCommands: Commands = {
  'key create': {
    options: ['account', 'name', 'scopes', 'plan', 'environment', 'expires', 'requests-per-minute'],
    async run({ db, now, networks }, values) {
      const input = {
        accountId: readAccount(values),
        name: readName(values),
        scopes: readScopes(values),
        plan: readPlanOr(values, 'standard'),
        environment:
          read(values, 'environment', [environment, 'live or test']) ?? usualEnvironment(networks),
        expiresAt: read(values, 'expires', [v.optional(expires), 'a date such as 2027-01-31']),
        requestsPerMinute: read(values, 'requests-per-minute', [
          v.optional(quota),
          'a number from 1 to 999999',
        ]),
      }
      if (input.expiresAt && input.expiresAt <= now)
        throw new UsageError('--expires: expected a date to come.')
      const created = await createKey(db, { ...input, now: () => now })
      return {
        value: { ...created, ...input },
        text: `Key ${created.id}. It is shown this once:\n\n${created.key}\n`,
      }
    },
  },
  'key list': {
    options: ['account'],
    async run({ db, now }, values) {
      const keys = await listKeys(db, values.account)
      return {
        value: keys,
        text: keys.map((key) => describeKey(key, now)).join('\n') || 'There are no keys.',
      }
    },
  },
  'key rotate': {
    options: ['key', 'grace'],
    async run({ db, now }, values) {
      const id = readKeyId(values)
      const graceSeconds = read(values, 'grace', [
        grace,
        `seconds, one of ${GRACE_SECONDS.join(', ')}`,
      ])
      const made = await db.transaction((tx) => rotateKey(tx, { id, graceSeconds, now: () => now }))
      await announceKeyChange(db, made.accountId)
      const text = `Key ${made.id} takes the place of ${id}, which is valid until ${made.graceEndsAt.toISOString()}. It is shown this once:\n\n${made.key}\n`
      return {
        value: { id: made.id, key: made.key, graceEndsAt: made.graceEndsAt, replaces: id },
        text,
      }
    },
  },
  'key revoke': {
    options: ['key'],
    async run({ db, now }, values) {
      const id = readKeyId(values)
      await revokeKey(db, id, now)
      return { value: { id, revoked: true }, text: `Key ${id} is revoked.` }
    },
  },
}

function describeKey(key: KeyRow, now: Date): string {
  const quota =
    key.requestsPerMinute === null ? key.plan : `${key.plan} (${key.requestsPerMinute} a minute)`
  const successor = key.replacedBy ? [`replaced by ${key.replacedBy}`] : []
  const used = `used ${key.lastUsedAt?.toISOString() ?? 'never'}`
  return [
    key.id,
    key.hint,
    quota,
    key.accountId,
    `"${key.name}"`,
    key.scopes.join(','),
    stateOf(key, now),
    ...successor,
    used,
  ].join('  ')
}

function stateOf({ revokedAt, expiresAt }: KeyRow, now: Date): string {
  if (revokedAt) return `revoked ${revokedAt.toISOString()}`
  if (!expiresAt) return 'valid'
  return `${expiresAt <= now ? 'expired' : 'expires'} ${expiresAt.toISOString()}`
}
