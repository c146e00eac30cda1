import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey, startTestApp, type TestApp } from '#testing/service-app.ts'
import { idempotency } from '../db/schema/access.ts'
import { examples } from '../openapi/examples.ts'
import { createWallet } from '../wallets/create-wallet.ts'

/** The facilitator for callers without a key, where the operator has opened it. */

let database: TestDatabase
let app: TestApp
let wallet: string
let accounts: string[]
let addresses: (string | undefined)[]

beforeAll(async () => {
  accounts = []
  addresses = []
  database = await createTestDatabase('pglite', 'service')
  app = await startTestApp({
    target: database.target,
    routes: {
      facilitatorSettle: async ({ actor }) => {
        accounts.push(actor.accountId)
        addresses.push(actor.address)
        return examples.facilitatorSettle.reply
      },
    },
  })
  const { accountId } = await createTestKey(app.context.db)
  wallet = (
    await createWallet(
      { ...app.context, now: new Date() },
      { accountId, family: 'evm', name: 'Settlements' },
    )
  ).address
  accounts.push(accountId)
})

afterAll(async () => {
  await app?.[Symbol.asyncDispose]()
  await database?.[Symbol.asyncDispose]()
})

const open = (isPublic: boolean) =>
  void (app.context.config.facilitators = {
    allowed: [],
    loopback: false,
    wallets: [wallet],
    public: isPublic,
  })

function ask(
  path: string,
  headers: Record<string, string> = {},
  body?: unknown,
): Promise<Response> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  return fetch(`${app.url}${path}`, {
    ...init,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

const settle = (headers: Record<string, string> = {}) =>
  ask('/facilitator/settle', headers, examples.facilitatorSettle.request.body)

test('needs a key unless it was opened', async () => {
  open(false)
  expect((await ask('/facilitator/supported')).status).toBe(401)
  expect((await settle()).status).toBe(401)
})

test('once opened, serves without a key, in the name of the account whose wallet pays', async () => {
  open(true)
  expect((await ask('/facilitator/supported')).status).toBe(200)
  expect((await settle()).status).toBe(200)
  expect(accounts).toHaveLength(2)
  expect(accounts[1]).toBe(accounts[0])
  // By which it is told only of what it began itself.
  expect(addresses).toEqual([expect.stringContaining('127.0.0.1')])
})

test('opens nothing else, and takes no key that is wrong', async () => {
  open(true)
  expect((await ask('/payments')).status).toBe(401)
  expect((await ask('/wallets')).status).toBe(401)
  expect((await ask('/payment/receive', {}, examples.paymentReceive.request.body)).status).toBe(401)
  expect((await settle({ authorization: 'Bearer pk_test_wrong' })).status).toBe(401)
})

test('an idempotency key counts for one address, and the database has neither', async () => {
  open(true)
  app.context.config.trustedProxyHops = 1
  onTestFinished(() => void (app.context.config.trustedProxyHops = 0))
  const key = crypto.randomUUID()
  const replayed = async (address: string) => {
    const answer = await settle({ 'idempotency-key': key, 'x-forwarded-for': address })
    expect(answer.status).toBe(200)
    return answer.headers.get('idempotent-replayed')
  }
  expect(await replayed('203.0.113.7')).toBeNull()
  expect(await replayed('203.0.113.7')).toBe('true')
  expect(await replayed('203.0.113.8')).toBeNull()
  const rows = JSON.stringify(await app.context.db.select().from(idempotency))
  expect(rows).toContain('keyless')
  for (const part of ['203.0.113', key]) expect(rows).not.toContain(part)
})

test('is counted by address, and more strictly than reading', async () => {
  open(true)
  const statuses: number[] = []
  for (let count = 0; count < 30; count++) statuses.push((await settle()).status)
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
  expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(25)
  expect((await ask('/facilitator/supported')).status).toBe(200)
})
