import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { startNameServer } from '#testing/name-server.ts'
import { EgressError, EgressRefusedError } from './exchange.ts'
import { openStream, type StreamLimits } from './stream.ts'

const LIMITS: StreamLimits = {
  answerMs: 2_000,
  silentMs: 2_000,
  totalMs: 5_000,
  maxBytes: 1_024,
  loopback: true,
}

const servers: Server[] = []
afterEach(() => {
  vi.useRealTimers()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function serve(listener: RequestListener): Promise<URL> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/file`)
}

const open = async (listener: RequestListener, limits: Partial<StreamLimits> = {}) =>
  openStream(
    { method: 'GET', url: await serve(listener), headers: { range: 'bytes=0-1' } },
    { ...LIMITS, ...limits },
  )

async function readAll(stream: Awaited<ReturnType<typeof open>>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream.body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test('an answer is passed on piece by piece, with its status, its headers and the range asked for', async () => {
  const stream = await open((request, response) => {
    response.writeHead(206, { 'content-range': 'bytes 0-1/9', 'x-range': request.headers.range })
    response.write('a')
    response.end('b')
  })
  expect(stream).toMatchObject({
    status: 206,
    headers: { 'content-range': 'bytes 0-1/9', 'x-range': 'bytes=0-1' },
  })
  expect(await readAll(stream)).toBe('ab')
})

test('a private or plain address is refused before anything is sent', async () => {
  for (const text of ['https://10.0.0.1/', 'http://shop.example/', 'https://127.0.0.1/'])
    await expect(
      openStream({ method: 'GET', url: new URL(text), headers: {} }, LIMITS),
    ).rejects.toThrow(EgressRefusedError)
})

test('a name that leads to this machine is not connected to', async () => {
  await using _ = await startNameServer(async () => ['127.0.0.1'])
  const question = { method: 'GET', url: new URL('https://localhost/'), headers: {} }
  const failure: unknown = await openStream(question, { ...LIMITS, loopback: false }).catch(
    (error: unknown) => error,
  )
  expect(String((failure as EgressError).cause)).toContain('not public')
})

test('as many bytes as allowed are read, and one more ends it', async () => {
  const full = await open((_, response) => response.end('x'.repeat(1_024)))
  expect(await readAll(full)).toHaveLength(1_024)
  const more = await open((_, response) => response.end('x'.repeat(1_025)))
  await expect(readAll(more)).rejects.toThrow(EgressError)
})

test('a body without end is cut by its bytes', async () => {
  const endless = await open((_, response) => {
    const timer = setInterval(() => response.write('x'.repeat(300)), 1)
    response.once('close', () => clearInterval(timer))
  })
  await expect(readAll(endless)).rejects.toThrow(EgressError)
})

test('a body that is shorter than its length is an error', async () => {
  const short = await open((_, response) => {
    response.writeHead(200, { 'content-length': '10' })
    response.write('x', () => void response.destroy())
  })
  await expect(readAll(short)).rejects.toThrow(EgressError)
})

test.each<[string, Partial<StreamLimits>, RequestListener]>([
  ['without headers', { answerMs: 30 }, () => undefined],
  ['that falls silent', { silentMs: 30 }, (_, response) => void response.writeHead(200).write('x')],
  [
    'that takes too long',
    { totalMs: 30 },
    (_, response) => void response.writeHead(200).write('x'),
  ],
])('an answer %s is cut by the clock', async (_, limits, listener) => {
  const attempt = open(listener, limits).then(readAll)
  await expect(attempt).rejects.toThrow(EgressError)
})

test('a reader that waits is not taken for a silent address', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const stream = await open((_, response) => response.end('x'.repeat(100)), { silentMs: 20 })
  expect((await stream.body.next()).done).toBe(false)
  vi.advanceTimersByTime(1_000)
  expect((await stream.body.next()).done).toBe(true)
})

test('closing an answer frees its connection, read or not', async () => {
  const closed = Promise.withResolvers<void>()
  const stream = await open((request, response) => {
    request.socket.once('close', () => closed.resolve())
    response.writeHead(200).write('x')
  })
  stream.close()
  await closed.promise
})

test('a compressed answer is refused', async () => {
  await expect(
    open((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x')),
  ).rejects.toThrow(EgressError)
})
