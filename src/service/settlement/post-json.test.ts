import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { EgressError } from '#egress/exchange.ts'
import { postJson } from './remote.ts'

async function ask(listener: RequestListener, timeoutMs = 2_000): Promise<unknown> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await postJson(
      new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/verify`),
      { a: 1 },
      { timeoutMs, loopback: true },
    )
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

test('JSON goes out and comes back, with nothing of ours in the headers', async () => {
  const seen: string[] = []
  const answer = await ask((request, response) => {
    seen.push(...Object.keys(request.headers).toSorted())
    request.pipe(response)
  })
  expect(answer).toEqual({ a: 1 })
  expect(seen).toEqual([
    'accept',
    'accept-encoding',
    'connection',
    'content-length',
    'content-type',
    'host',
    'user-agent',
  ])
})

test.each<[string, RequestListener]>([
  [
    'a redirect',
    (_, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
  ],
  ['an error', (_, response) => response.writeHead(500).end('{}')],
  ['HTML', (_, response) => response.end('<html></html>')],
  [
    'compression',
    (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{}')),
  ],
  ['more than 64 KiB', (_, response) => response.end(JSON.stringify('x'.repeat(65 * 1024)))],
  ['a connection that breaks', (request) => request.socket.destroy()],
])('%s is one and the same problem', async (_, listener) => {
  await expect(ask(listener)).rejects.toThrow(new EgressError(undefined))
})

test('an answer that drips ends with the deadline', async () => {
  const drip: RequestListener = (_, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(timer))
  }
  const startedAt = performance.now()
  await expect(ask(drip, 300)).rejects.toThrow(EgressError)
  expect(performance.now() - startedAt).toBeLessThan(3_000)
})
