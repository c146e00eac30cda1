import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { SCOPES, type Plan, type Scope } from '#contract/api-key.ts'
import type { Database } from '#postgres/open.ts'
import { createAccount } from '#service/keys/create-account.ts'
import { createKey } from '#service/keys/create-key.ts'

const Keys = v.object({ accountId: v.string(), operator: v.string(), standard: v.string(), readonly: v.string(), proxy: v.string() })

/** The demo seller's account and its keys. `proxy` is the one that the bff holds, so that no tool eats up its quota. */
export type Keys = v.InferOutput<typeof Keys>

const PAYING: readonly Scope[] = ['payment:send', 'payment:receive', 'payment:read', 'transaction:build', 'token:read']
const READING: readonly Scope[] = ['payment:read', 'token:read']

export async function createKeys(db: Database): Promise<Keys> {
  const { id: accountId } = await createAccount(db, { name: 'Demo seller', plan: 'premium' })
  const create = async (name: string, plan: Plan, scopes: readonly Scope[]) => (await createKey(db, { accountId, name, plan, scopes, environment: 'test' })).key
  return {
    accountId,
    operator: await create('Operator', 'premium', SCOPES),
    standard: await create('Server', 'standard', PAYING),
    readonly: await create('Bookkeeping', 'standard', READING),
    proxy: await create('Proxy', 'premium', PAYING),
  }
}

/** Keys cannot be read back from the service: it holds their hashes only. */
export async function writeKeys(dir: string, keys: Keys): Promise<void> {
  await writeFile(join(dir, 'keys.json'), JSON.stringify(keys), { mode: 0o600 })
}

export async function readKeys(dir: string): Promise<Keys> {
  return v.parse(Keys, JSON.parse(await readFile(join(dir, 'keys.json'), 'utf8')))
}
