import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, ENGINES, type Engine } from '#testing/postgres.ts'
import {
  createTestKey,
  insertTestPayment,
  startTestApp,
  type TestApp,
} from '#testing/service-app.ts'
import { createPaymentId } from '#contract/payment.ts'

async function start(engine: Engine): Promise<TestApp> {
  const database = await createTestDatabase(engine, 'service')
  onTestFinished(() => database[Symbol.asyncDispose]())
  const app = await startTestApp({ target: database.target })
  onTestFinished(() => app[Symbol.asyncDispose]())
  return app
}

async function read(url: string): Promise<[number, unknown]> {
  const answer = await fetch(url)
  return [answer.status, await answer.json()]
}

const RULES = 'deploy/prometheus/paydesk.rules.yml'

const PASSING = [
  { name: 'database', ok: true },
  { name: 'disk', ok: true },
  { name: 'clock', ok: true },
  { name: 'signer', ok: true },
]

test('a database that can write no more makes the service unready, names the disk to the operator alone, and is ready again with space', async () => {
  const app = await start('pglite')
  // The embedded engine has one session, whose limit stands for the disk's end here; chaos:disk fills a real one.
  await app.context.db.execute(sql`set temp_file_limit = '512kB'`)
  const full = PASSING.map((check) => ({ ...check, ok: check.name !== 'disk' }))
  expect(await read(`${app.internalUrl}/health/ready`)).toEqual([
    503,
    { status: 'unavailable', checks: full, stoppedWallets: 0 },
  ])
  expect(await read(`${app.url}/health/ready`)).toEqual([503, { status: 'unavailable' }])
  await app.context.db.execute(sql`reset temp_file_limit`)
  const good = [200, { status: 'ok', checks: PASSING, stoppedWallets: 0 }]
  await expect.poll(() => read(`${app.internalUrl}/health/ready`)).toEqual(good)
  expect(await read(`${app.url}/health/ready`)).toEqual([200, { status: 'ok' }])
})

test.each(ENGINES)(
  '%s: the internal port counts requests, open payments and connections, and says what is ready',
  async (engine) => {
    const app = await start(engine)
    const { accountId, key } = await createTestKey(app.context.db)
    await insertTestPayment(app.context.db, { id: createPaymentId(), accountId, status: 'pending' })
    await fetch(`${app.url}/payments`, { headers: { authorization: `Bearer ${key}` } })
    const answer = await fetch(`${app.internalUrl}/metrics`)
    expect(answer.headers.get('content-type')).toContain('text/plain')
    const text = await answer.text()
    expect(text).toMatch(
      /^http_request_duration_seconds_count\{route="paymentList",method="GET",status="200"\} 1$/m,
    )
    expect(text).toMatch(/^payments_open\{network="[^"]+",status="pending"\} 1$/m)
    expect(text).toMatch(/^readiness_check\{check="disk"\} 1$/m)
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m)
    expect(/^database_connections\{state="idle"\} \d+$/m.test(text)).toBe(engine === 'postgres')
    expect(text).not.toContain(key)
  },
)

test('every metric of the alert rules is exported', async () => {
  const app = await start('postgres')
  const text = await (await fetch(`${app.internalUrl}/metrics`)).text()
  const exported = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name))
  const rules = await readFile(join(import.meta.dirname, '../../', RULES), 'utf8')
  const expressions = rules.split('expr:').slice(1)
  const named = expressions.map(
    (rule) =>
      /\b([a-z]+_[a-z0-9_]+?)(?:_count)?(?=[{)\s])/.exec(rule.split('labels:')[0] ?? '')?.[1],
  )
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((name) => name !== undefined && !exported.has(name))).toEqual([])
})

test('the internal port answers GET alone, and no path of callers', async () => {
  const app = await start('pglite')
  expect(await read(`${app.internalUrl}/health/live`)).toEqual([200, { status: 'ok' }])
  expect((await fetch(`${app.internalUrl}/payments`)).status).toBe(404)
  expect((await fetch(`${app.internalUrl}/metrics`, { method: 'POST' })).status).toBe(405)
})
