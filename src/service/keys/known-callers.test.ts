import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiKey } from '#contract/api-key-body.ts'
import { NATIVE_ETH, type Network } from '#contract/network.ts'
import { openDatabase } from '#postgres/open.ts'
import { createTestDatabase, databaseVariables, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey, startTestApp, type TestApp } from '#testing/service-app.ts'
import { startServiceProcess } from '#testing/service-process.ts'
import { routes } from '../api/handlers.ts'
import { SERVICE_SCHEMA } from '../db/migrations-folder.ts'
import { account, apiKey } from '../db/schema/access.ts'
import type { FoundKey } from './authenticate.ts'
import { KnownCallers, TRUSTED_MS } from './known-callers.ts'

const { apiKeyCreate, apiKeyRotate, apiKeyDelete } = routes
/** Nothing listens there: no request of these tests asks a chain. */
const AWAY: Network = {
  network: 'eip155:31337',
  name: 'Away',
  rpcUrls: ['http://127.0.0.1:1'],
  testnet: true,
  blockTimeMs: 1_000,
  confirmations: 1,
  assets: [NATIVE_ETH],
}
const NOW = new Date('2026-01-01T00:00:00Z')

async function statusOf(url: string, key: string, method = 'GET', path = '/payments') {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}` },
  })
  await answer.arrayBuffer()
  return answer.status
}

describe('what a process remembers of keys', () => {
  function remember(found: () => FoundKey | undefined) {
    const state = { at: 0, reads: 0, gate: Promise.resolve() }
    const callers = new KnownCallers({
      clock: () => state.at,
      read: async () => {
        state.reads++
        const answer = found()
        await state.gate
        return answer
      },
    })
    return { state, callers }
  }
  const caller = {
    accountId: 'acc_1',
    keyId: 'key_1',
    scopes: new Set([]),
    beyondPlan: new Set([]),
    plan: 'standard',
    requestsPerMinute: 100,
    accountPerMinute: 100,
  } as const
  const key = createApiKey('test')

  test('a key is read once in five seconds, and again when they are over', async () => {
    let valid = true
    const { state, callers } = remember(() => (valid ? { caller, expiresAt: null } : undefined))
    expect(await callers.find(key, NOW)).toBe(caller)
    valid = false
    state.at = TRUSTED_MS - 1
    expect(await callers.find(key, NOW)).toBe(caller)
    expect(state.reads).toBe(1)
    state.at = TRUSTED_MS
    expect(await callers.find(key, NOW)).toBeUndefined()
    expect(await callers.find(key, NOW)).toBeUndefined()
    expect(state.reads).toBe(3)
  })

  test('the five seconds run from before the key was read', async () => {
    const gate = Promise.withResolvers<void>()
    const { state, callers } = remember(() => ({ caller, expiresAt: null }))
    state.gate = gate.promise
    const first = callers.find(key, NOW)
    state.at = TRUSTED_MS
    gate.resolve()
    await first
    await callers.find(key, NOW)
    expect(state.reads).toBe(2)
  })

  test('a key that is revoked while it is read is not remembered', async () => {
    const gate = Promise.withResolvers<void>()
    let valid = true
    const { state, callers } = remember(() => (valid ? { caller, expiresAt: null } : undefined))
    state.gate = gate.promise
    const first = callers.find(key, NOW)
    valid = false
    callers.forget('acc_1')
    // A request that comes after the revocation does not share the reading from before it.
    const second = callers.find(key, NOW)
    gate.resolve()
    expect(await first).toBe(caller)
    expect(await second).toBeUndefined()
    expect(await callers.find(key, NOW)).toBeUndefined()
  })

  test('a key ends at its expiry, not when it is read again', async () => {
    const expiresAt = new Date(NOW.getTime() + 1_000)
    const { state, callers } = remember(() => ({ caller, expiresAt }))
    expect(await callers.find(key, new Date(expiresAt.getTime() - 1))).toBe(caller)
    expect(await callers.find(key, expiresAt)).toBeUndefined()
    expect(state.reads).toBe(1)
  })

  test('what is no key is not looked up, and 32 requests at once cost one look-up', async () => {
    const { state, callers } = remember(() => ({ caller, expiresAt: null }))
    expect(await callers.find('nonsense', NOW)).toBeUndefined()
    await Promise.all(Array.from({ length: 32 }, () => callers.find(key, NOW)))
    expect(state.reads).toBe(1)
  })

  test('another account is not forgotten with one', async () => {
    const { state, callers } = remember(() => ({ caller, expiresAt: null }))
    await callers.find(key, NOW)
    callers.forget('acc_2')
    await callers.find(key, NOW)
    expect(state.reads).toBe(1)
    callers.forget()
    await callers.find(key, NOW)
    expect(state.reads).toBe(2)
  })
})

describe('a key that ended, in the process that ended it', () => {
  let database: TestDatabase
  let app: TestApp
  beforeAll(async () => {
    database = await createTestDatabase('postgres', 'service')
    app = await startTestApp({
      target: database.target,
      routes: { apiKeyCreate, apiKeyRotate, apiKeyDelete },
    })
  })
  afterAll(async () => {
    await app?.[Symbol.asyncDispose]()
    await database?.[Symbol.asyncDispose]()
  })

  test('the request after a deletion or a rotation without grace is refused', async () => {
    const owner = await createTestKey(app.context.db)
    const make = async () => {
      const answer = await fetch(`${app.url}/api-keys`, {
        method: 'POST',
        headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'till', scopes: ['payment:read'] }),
      })
      const made: { id: string; key: string } = await answer.json()
      expect(await statusOf(app.url, made.key)).toBe(200)
      return made
    }
    const deleted = await make()
    expect(await statusOf(app.url, owner.key, 'DELETE', `/api-keys/${deleted.id}`)).toBe(200)
    expect(await statusOf(app.url, deleted.key)).toBe(401)
    const rotated = await make()
    const answer = await fetch(`${app.url}/api-keys/${rotated.id}/rotate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ graceSeconds: 0 }),
    })
    expect(answer.status).toBe(200)
    expect(await statusOf(app.url, rotated.key)).toBe(401)
  })
})

