import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '#testing/postgres.ts'
import { createTestKey, exampleRoutes, startTestApp, type TestApp } from '#testing/service-app.ts'
import { examples } from '../openapi/examples.ts'
import { createWallet } from '../wallets/create-wallet.ts'

/** Callers without a valid key, directly and through a balancer that appends the address it sees to X-Forwarded-For. Each caller has a loopback address. */

let database: TestDatabase
let app: TestApp
let balancer: Server
let settled = 0

beforeAll(async () => {
  database = await createTestDatabase('pglite', 'service')
  app = await startTestApp({
    target: database.target,
    routes: {
      facilitatorSettle: async (call) => {
        settled++
        return await exampleRoutes.facilitatorSettle(call)
      },
    },
  })
  const { accountId } = await createTestKey(app.context.db)
  const { address } = await createWallet(
    { ...app.context, now: new Date() },
    { accountId, family: 'evm', name: 'Settlements' },
  )
  app.context.config.facilitators = {
    allowed: [],
    loopback: false,
    wallets: [address],
    public: true,
  }
  balancer = createServer((incoming, outgoing) => {
    const forwarded = [incoming.headers['x-forwarded-for'], incoming.socket.remoteAddress]
      .filter(Boolean)
      .join(', ')
    const { method, url: path, headers } = incoming
    const asked = httpRequest(
      {
        host: '127.0.0.1',
        port: app.port,
        method,
        path,
        headers: { ...headers, 'x-forwarded-for': forwarded },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      },
    )
    incoming.pipe(asked)
  })
  await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  balancer?.close()
  balancer?.closeAllConnections()
  await app?.[Symbol.asyncDispose]()
  await database?.[Symbol.asyncDispose]()
})

type Call = {
  port: number
  from: string
  path: string
  headers?: Record<string, string>
  body?: unknown
}

function call({
  port,
  from,
  path,
  headers,
  body,
}: Call): Promise<{ status: number; replayed: boolean }> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const options = {
      host: '127.0.0.1',
      port,
      localAddress: from,
      method,
      path,
      agent: false,
      headers: { 'content-type': 'application/json', ...headers },
    }
    const asked = httpRequest(options, (answer) => {
      answer.resume()
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          replayed: answer.headers['idempotent-replayed'] === 'true',
        }),
      )
    })
    asked.on('error', reject)
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const balancerPort = () => (balancer.address() as AddressInfo).port
const { body: SETTLE } = examples.facilitatorSettle.request

test('with TRUSTED_PROXY_HOPS=0 a forged X-Forwarded-For gives no bucket: neither for a wrong key nor for a settlement without one', async () => {
  app.context.config.trustedProxyHops = 0
  const caller = { port: app.port, from: '127.0.0.2' }
  const reads = new Set<number>()
  for (let index = 0; index < 140; index++) {
    const headers = { authorization: 'Bearer wrong', 'x-forwarded-for': `203.0.113.${index}` }
    reads.add((await call({ ...caller, path: '/payments', headers })).status)
  }
  expect(reads).toEqual(new Set([401, 429]))
  const settles = new Set<number>()
  for (let index = 0; index < 30; index++) {
    const headers = { 'x-forwarded-for': `203.0.113.${index}` }
    settles.add(
      (
        await call({
          ...caller,
          from: '127.0.0.3',
          path: '/facilitator/settle',
          headers,
          body: SETTLE,
        })
      ).status,
    )
  }
  expect(settles).toEqual(new Set([200, 429]))
})

test('with TRUSTED_PROXY_HOPS=1 two callers behind one balancer have a bucket each, and forge no third', async () => {
  app.context.config.trustedProxyHops = 1
  const through = { port: balancerPort(), path: '/facilitator/settle', body: SETTLE }
  const first = new Set<number>()
  for (let index = 0; index < 30; index++) {
    first.add(
      (
        await call({
          ...through,
          from: '127.0.0.4',
          headers: { 'x-forwarded-for': `203.0.113.${index}` },
        })
      ).status,
    )
  }
  expect(first).toEqual(new Set([200, 429]))
  expect((await call({ ...through, from: '127.0.0.5' })).status).toBe(200)

  const wrong = {
    port: balancerPort(),
    path: '/payments',
    headers: { authorization: 'Bearer wrong' },
  }
  const statuses = new Set<number>()
  for (let index = 0; index < 140; index++)
    statuses.add((await call({ ...wrong, from: '127.0.0.6' })).status)
  expect(statuses).toEqual(new Set([401, 429]))
  expect((await call({ ...wrong, from: '127.0.0.7' })).status).toBe(401)
})

test('with TRUSTED_PROXY_HOPS=1 one Idempotency-Key of two callers without a key behind one balancer is two keys', async () => {
  app.context.config.trustedProxyHops = 1
  const before = settled
  const through = {
    port: balancerPort(),
    path: '/facilitator/settle',
    body: SETTLE,
    headers: { 'idempotency-key': 'the-same-for-both-callers' },
  }
  expect(await call({ ...through, from: '127.0.0.8' })).toEqual({ status: 200, replayed: false })
  expect(await call({ ...through, from: '127.0.0.9' })).toEqual({ status: 200, replayed: false })
  expect(await call({ ...through, from: '127.0.0.8' })).toEqual({ status: 200, replayed: true })
  expect(settled - before).toBe(2)
})
