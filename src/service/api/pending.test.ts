import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey, exampleRoutes, startTestApp, type TestApp } from '#testing/service-app.ts'
import { ProofRefusedError } from '../verification/verification-report.ts'

/**
 * A proof that is not certain yet is not an error, and an idempotency key does not keep its answer
 * permanently.
 */

let database: TestDatabase
let app: TestApp
let key: string
let status: 'pending' | 'confirmed' | 'refused' = 'pending'

beforeAll(async () => {
  database = await createTestDatabase('pglite', 'service')
  app = await startTestApp({
    target: database.target,
    routes: {
      async paymentReceive(call) {
        if (status === 'refused') {
          const check = {
            name: 'signature',
            source: 'proof',
            ok: false,
            expected: 'a',
            got: 'b',
          } as const
          throw new ProofRefusedError('invalid_signature', check, [check])
        }
        return {
          ...(await exampleRoutes.paymentReceive(call)),
          status,
          verified: status === 'confirmed',
        }
      },
    },
  })
  key = (await createTestKey(app.context.db)).key
})

afterAll(async () => {
  await app?.[Symbol.asyncDispose]()
  await database?.[Symbol.asyncDispose]()
})

const BODY = {
  walletAddress: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  paymentProof: 'e30=',
  expectedAmount: 0.01,
}

async function receive(body: object = {}, headers: Record<string, string> = {}, bearer = key) {
  const response = await fetch(`${app.url}/payment/receive`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...BODY, ...body }),
  })
  const answer = (await response.json()) as {
    status?: string
    error?: { code: string; details?: unknown }
  }
  return {
    http: response.status,
    cache: response.headers.get('cache-control'),
    replayed: response.headers.get('idempotent-replayed'),
    ...answer,
  }
}

test('a payment that is not certain yet is 202, and the same key asks again until it is', async () => {
  const headers = { 'idempotency-key': 'a' }
  status = 'pending'
  expect(await receive({}, headers)).toMatchObject({
    http: 202,
    status: 'pending',
    replayed: null,
    cache: 'no-store',
  })
  expect(await receive({}, headers)).toMatchObject({ http: 202, replayed: null })
  status = 'confirmed'
  expect(await receive({}, headers)).toMatchObject({
    http: 200,
    status: 'confirmed',
    replayed: null,
  })
  status = 'pending'
  expect(await receive({}, headers)).toMatchObject({
    http: 200,
    status: 'confirmed',
    replayed: 'true',
  })
})

test('the key of a payment under way builds no second one: neither the same endpoint nor local mode', async () => {
  const headers = { 'idempotency-key': 'b' }
  status = 'pending'
  expect(await receive({}, headers)).toMatchObject({ http: 202 })
  const other = await fetch(`${app.url}/transaction/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      walletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      recipientAddress: BODY.walletAddress,
      amount: 0.01,
    }),
  })
  expect(await other.json()).toMatchObject({ error: { code: 'IDEMPOTENCY_CONFLICT' } })
  expect(await receive({ expectedAmount: 0.02 }, headers)).toMatchObject({
    http: 409,
    error: { code: 'IDEMPOTENCY_CONFLICT' },
  })
  expect(await receive({}, headers)).toMatchObject({ http: 202, replayed: null })
})

test('a refused proof is 400 and tells its reason and its check', async () => {
  status = 'refused'
  expect(await receive()).toMatchObject({
    http: 400,
    error: {
      code: 'INVALID_PAYMENT_PROOF',
      details: { reason: { code: 'invalid_signature', params: {} }, check: 'signature' },
    },
  })
})

test('a key without the scope may not hand proofs in', async () => {
  const reader = await createTestKey(app.context.db, { scopes: ['payment:read'] })
  expect(await receive({}, {}, reader.key)).toMatchObject({
    http: 403,
    error: { code: 'FORBIDDEN' },
  })
})

test.each([
  { timeout: 0.999 },
  { timeout: 120.5 },
  { timeout: '30' },
  { expectedAmount: '0.01' },
  { paymentProof: 1 },
  { resource: 'nowhere' },
  { expectedAmmount: 1 },
])('a request with %j is refused before the proof is read', async (body) => {
  expect(await receive(body)).toMatchObject({ http: 400, error: { code: 'INVALID_PARAMETERS' } })
})

test.each(['1', '120', '30.0', '3e1', '1.5'])(
  'a timeout of %s seconds is taken, however the number is spelled',
  async (timeout) => {
    status = 'confirmed'
    const response = await fetch(`${app.url}/payment/receive`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: `${JSON.stringify(BODY).slice(0, -1)},"timeout":${timeout}}`,
    })
    expect(response.status).toBe(200)
  },
)