test(
  'two service processes: a key that one ends is refused by the other within a second, without a notification within five, and together they grant the plan and no more',
  { timeout: 240_000 },
  async () => {
    await using database = await createTestDatabase('postgres', 'service')
    await using opened = await openDatabase(database.target, SERVICE_SCHEMA)
    const { db } = opened
    const env = { ...databaseVariables(database.target), NETWORKS: JSON.stringify([AWAY]) }
    await using one = await startServiceProcess(env)
    await using other = await startServiceProcess(env)
    const manager = await createTestKey(db)
    const made = async () => {
      const answer = await fetch(`${one.url}/api-keys`, {
        method: 'POST',
        headers: { authorization: `Bearer ${manager.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'till', scopes: ['payment:read'] }),
      })
      const till: { id: string; key: string } = await answer.json()
      // Both know it.
      for (const { url } of [one, other]) expect(await statusOf(url, till.key)).toBe(200)
      return till
    }
    /**
     * Milliseconds from `since` to the start of the last request that the other process took;
     * infinite for a key that goes on.
     */
    const takenUntil = async (key: string, since: number) => {
      let last = 0
      while (last < 15_000) {
        const at = performance.now() - since
        if ((await statusOf(other.url, key, 'GET', '/payments?limit=1')) === 401) return last
        last = at
      }
      return Infinity
    }
    const notified = await made()
    const deleted = await statusOf(one.url, manager.key, 'DELETE', `/api-keys/${notified.id}`)
    expect(deleted).toBe(200)
    expect(await takenUntil(notified.key, performance.now())).toBeLessThan(1_000)

    const silent = await made()
    await db.update(apiKey).set({ revokedAt: new Date() }).where(eq(apiKey.id, silent.id))
    expect(await takenUntil(silent.key, performance.now())).toBeLessThan(5_000)

    const { accountId, key } = await createTestKey(db, { plan: 'standard' })
    await db.update(account).set({ plan: 'standard' }).where(eq(account.id, accountId))
    const statuses = await Promise.all(
      Array.from({ length: 240 }, (_, index) => statusOf((index % 2 ? one : other).url, key)),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(100)
    expect(statuses.filter((status) => status === 429)).toHaveLength(140)
  },
)
