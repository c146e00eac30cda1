import { readdirSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '#postgres/open.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { OFFLINE_NETWORKS, ORIGIN } from '#testing/fixture.ts'
import { createTestDatabase, databaseVariables, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey } from '#testing/service-app.ts'
import {
  startProxyProcess,
  startServiceProcess,
  type ServiceProcess,
} from '#testing/service-process.ts'

/**
 * Both programs as an operator starts them, under clients that only occupy connections. The test
 * counts the file descriptors of their processes.
 */

/** Silent, dripping and non-reading sockets: this many of each. */
const OF_EACH = 700
/**
 * Three seconds to open them, the deadline of a body and of an unread answer, the interval of the
 * check, the time to read the last answer, and some for a slow machine.
 */
const FREED_WITHIN_MS = 3_000 + 10_000 + 1_000 + 1_000 + 3_000
const ASK_EVERY_MS = 100
/** Descriptors that come and go without attackers: database connections, the honest client. */
const MARGIN = 20

const databases: TestDatabase[] = []
let service: ServiceProcess
let proxy: ServiceProcess
let key = ''
let attackerKey = ''

beforeAll(async () => {
  const [forService, forProxy] = [
    await createTestDatabase('postgres', 'service'),
    await createTestDatabase('postgres', 'bff'),
  ]
  databases.push(forService, forProxy)
  const NETWORKS = JSON.stringify(OFFLINE_NETWORKS)
  service = await startServiceProcess({
    ...databaseVariables(forService.target),
    NETWORKS,
    LOG_LEVEL: 'info',
  })
  await using opened = await openDatabase(forService.target, SERVICE_SCHEMA)
  ;({ key } = await createTestKey(opened.db))
  ;({ key: attackerKey } = await createTestKey(opened.db))
  proxy = await startProxyProcess({
    ...databaseVariables(forProxy.target),
    NETWORKS,
    SERVICE_URL: service.url,
    SERVICE_API_KEY: key,
    ALLOWED_ORIGINS: ORIGIN,
    SELLER_WALLETS: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  })
})
afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
  for (const database of databases) await database[Symbol.asyncDispose]()
})

type Target = {
  port: number
  pid: number
  honest: { path: string; headers: Record<string, string> }
  post: string
  large: string
}

const HEAD = 'HTTP/1.1\r\nHost: a\r\n'
const JSON_HEAD = `${HEAD}Origin: ${ORIGIN}\r\nX-Requested-By: paydesk\r\nContent-Type: application/json\r\n`

test('2,100 silent, dripping and non-reading sockets leave normal requests quick and give their descriptors back, though they never close', async () => {
  const toService = {
    port: service.port,
    pid: service.pid,
    honest: { path: '/payments', headers: { authorization: `Bearer ${key}` } },
    post: `POST /transaction/send ${JSON_HEAD}Authorization: Bearer ${attackerKey}\r\n`,
    large: '/docs/swagger-ui-bundle.js',
  }
  const toProxy = {
    port: proxy.port,
    pid: proxy.pid,
    honest: { path: '/api/config', headers: { origin: ORIGIN } },
    post: `POST /api/session/challenge ${JSON_HEAD}`,
    large: '/api/config',
  }
  // The second starts after the first: opening so many sockets is work for this process too.
  const seen = await Promise.all([besiege(toService, 1_500), besiege(toProxy, 4_500)])
  for (const { opened, failed, peak, before, after, calm, p99, slowest } of seen) {
    expect({ opened, failed }).toEqual({ opened: 3 * OF_EACH, failed: [] })
    expect(peak - before).toBeGreaterThan(1_000)
    // A request that waits for an attacker's socket waits for its time limit, which is 10 seconds.
    // On a busy machine, where requests are slow without attackers too, a multiple of their time.
    expect(p99).toBeLessThan(Math.max(3_000, 6 * calm.p99))
    expect(slowest).toBeLessThan(Math.max(6_000, 6 * calm.slowest))
    expect(after - before).toBeLessThan(MARGIN)
  }
})

