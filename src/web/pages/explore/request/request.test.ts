import { execFileSync } from 'node:child_process'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { locationOf, readBody } from './ResponseCard.tsx'
import { readDelivery, readSettlement, retryAfter } from '../pay/use-purchase.ts'
import { encodeHeader } from '#x402/header.ts'
import { sendRequest, type PaymentHeader } from './send-request.ts'
import { readRequest, toCurl, type RequestFields, type ResourceRequest } from './request.ts'

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

test.each([
  [200, 'served'],
  [206, 'served'],
  [302, 'failed'],
  [304, 'failed'],
  [500, 'failed'],
  [402, 'refused'],
] as const)('a payment that is answered with %i is %s', (status, outcome) => {
  const answer = { status, headers: [], body: new Uint8Array(), ms: 1 }
  expect(readDelivery({ kind: 'answered', answer }, null)).toMatchObject({ status, outcome })
})

test('a redirection names where it leads, and no other response does', () => {
  const moved = (status: number, location: string) =>
    locationOf({ status, headers: [['Location', location]] }, 'https://shop.example/a/b?c')
  expect(moved(302, '../file.pdf')).toBe('https://shop.example/file.pdf')
  expect(moved(307, 'https://files.example/1')).toBe('https://files.example/1')
  expect(moved(200, '/file.pdf')).toBeUndefined()
  expect(locationOf({ status: 302, headers: [] }, 'https://shop.example/')).toBeUndefined()
})

describe('a paid request as a command', () => {
  const payment = { name: 'PAYMENT-SIGNATURE', value: 'eyJhIjoxfQ==' }
  const request: ResourceRequest = {
    method: 'POST',
    url: "https://shop.example/it's?a=[1]&b=$(id)",
    headers: [
      ['Accept', "a'b"],
      ['X-Empty', ''],
    ],
    body: "@it's `id` $HOME\n\\ end",
    via: 'relay',
  }
  /** The words that curl gets from a real shell. */
  const wordsOf = (command: string) =>
    execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${command}`], {
      encoding: 'utf8',
    })
      .split('\0')
      .slice(0, -1)

  test('is the very request, whatever a shell finds in it', () => {
    expect(wordsOf(toCurl(request, payment))).toEqual([
      '--globoff',
      '--output',
      'answer',
      '--request',
      'POST',
      '--header',
      "Accept: a'b",
      '--header',
      'X-Empty;',
      '--header',
      'PAYMENT-SIGNATURE: eyJhIjoxfQ==',
      '--header',
      'Content-Type:',
      '--data-raw',
      "@it's `id` $HOME\n\\ end",
      "https://shop.example/it's?a=[1]&b=$(id)",
    ])
  })

  test('has the type that pages give a text, unless the reader names one', () => {
    const direct = { ...request, via: 'direct' } as const
    expect(wordsOf(toCurl(direct, payment))).toContain('Content-Type: text/plain;charset=UTF-8')
    const typed = { ...direct, headers: [['content-type', 'a/b']] as const }
    expect(wordsOf(toCurl(typed, payment)).filter((word) => /^content-type/i.test(word))).toEqual([
      'content-type: a/b',
    ])
    expect(wordsOf(toCurl({ ...direct, method: 'HEAD', body: null }, payment))).toContain('--head')
  })
})

describe('a response to a request of this browser', () => {
  const KB = 1024
  const payment: PaymentHeader = { name: 'PAYMENT-SIGNATURE', value: 'e30=' }
  const sent = fetch
  const BROKEN_OFF = {
    kind: 'unanswered',
    cause: 'broken_off',
    detail: 'The server answered 200.',
  }

  /** A server whose response the test sends part by part. */
  async function open(status = 200) {
    vi.stubGlobal('document', new EventTarget())
    const begun = Promise.withResolvers<ServerResponse>()
    const headers = Promise.withResolvers<void>()
    vi.stubGlobal('fetch', async (...parts: Parameters<typeof sent>) => {
      const response = await sent(...parts)
      headers.resolve()
      return response
    })
    const server = createServer((_, response) => begun.resolve(response.writeHead(status)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const request: ResourceRequest = { ...fields, url, headers: [], body: null }
    return {
      ask: (paid: boolean, stop?: AbortSignal) =>
        sendRequest(request, { ...(paid && { payment }), ...(stop && { stop }) }),
      response: begun.promise,
      headers: headers.promise,
      async [Symbol.asyncDispose]() {
        const closed = new Promise((resolve) => server.close(resolve))
        server.closeAllConnections()
        await closed
      },
    }
  }

  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  test('has any size where it was paid for, and is a file where it is large', async () => {
    await using server = await open()
    const asked = server.ask(true)
    ;(await server.response).end(Buffer.alloc(2048 * KB, 'x'))
    const result = await asked
    if (result.kind !== 'answered') throw new Error(result.cause)
    expect([result.answer.file?.size, result.answer.body.length]).toEqual([2048 * KB, 0])
    expect(readBody(result.answer).kind).toBe('binary')
  })

  test('has at most 512 KB where it was not paid for, or is an error', async () => {
    for (const [status, paid] of [
      [200, false],
      [500, true],
    ] as const) {
      await using server = await open(status)
      const asked = server.ask(paid)
      ;(await server.response).end(Buffer.alloc(512 * KB + 1, 'x'))
      expect(await asked).toEqual({ kind: 'unanswered', cause: 'too_large' })
    }
    await using server = await open()
    const asked = server.ask(false)
    ;(await server.response).end(Buffer.alloc(512 * KB, 'x'))
    expect(await asked).toMatchObject({ answer: { body: { length: 512 * KB } } })
  })

  test.each([
    ['that was paid for may take minutes while parts of it come', true, 'answered'],
    ['that was not paid for ends after 65 seconds', false, 'unanswered'],
  ])('%s', async (_, paid, kind) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await using server = await open()
    const asked = server.ask(paid)
    const response = await server.response
    // In small steps: a part may be read some steps after it was sent.
    for (let part = 0; part < 20; part++) {
      response.write('part')
      await new Promise((resolve) => setImmediate(resolve))
      await vi.advanceTimersByTimeAsync(10_000)
    }
    response.end()
    expect((await asked).kind).toBe(kind)
  })

  test('that was paid for ends when no part comes for 65 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await using server = await open()
    const asked = server.ask(true)
    ;(await server.response).write('part')
    await server.headers
    await vi.advanceTimersByTimeAsync(130_000)
    expect(await asked).toEqual(BROKEN_OFF)
  })

  test('whose body breaks off is not one of a silent server, and the relay is no way around', async () => {
    for (const paid of [true, false]) {
      await using server = await open()
      const asked = server.ask(paid)
      const response = await server.response
      response.write('part')
      await server.headers
      response.destroy()
      expect(await asked).toEqual(BROKEN_OFF)
    }
  })

  test('that was paid for ends when the reader stops it, before its headers or after', async () => {
    for (const begins of [false, true]) {
      await using server = await open()
      const stop = new AbortController()
      const asked = server.ask(true, stop.signal)
      const response = await server.response
      if (begins) {
        response.write('part')
        await server.headers
      }
      stop.abort()
      expect(await asked).toEqual({ kind: 'unanswered', cause: 'stopped' })
    }
  })
})
