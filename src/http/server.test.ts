import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { sendRaw } from '#testing/raw-request.ts'
import { alreadySent, startHttpServer, type HttpConfig, type HttpServer } from './server.ts'

type Gate = { started: number; answer: () => void }

const servers: HttpServer[] = []
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const server of servers.splice(0)) await server.stop(0)
})

/** A server whose `/slow` is answered when the gate says so, whose `/large` has 40 MB and whose `/stream` is written by the test. */
async function start(config: Partial<HttpConfig> = {}) {
  const waiting: (() => void)[] = []
  const gate: Gate = {
    started: 0,
    answer: () => {
      for (const answer of waiting.splice(0)) answer()
    },
  }
  const streams: ServerResponse[] = []
  const ends: string[] = []
  const server = await startHttpServer(
    { host: '127.0.0.1', port: 0, trustedProxyHops: 0, ...config },
    {
      now: () => new Date(),
      onError: (error) => ends.push(String(error)),
      fetch: async (request, { outgoing }) => {
        const { pathname } = new URL(request.url)
        const response = outgoing as ServerResponse
        response.once('close', () => ends.push(pathname))
        if (pathname === '/large') return new Response('x'.repeat(40_000_000))
        if (pathname === '/stream') {
          response.writeHead(200, { 'Content-Type': 'text/event-stream' })
          response.flushHeaders()
          streams.push(response)
          return alreadySent()
        }
        gate.started++
        if (pathname === '/slow') await new Promise<void>((resolve) => waiting.push(resolve))
        return new Response('{}', { headers: { 'Content-Length': '2' } })
      },
      webSocket: {
        path: '/ws',
        onUpgrade: (_request, socket) => {
          socket.on('error', () => socket.destroy())
          socket.write('HTTP/1.1 101 Switching Protocols\r\nContent-Length: 0\r\n\r\n')
        },
      },
    },
  )
  servers.push(server)
  return { server, gate, streams, ends }
}