async function besiege(target: Target, calmMs: number) {
  const calmUntil = performance.now() + calmMs
  const calm = await askWhile(target, () => performance.now() < calmUntil)
  const before = descriptorsOf(target.pid)
  const attackers = openAttackers(target)
  const deadline = performance.now() + FREED_WITHIN_MS
  let peak = 0
  let after = 0
  const isOpened = (): boolean => attackers.sockets.length === 3 * OF_EACH
  const goesOn = (): boolean => {
    after = descriptorsOf(target.pid)
    peak = Math.max(peak, after)
    return !(isOpened() && after - before < MARGIN) && performance.now() < deadline
  }
  const { failed, p99, slowest } = await askWhile(target, goesOn, isOpened)
  const opened = attackers.sockets.length
  attackers.stop()
  return { opened, before, peak, after, calm, p99, slowest, failed }
}

/**
 * Normal requests, from separate addresses and from the one that all silent sockets use: which
 * failed, and in milliseconds the longest of them and the 99th percentile. That leaves out what is
 * sent while `isTimed` is false: this process is then busy with opening sockets.
 */
async function askWhile(
  target: Target,
  goesOn: () => boolean,
  isTimed = (): boolean => true,
): Promise<{ failed: unknown[]; p99: number; slowest: number }> {
  const times: number[] = []
  let slowest = 0
  const failed: unknown[] = []
  const askOn = async (from: string): Promise<void> => {
    while (goesOn()) {
      const counts = isTimed()
      const asked = performance.now()
      const status = await ask(target, from).catch((error: unknown) => error)
      const time = performance.now() - asked
      slowest = Math.max(slowest, time)
      if (counts) times.push(time)
      if (status !== 200) failed.push(status)
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS))
    }
  }
  await Promise.all(['127.0.0.1', '127.0.0.1', '127.0.9.8', '127.0.9.9'].map(askOn))
  times.sort((one, other) => one - other)
  return { failed, p99: times[Math.floor(times.length * 0.99)] ?? Infinity, slowest }
}

/**
 * Sockets that the client never closes, even when the server does. Most have an address that few
 * share.
 */
function openAttackers({ port, post, large }: Target) {
  const sockets: Socket[] = []
  const open = (from: string, text: string): Socket => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true })
    // The client ignores what the server does to the socket.
    socket.on('error', () => {})
    socket.pause()
    if (text !== '') socket.write(text)
    sockets.push(socket)
    return socket
  }
  const dripping: Socket[] = []
  const openThree = (index: number): void => {
    open('127.0.0.1', '')
    const dripper = `127.0.1.${1 + (index % 10)}`
    dripping.push(
      index % 5 > 0
        ? open(dripper, `GET / ${HEAD}X-Drip: `)
        : open(dripper, `${post}Content-Length: 1000\r\n\r\n{`),
    )
    const deaf = `127.0.2.${1 + (index % 10)}`
    if (index % 28 === 0) open(`127.0.3.${1 + index / 28}`, `GET ${large} ${HEAD}\r\n`.repeat(20))
    else if (index % 2 === 0) open(deaf, 'hello\r\n\r\n')
    else open(deaf, `GET /health/live HTTP/1.0\r\n\r\n`)
  }
  let opened = 0
  const opening = setInterval(() => {
    for (let count = 0; count < 14 && opened < OF_EACH; count++) openThree(opened++)
  }, 50)
  const drip = setInterval(() => {
    for (const socket of dripping) if (socket.writable) socket.write('x')
  }, 1_000)
  const stop = () => {
    clearInterval(opening)
    clearInterval(drip)
    for (const socket of sockets) socket.destroy()
  }
  return { sockets, stop }
}

function ask({ port, honest }: Target, from: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(
      { ...honest, host: '127.0.0.1', port, localAddress: from, agent: false, timeout: 30_000 },
      (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode ?? 0))
        answer.on('error', reject)
      },
    )
    asked.on('timeout', () => asked.destroy(new Error('No answer within 30 seconds.')))
    asked.on('error', reject)
    asked.end()
  })
}

function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}
