import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { SCOPES } from './api-key-body.ts'
import { browserEndpoints } from './browser-endpoints.ts'

import { commonProblems, type BrowserEndpoint, type Endpoint } from './endpoint.ts'
import { endpoints } from './endpoints.ts'
import { parseJson } from './json.ts'
import { problems } from './problem.ts'
import { VALID_REQUESTS } from '#testing/valid-requests.ts'

const rows = Object.entries<Endpoint>(endpoints)
const browserRows = Object.entries<BrowserEndpoint>(browserEndpoints)
const EVM = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

const inputs = [
  ...rows.flatMap(([name, { query, body }]) => [
    ...(query ? [[`${name} query`, query] as const] : []),
    ...(body ? [[`${name} body`, body] as const] : []),
  ]),
  ...browserRows.flatMap(([name, { body }]) => (body ? [[`${name} body`, body] as const] : [])),
]

describe.each(inputs)('%s', (name, schema) => {
  const valid = VALID_REQUESTS[name] ?? '{}'

  test('takes a valid request', () => {
    expect(v.safeParse(schema, parseJson(valid)).issues).toBeUndefined()
  })

  test('refuses a field nobody knows, and names it', () => {
    const value = { ...(parseJson(valid) as object), expectedAmmount: 1 }
    expect(v.safeParse(schema, value).issues?.map((issue) => v.getDotPath(issue))).toEqual([
      'expectedAmmount',
    ])
  })

  // A schema that needs no field takes an array for an object; the pipeline refuses it before.
  const needsFields = valid !== '{}'
  test.each(['null', '"x"', '1', 'true', ...(name.endsWith('body') && needsFields ? ['[]'] : [])])(
    'refuses %s in its place',
    (text) => {
      expect(v.is(schema, parseJson(text))).toBe(false)
    },
  )
})

describe('the table', () => {
  test('has one row for each method and path, and parameters for each colon', () => {
    const places = [...rows, ...browserRows].map(([, { method, path }]) => `${method} ${path}`)
    expect(new Set(places).size).toBe(places.length)
    for (const [name, { path, params }] of rows) {
      const named = path.match(/:[A-Za-z]+/g)?.map((part) => part.slice(1)) ?? []
      const schema = params as v.ObjectSchema<v.ObjectEntries, undefined> | undefined
      expect(Object.keys(schema?.entries ?? {}), name).toEqual(named)
    }
  })

  test('names only scopes and problems that exist, and each problem once', () => {
    for (const [name, row] of rows) {
      expect(SCOPES, name).toContain(row.scope)
      const codes = [...commonProblems, ...row.problems]
      expect(new Set(codes).size, name).toBe(codes.length)
      for (const code of codes) expect(problems, name).toHaveProperty(code)
    }
  })

  test('a POST that writes tells what its idempotency key can answer', () => {
    for (const [name, row] of rows)
      if (row.method === 'POST')
        expect(row.problems, name).toEqual(
          expect.arrayContaining(['IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS']),
        )
  })

  test('holds the paths of the specification', () => {
    expect(rows.map(([, { method, path }]) => `${method} ${path}`)).toEqual(
      expect.arrayContaining([
        'POST /transaction/send',
        'GET /payment/status/:paymentId',
        'GET /payment/history/:walletAddress',
        'GET /token/info/:mintAddress',
      ]),
    )
  })
})

describe('transactionSend', () => {
  const { body } = endpoints.transactionSend
  const request = (fields: string) =>
    parseJson(`{"walletAddress":"${EVM}","recipientAddress":"${EVM}",${fields}}`)

  test('reads amounts as the digits of the request', () => {
    const parsed = v.parse(body, request('"amount":0.100000000000000000001,"priorityFee":1e-5'))
    expect([parsed.amount, parsed.priorityFee]).toEqual(['0.100000000000000000001', '1e-5'])
  })

  test('names every wrong field at once', () => {
    const issues =
      v.safeParse(
        body,
        parseJson('{"walletAddress":"bob","amount":"1","resource":"x","metadata":[],"extra":1}'),
      ).issues ?? []
    expect(new Set(issues.map((issue) => v.getDotPath(issue)))).toEqual(
      new Set(['amount', 'extra', 'metadata', 'recipientAddress', 'resource', 'walletAddress']),
    )
  })
})

describe('lists', () => {
  const { query } = endpoints.paymentHistory

  test('have the defaults of the specification', () => {
    expect(v.parse(query, {})).toMatchObject({ type: 'all', limit: 50, offset: 0 })
  })

  test.each([
    { limit: '0' },
    { limit: '501' },
    { limit: '10.5' },
    { offset: '-1' },
    { type: 'both' },
    { status: 'paid' },
    { status: 'created,' },
    { since: 'yesterday' },
  ])('refuse %o instead of clamping', (value) => {
    expect(v.is(query, value)).toBe(false)
  })

  test('take one status or several', () => {
    expect(v.parse(query, { status: 'created,confirmed' }).status).toEqual(['created', 'confirmed'])
  })

  test('take up to 20 wallets, each an address', () => {
    const wallets = (count: number) => ({
      wallets: Array.from({ length: count }, () => EVM).join(','),
    })
    expect(v.is(endpoints.paymentList.query, wallets(20))).toBe(true)
    expect(v.is(endpoints.paymentList.query, wallets(21))).toBe(false)
    expect(v.is(endpoints.paymentList.query, { wallets: `${EVM},bob` })).toBe(false)
  })
})