function get(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`
}

/** A client that sends a text and reads only what the test asks for. */
async function open({ port }: HttpServer, text = '', from = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  socket.on('error', () => {})
  socket.pause()
  sockets.push(socket)
  await once(socket, 'connect')
  if (text !== '') socket.write(text)
  return socket
}

/** What a socket receives first, up to the end of the line. */
async function firstLine(socket: Socket): Promise<string | undefined> {
  socket.resume()
  const [chunk] = await once(socket, 'data')
  return String(chunk).split('\r\n')[0]
}

test('at the cap of an address the connection that has waited the longest makes room, and none whose answer is being made', async () => {
  const { server, gate } = await start({ maxConnectionsPerAddress: 4 })
  const slow = await open(server, get('/slow'))
  await expect.poll(() => gate.started).toBe(1)
  const silent = [await open(server), await open(server, 'GET / HT'), await open(server)]
  const closed: number[] = []
  for (const [index, socket] of silent.entries())
    socket.resume().once('close', () => closed.push(index))
  expect(await firstLine(await open(server, get('/')))).toBe('HTTP/1.1 200 OK')
  await expect.poll(() => closed).toEqual([0])
  expect(await firstLine(await open(server, get('/')))).toBe('HTTP/1.1 200 OK')
  await expect.poll(() => closed).toEqual([0, 1])
  gate.answer()
  expect(await firstLine(slow)).toBe('HTTP/1.1 200 OK')
  expect(closed).toEqual([0, 1])
})

test('an address whose connections are all at work is refused in the error envelope, and another address is served', async () => {
  const { server, gate } = await start({ maxConnectionsPerAddress: 3 })
  for (let index = 0; index < 2; index++) await open(server, get('/slow'))
  // An upgraded connection counts too.
  expect(
    await firstLine(
      await open(server, get('/ws', 'Connection: Upgrade\r\nUpgrade: websocket\r\n')),
    ),
  ).toBe('HTTP/1.1 101 Switching Protocols')
  await expect.poll(() => gate.started).toBe(2)
  const refused = await sendRaw(server.port, get('/'))
  expect(refused).toMatchObject({
    status: 429,
    headers: { 'retry-after': '1', 'content-type': 'application/json' },
  })
  expect(JSON.parse(refused?.body ?? '').error).toMatchObject({
    code: 'RATE_LIMIT',
    message: 'Too many connections from this address.',
  })
  expect((await sendRaw(server.port, get('/'), '127.0.0.2'))?.status).toBe(200)
  gate.answer()
})

test('at the cap of all, the address with the most connections makes room, whatever the others have', async () => {
  const { server, gate } = await start({ maxConnections: 8, maxConnectionsPerAddress: 8 })
  const single = await open(server, '', '127.0.0.2')
  let isClosed = false
  single.resume().once('close', () => (isClosed = true))
  for (let index = 0; index < 20; index++) await open(server, '', '127.0.0.3')
  expect((await sendRaw(server.port, get('/'), '127.0.0.4'))?.status).toBe(200)
  expect(isClosed).toBe(false)
  for (let index = 0; index < 8; index++) await open(server, get('/slow'), `127.0.1.${index + 1}`)
  await expect.poll(() => gate.started).toBe(9)
  const refused = await sendRaw(server.port, get('/'), '127.0.0.4')
  expect([refused?.status, JSON.parse(refused?.body ?? '').error.code]).toEqual([
    503,
    'SERVICE_UNAVAILABLE',
  ])
  gate.answer()
})

test('behind a balancer one address may have all connections', async () => {
  const { server, gate } = await start({ maxConnections: 300, trustedProxyHops: 1 })
  for (let index = 0; index < 299; index++) await open(server, get('/slow'))
  await expect.poll(() => gate.started).toBe(299)
  expect((await sendRaw(server.port, get('/')))?.status).toBe(200)
  gate.answer()
})

test('a connection gets one request at a time worked on, and is cut when it sends too many ahead', async () => {
  const { server, gate, ends } = await start()
  const socket = await open(server, get('/slow').repeat(30))
  await expect.poll(() => gate.started).toBe(1)
  gate.answer()
  await expect.poll(() => gate.started).toBe(2)
  expect(ends).toEqual(['/slow'])
  const flood = await open(server, get('/slow').repeat(200))
  flood.resume()
  await once(flood, 'close')
  expect(gate.started).toBeLessThanOrEqual(3)
  socket.destroy()
})

test('a client that takes nothing of its answer is cut; a slow one, an idle stream and an application at work are not', async () => {
  const { server, gate, streams, ends } = await start()
  const began = performance.now()
  const deaf = await open(server, get('/large'))
  const slow = await open(server, get('/large'))
  let received = 0
  // About 1 MB a second: the kernel tells the server of megabytes at once, and of nothing between.
  const reading = setInterval(() => (received += (slow.read() as Buffer | null)?.length ?? 0), 50)
  const idle = await open(server, get('/stream'))
  await expect.poll(() => streams.length).toBe(1)
  const stuck = await open(server, get('/stream'))
  await expect.poll(() => streams.length).toBe(2)
  const writing = setInterval(() => streams[1]?.write(`data: ${'x'.repeat(60_000)}\n\n`), 5)
  const working = await open(server, get('/slow'))
  await expect
    .poll(() => ends.toSorted(), { timeout: 14_000, interval: 100 })
    .toEqual(['/large', '/stream'])
  clearInterval(writing)
  expect(performance.now() - began).toBeGreaterThan(4_000)
  // As long again as it took to cut the others.
  await expect
    .poll(() => performance.now() - began, { timeout: 20_000, interval: 500 })
    .toBeGreaterThan(15_000)
  expect(ends).toHaveLength(2)
  expect([slow.destroyed, idle.destroyed, working.destroyed]).toEqual([false, false, false])
  expect(received).toBeGreaterThan(100_000)
  clearInterval(reading)
  gate.answer()
  expect(await firstLine(working)).toBe('HTTP/1.1 200 OK')
  expect([deaf.destroyed, stuck.destroyed]).toEqual([false, false])
})

test('a stop finishes what is at work, closes silent and idle connections at once, and cuts the rest in time', async () => {
  const { server, gate } = await start()
  await open(server)
  await open(server, get('/'))
  const slow = await open(server, get('/slow'))
  await expect.poll(() => gate.started).toBe(2)
  const began = performance.now()
  const stopped = server.stop(10_000)
  gate.answer()
  expect(await firstLine(slow)).toBe('HTTP/1.1 200 OK')
  await stopped
  expect(performance.now() - began).toBeLessThan(3_000)

  const other = await start()
  await open(other.server, get('/slow'))
  await open(other.server, get('/ws', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'))
  await open(other.server, 'GET / HTTP/1.1\r\nX-Drip: ')
  await expect.poll(() => other.gate.started).toBe(1)
  const cut = performance.now()
  await other.server.stop(300)
  expect(performance.now() - cut).toBeLessThan(3_000)
})
