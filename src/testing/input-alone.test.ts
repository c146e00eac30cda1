import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserEndpoints } from '#contract/browser-endpoints.ts'
import { EVENTS_PATH } from '#contract/dashboard-endpoints.ts'
import type { BrowserEndpoint, Endpoint, Schema } from '#contract/endpoint.ts'
import { endpoints } from '#contract/endpoints.ts'
import { parseJson, stringifyJson } from '#contract/json.ts'
import { createTestKey } from './service-app.ts'
import { Fixture } from './fixture.ts'
import { executeAsOwner } from './postgres.ts'
import { evmWallet, type TestBrowser } from './test-browser.ts'
import { VALID_REQUESTS } from './valid-requests.ts'

/** No input alone makes a 5xx: NUL characters and long texts in every field, path parameter and query parameter of every endpoint of both programs. */

const operator = evmWallet()
let fixture: Fixture
let key: string
const browsers: Record<'nobody' | 'operator', TestBrowser> = {} as never

beforeAll(async () => {
  fixture = await Fixture.open({
    bff: {
      operatorWallets: [operator.address],
      sellerWallets: [operator.address],
      trustedProxyHops: 1,
    },
  })
  const wide = await createTestKey(fixture.service.context.db)
  const { config, db } = fixture.service.context
  await executeAsOwner(
    { target: config.database, db },
    `update service.api_key set requests_per_minute = 100000 where id = '${wide.id}'`,
  )
  key = wide.key
  browsers.nobody = fixture.browser()
  browsers.operator = fixture.browser()
  await browsers.operator.signIn(operator)
  // The cookie of a browser that asked for a message to sign: without it, a sign-in is refused before its id is looked up.
  await browsers.nobody.challenge(operator)
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

const LONG = 'a'.repeat(10_000)
const BAD = ['\0', 'a\0b', 'http://a.example/\0', LONG, `http://a.example/${LONG}`, `${LONG}\0`]
const PARAMETERS: Record<string, string> = {
  paymentId: `pay_${'1'.repeat(22)}`,
  id: `key_${'1'.repeat(22)}`,
}

type Path = readonly (string | number)[]
type Case = { method: string; path: string; body?: string }

/** The places of a request: of every field that the schema names, and of every text in the valid one. */
function placesOf(schema: Schema | undefined, valid: unknown): Path[] {
  const named =
    schema && 'entries' in schema ? Object.keys(Object(schema.entries)).map((name) => [name]) : []
  return [...named, ...textsIn(valid, []).filter((path) => path.length > 1)]
}

function textsIn(value: unknown, path: Path): Path[] {
  if (typeof value === 'string') return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => textsIn(inner, [...path, name]))
}

function altered(valid: unknown, [first, ...rest]: Path, bad: unknown): unknown {
  if (first === undefined) return bad
  if (Array.isArray(valid))
    return valid.map((item, index) => (String(index) === first ? altered(item, rest, bad) : item))
  const fields = typeof valid === 'object' && valid !== null ? valid : {}
  return {
    ...fields,
    [first]: altered(Object.entries(fields).find(([name]) => name === first)?.[1], rest, bad),
  }
}

function casesOf(
  name: string,
  {
    method,
    path,
    query,
    body,
    params,
  }: Endpoint | (BrowserEndpoint & { params?: Schema; query?: Schema }),
): Case[] {
  const names = params ? [...path.matchAll(/:(\w+)/g)].map(([, parameter = '']) => parameter) : []
  const fill = (changes: Record<string, string> = {}) =>
    path.replaceAll(/:(\w+)/g, (_, parameter: string) =>
      encodeURIComponent(changes[parameter] ?? PARAMETERS[parameter] ?? operator.address),
    )
  const valid = body && parseJson(VALID_REQUESTS[`${name} body`] ?? '{}')
  const text = valid === undefined ? undefined : stringifyJson(valid)
  return BAD.flatMap((bad) => [
    ...names.map((parameter) => ({ method, path: fill({ [parameter]: bad }), body: text })),
    ...placesOf(query, {}).map(([parameter]) => ({
      method,
      path: `${fill()}?${String(parameter)}=${encodeURIComponent(bad)}`,
      body: text,
    })),
    ...placesOf(body, valid).flatMap((place) =>
      [bad, [bad], { [bad]: bad }].map((value) => ({
        method,
        path: fill(),
        body: stringifyJson(altered(valid, place, value)),
      })),
    ),
    { method, path: `${fill()}?${encodeURIComponent(bad)}=1`, body: text },
  ])
}

/** A metadata object is kept as it is, so the request is a good one: it needs a chain, and here there is none. */
function needsChain({ body }: Case): boolean {
  return body !== undefined && /"metadata":\{/.test(body)
}

const serviceRows = Object.entries<Endpoint>(endpoints)
const proxyRows = [
  ...serviceRows.filter(([, { audience }]) => audience === 'browser'),
  ...Object.entries<BrowserEndpoint>(browserEndpoints),
]

describe.each(serviceRows)('%s of the service', (name, row) => {
  test('answers every text with less than 500', async () => {
    const wrong: unknown[] = []
    for (const one of casesOf(name, row).filter((found) => !needsChain(found))) {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const response = await fetch(fixture.service.url + one.path, {
        method: one.method,
        headers,
        body: one.body,
      })
      const text = await response.text()
      if (response.status >= 500 || response.status === 429)
        wrong.push([
          response.status,
          one.path.slice(0, 200),
          one.body?.slice(0, 200),
          text.slice(0, 200),
        ])
    }
    expect(wrong).toEqual([])
  })
})

describe.each(['nobody', 'operator'] as const)('asked by %s', (who) => {
  test.each(proxyRows)(
    '%s of the proxy answers every text with less than 500',
    async (name, row) => {
      const wrong: unknown[] = []
      for (const [index, one] of casesOf(name, row)
        .filter((found) => !needsChain(found))
        .entries()) {
        const headers = {
          ...(one.method !== 'GET' && {
            'Content-Type': 'application/json',
            'X-Requested-By': 'paydesk',
          }),
          // Each from another address: a budget that is used up would answer in place of what is tested.
          'X-Forwarded-For': `10.${who.length}.${index >> 8}.${index & 255}`,
        }
        const answer = await browsers[who].send(one.method, `/api${one.path}`, {
          headers,
          body: one.body,
        })
        if (answer.status >= 500)
          wrong.push([
            answer.status,
            one.path.slice(0, 200),
            one.body?.slice(0, 200),
            answer.text.slice(0, 200),
          ])
      }
      expect(wrong).toEqual([])
    },
  )
})

test.each(BAD)('the live stream of the proxy takes no %j as a position', async (bad) => {
  const answer = await browsers.operator.get(
    `${EVENTS_PATH}?lastEventId=${encodeURIComponent(bad)}`,
  )
  expect(answer.status).toBeLessThan(500)
})
