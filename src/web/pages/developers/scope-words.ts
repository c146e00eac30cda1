import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { Scope } from '#contract/api-key.ts'

/** What a key may do with each scope, in a sentence. */
export const scopeWords: Readonly<Record<Scope, MessageDescriptor>> = {
  'payment:read': msg`Read payments and their figures.`,
  'transaction:build': msg`Build payments for another account to sign.`,
  'token:read': msg`Look up tokens.`,
  'payment:receive': msg`Verify and settle payment proofs.`,
  'payment:send': msg`Pay from managed wallets. Anyone who has such a key can move money.`,
  'keys:manage': msg`Make and end API keys, and read their usage.`,
  'wallets:manage': msg`Make managed wallets.`,
}

/** Scopes that let their holder move money or make more keys. */
export const POWERFUL: ReadonlySet<Scope> = new Set<Scope>([
  'payment:send',
  'keys:manage',
  'wallets:manage',
])
