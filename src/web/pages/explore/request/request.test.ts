import { describe, expect, test } from 'vitest'
import { readBody } from './ResponseCard.tsx'
import { readSettlement, retryAfter } from '../pay/use-purchase.ts'
import { encodeHeader } from '#x402/header.ts'
import { readRequest, type RequestFields } from './request.ts'

const fields: RequestFields = {
  method: 'GET',
  url: 'https://shop.example/a',
  headers: '',
  body: '',
  via: 'direct',
}

describe('the form', () => {
  test('becomes a request', () => {
    const read = readRequest({
      ...fields,
      method: 'POST',
      headers: ' Accept : application/json \n\nX-One:1',
      body: '{}',
    })
    expect(read).toEqual({
      ok: true,
      request: {
        method: 'POST',
        url: 'https://shop.example/a',
        headers: [
          ['Accept', 'application/json'],
          ['X-One', '1'],
        ],
        body: '{}',
        via: 'direct',
      },
    })
  })

  test.each<[string, Partial<RequestFields>, string]>([
    ['no address', { url: '' }, 'url'],
    ['a path', { url: '/a' }, 'url'],
    ['another scheme', { url: 'javascript:alert(1)' }, 'url'],
    ['a password', { url: 'https://a:b@shop.example/' }, 'url'],
    ['a line that is no header', { headers: 'hello' }, 'headers'],
    ['a header twice', { headers: 'A: 1\na: 2' }, 'headers'],
    ['a payment that somebody typed', { headers: 'X-PAYMENT: abc' }, 'headers'],
    ['a character no header carries', { headers: 'A: é' }, 'headers'],
    ['a body with GET', { body: 'x' }, 'body'],
  ])('refuses %s', (_, change, field) => {
    const read = readRequest({ ...fields, ...change })
    expect(read.ok ? [] : Object.keys(read.problems)).toEqual([field])
  })
})

describe('an answer’s body', () => {
  const answer = (type: string, body: Uint8Array | string) => ({
    status: 200,
    ms: 1,
    headers: [['Content-Type', type]] as const,
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
  })

  test.each<[string, string, Uint8Array | string, string]>([
    ['JSON', 'application/json; charset=utf-8', '{"a":1}', 'json'],
    ['broken JSON', 'application/json', '{', 'text'],
    ['a page, to be read', 'text/html; charset=utf-8', '<p>Words</p>', 'page'],
    [
      'a page in an older writing',
      'text/html; charset=iso-8859-1',
      Uint8Array.of(60, 112, 62, 233),
      'page',
    ],
    ['a picture', 'image/png', Uint8Array.of(1, 2), 'image'],
    ['a drawing, as a picture', 'image/svg+xml', '<svg onload="alert(1)"/>', 'image'],
    ['bytes that are no text', 'application/octet-stream', Uint8Array.of(255, 254), 'binary'],
    ['nothing', 'text/plain', '', 'empty'],
  ])('%s is shown as data', (_, type, body, kind) => {
    expect(readBody(answer(type, body)).kind).toBe(kind)
  })
})

test('a settlement is read from either header, and nonsense is none', () => {
  const value = encodeHeader({
    success: false,
    errorReason: 'settlement_pending',
    transaction: '0xab',
    network: 'eip155:1',
  })
  expect(readSettlement({ headers: [['X-Payment-Response', value]] })).toMatchObject({
    success: false,
    errorReason: 'settlement_pending',
  })
  expect(readSettlement({ headers: [['payment-response', 'nonsense']] })).toBeNull()
  expect(readSettlement({ headers: [] })).toBeNull()
})

test.each([
  ['3', 3],
  ['0', 1],
  ['soon', 2],
] as const)('Retry-After %s waits %i s', (text, seconds) => {
  expect(retryAfter({ headers: [['Retry-After', text]] })).toBe(seconds)
})
