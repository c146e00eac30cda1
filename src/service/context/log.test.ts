import { DrizzleQueryError } from 'drizzle-orm/errors'
import { HttpRequestError } from 'viem'
import { expect, test } from 'vitest'
import { createApiKey } from '#contract/api-key-body.ts'
import { createLog } from './log.ts'

function logged(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = []
  write(createLog('trace', { write: (line) => void lines.push(line) }))
  return lines.join('')
}

test('named secrets are redacted', () => {
  const text = logged((log) =>
    log.info(
      {
        authorization: 'Bearer abc',
        headers: { authorization: 'xyz123' },
        apiKey: 'abc',
        body: { paymentProof: 'proof123' },
      },
      'm',
    ),
  )
  for (const secret of ['abc', 'xyz123', 'proof123']) expect(text).not.toContain(secret)
})

test('keys, bearer tokens and passwords are masked wherever they stand', () => {
  const key = createApiKey('live')
  const text = logged((log) =>
    log.error(
      {
        err: new Error(`no ${key}`, { cause: new Error('postgres://app:hunter2@db/x refused') }),
        note: `Bearer ${key}`,
        deep: { a: { b: { c: key } } },
      },
      `said ${key}`,
    ),
  )
  expect(text).not.toContain(key.slice(8, 30))
  expect(text).not.toContain('hunter2')
  expect(text).toContain('pk_live_***')
  expect(() => JSON.parse(text)).not.toThrow()
})

test('of a URL in an error and its causes scheme and host are logged, and no key in its path, query or user name', () => {
  const key = 'k3y-0f-th3-pr0v1d3r'
  const url = `https://mainnet.example/v3/${key}`
  const viem = new HttpRequestError({
    url,
    body: { method: 'eth_chainId' },
    cause: new Error(`no answer of wss://${key}@sol.example?api-key=${key}, twice`),
  })
  const text = logged((log) => log.warn({ err: new Error('not read', { cause: viem }) }, 'm'))
  expect(text).not.toContain(key)
  const { err } = JSON.parse(text)
  expect(err.cause.message).toContain('URL: https://mainnet.example/…\n')
  expect(err.cause.stack).toContain('URL: https://mainnet.example/…\n')
  expect(err.cause.cause.message).toBe('no answer of wss://sol.example/…, twice')
  const ours = 'Open http://127.0.0.1:3000/ (or https://pay.example). See file:///srv/main.ts:1:2.'
  const plain = JSON.parse(logged((log) => log.warn({ err: new Error(ours) }, 'm'))).err
  expect(plain.message).toBe(ours)
  expect(plain.stack).toContain('log.test.ts:')
  expect(JSON.parse(logged((log) => log.warn({ err: `no ${url}` }, 'm'))).err.message).toBe(
    'no https://mainnet.example/…',
  )
})

test('where all endpoints failed, the log has why each did', () => {
  const url = 'https://mainnet.example/v3/k3y'
  const each = [new Error(`429 of ${url}`), new Error('another genesis')]
  const text = logged((log) => log.warn({ err: new AggregateError(each) }, 'm'))
  expect(text).not.toContain('k3y')
  expect(JSON.parse(text).err.errors).toMatchObject([
    { message: '429 of https://mainnet.example/…' },
    { message: 'another genesis' },
  ])
})

test('the values of a failed query are not logged, its text and cause are', () => {
  const error = new DrizzleQueryError(
    'select * from t where a = $1',
    ['customer@example.com'],
    Object.assign(new Error('relation "t" does not exist'), { code: '42P01' }),
  )
  const text = logged((log) => log.error({ err: error }, 'm'))
  expect(text).not.toContain('customer@example.com')
  expect(JSON.parse(text).err).toMatchObject({
    message: 'Failed query: select * from t where a = $1',
    cause: { code: '42P01', message: 'relation "t" does not exist' },
  })
})
