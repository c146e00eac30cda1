import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MOST_KEYS, MOST_KEYS_IN_ROTATION } from '#contract/api-key-body.ts'
import { MOST_WALLETS } from '#contract/wallet.ts'
import { createTestDatabase, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey, startTestApp, type TestApp } from '#testing/service-app.ts'
import { routes } from '../api/handlers.ts'

const START = new Date('2026-01-01T00:00:00Z').getTime()
const { apiKeyList, apiKeyCreate, apiKeyRotate, apiKeyDelete, walletCreate, walletList } = routes

describe('an account', () => {
  let database: TestDatabase
  let first: TestApp
  let apps: TestApp[]
  let now = START
  beforeAll(async () => {
    database = await createTestDatabase('postgres', 'service')
    const handlers = {
      apiKeyList,
      apiKeyCreate,
      apiKeyRotate,
      apiKeyDelete,
      walletCreate,
      walletList,
    }
    const start = () =>
      startTestApp({ target: database.target, routes: handlers, now: () => new Date(now) })
    first = await start()
    apps = [first, await start()]
  })
  afterAll(async () => {
    for (const app of apps ?? []) await app[Symbol.asyncDispose]()
    await database?.[Symbol.asyncDispose]()
  })

  const open = () => createTestKey(first.context.db)
  let turn = 0
  async function ask(key: string, method: string, path: string, body?: object) {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body && { 'content-type': 'application/json' }),
    }
    const response = await fetch(`${apps[turn++ % apps.length]?.url}${path}`, {
      method,
      headers,
      body: body && JSON.stringify(body),
    })
    return { status: response.status, json: await response.json() }
  }
  const make = (key: string, more: object = {}) =>
    ask(key, 'POST', '/api-keys', { name: 'more', scopes: ['payment:read'], ...more })

  test('has at most 20 valid keys, also when they are asked for at once', async () => {
    const { key } = await open()
    const made = await Promise.all(Array.from({ length: 40 }, () => make(key)))
    expect(made.filter(({ status }) => status === 200)).toHaveLength(MOST_KEYS - 1)
    const refused = made.find(({ status }) => status !== 200)
    expect(refused).toMatchObject({
      status: 403,
      json: { error: { code: 'FORBIDDEN', details: { keys: 'Expected at most 20 valid keys.' } } },
    })
    expect((await ask(key, 'GET', '/api-keys')).json.keys).toHaveLength(MOST_KEYS)
  })

  test('makes room with a key that is deleted or expires', async () => {
    const { key } = await open()
    const first = (await make(key)).json.id
    await make(key, { expiresAt: now + 60_000 })
    while ((await make(key)).status === 200);
    expect((await ask(key, 'DELETE', `/api-keys/${first}`)).status).toBe(200)
    expect([(await make(key)).status, (await make(key)).status]).toEqual([200, 403])
    now += 60_000
    expect([(await make(key)).status, (await make(key)).status]).toEqual([200, 403])
  })

  test('with all its keys still rotates one, and no number of rotations makes any number of valid keys', async () => {
    const { key } = await open()
    let { id } = (await make(key)).json
    while ((await make(key)).status === 200);
    let rotations = 0
    for (;;) {
      const rotated = await ask(key, 'POST', `/api-keys/${id}/rotate`, { graceSeconds: 86_400 })
      if (rotated.status !== 200) {
        expect(rotated).toMatchObject({ status: 403, json: { error: { code: 'FORBIDDEN' } } })
        break
      }
      id = rotated.json.id
      rotations++
    }
    expect(rotations).toBe(MOST_KEYS_IN_ROTATION - MOST_KEYS)
    expect((await make(key)).status).toBe(403)
    now += 86_400_000
    expect((await ask(key, 'POST', `/api-keys/${id}/rotate`, { graceSeconds: 0 })).status).toBe(200)
  })

  test('has at most 50 managed wallets, also when they are asked for at once', async () => {
    const { key } = await open()
    const made = await Promise.all(
      Array.from({ length: 80 }, () =>
        ask(key, 'POST', '/wallets', { family: 'evm', name: 'till' }),
      ),
    )
    expect(made.filter(({ status }) => status === 200)).toHaveLength(MOST_WALLETS)
    const refused = made.find(({ status }) => status !== 200)
    expect(refused).toMatchObject({
      status: 403,
      json: {
        error: { code: 'FORBIDDEN', details: { wallets: 'Expected at most 50 managed wallets.' } },
      },
    })
    expect((await ask(key, 'GET', '/wallets')).json.wallets).toHaveLength(MOST_WALLETS)
  })
})
