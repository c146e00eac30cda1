import { HTTPFacilitatorClient } from '@x402/core/server'
import { SettleError, type PaymentPayload, type PaymentRequirements } from '@x402/core/types'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ProblemError } from '#contract/problem.ts'
import { createTestDatabase, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey, startTestApp, type TestApp } from '#testing/service-app.ts'
import { examples } from '../openapi/examples.ts'

/** What the official client of a facilitator sends through the pipeline, and what it reads of errors. */

let database: TestDatabase
let app: TestApp
let key: string
let received: Record<string, unknown>[]

beforeAll(async () => {
  received = []
  database = await createTestDatabase('pglite', 'service')
  app = await startTestApp({
    target: database.target,
    routes: {
      facilitatorVerify: async ({ input }) => {
        received.push(input.body.paymentPayload)
        return examples.facilitatorVerify.reply
      },
      facilitatorSettle: async () => {
        throw new ProblemError('RATE_LIMIT', {
          message: 'The budget is spent.',
          reason: 'settlement_fee_budget',
          retryAfter: 60,
        })
      },
    },
  })
  ;({ key } = await createTestKey(app.context.db))
})

afterAll(async () => {
  await app?.[Symbol.asyncDispose]()
  await database?.[Symbol.asyncDispose]()
})

const NETWORK = 'eip155:8453'
const requirements: PaymentRequirements = {
  scheme: 'exact',
  network: NETWORK,
  amount: '1',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  maxTimeoutSeconds: 60,
  extra: {},
}
const payment: PaymentPayload = { x402Version: 2, accepted: requirements, payload: {} }

function clientWith(apiKey: string): HTTPFacilitatorClient {
  const headers = { Authorization: `Bearer ${apiKey}` }
  return new HTTPFacilitatorClient({
    url: `${app.url}/facilitator`,
    createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: headers }),
  })
}

async function settleErrorOf(apiKey: string): Promise<Partial<SettleError>> {
  const error: unknown = await clientWith(apiKey)
    .settle(payment, requirements)
    .catch((thrown: unknown) => thrown)
  if (!(error instanceof SettleError)) throw new TypeError('Expected a SettleError.')
  const { statusCode, errorReason, errorMessage, transaction, network } = error
  return { statusCode, errorReason, errorMessage, transaction, network }
}

test('a settlement that is refused tells the official client why, and names no transaction', async () => {
  const made = { transaction: '', network: NETWORK }
  expect(await settleErrorOf(key)).toEqual({
    statusCode: 429,
    errorReason: 'settlement_fee_budget',
    errorMessage: 'The budget is spent.',
    ...made,
  })
  // Refused before its body was read.
  expect(await settleErrorOf('pk_test_wrong')).toEqual({
    statusCode: 401,
    errorReason: 'unauthorized',
    errorMessage: 'The API key is missing or not valid.',
    ...made,
    network: '',
  })
})

test('a payment is read with all that its seller announced, however deep it is nested', async () => {
  // A description of a response as the extension "bazaar" of the official packages makes it: nested lists of objects.
  const hours = { type: 'array', items: { type: 'object', properties: { t: { type: 'number' } } } }
  const days = { type: 'array', items: { type: 'object', properties: { hours } } }
  const example = { type: 'object', properties: { days, constructor: { type: 'string' } } }
  const schema = {
    type: 'object',
    properties: { output: { type: 'object', properties: { example } } },
  }
  const extensions = { bazaar: { info: { output: { type: 'json' } }, schema } }
  expect(await clientWith(key).verify({ ...payment, extensions }, requirements)).toMatchObject({
    isValid: true,
  })
  expect(received).toHaveLength(1)
  expect(JSON.stringify(received[0])).toContain('"t":{"type":"number"}')
  expect(JSON.stringify(received[0])).not.toContain('constructor')
})
