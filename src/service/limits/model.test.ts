import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ProblemError } from '#contract/problem.ts'
import { openDatabase, type OpenDatabase } from '#postgres/open.ts'
import { createTestDatabase, type TestDatabase } from '#testing/postgres.ts'
import { SERVICE_SCHEMA } from '../db/migrations-folder.ts'
import { CHARGED_MS, leaseTokens, SPEND_MS, Limits, type Limit } from './limits.ts'

/** The real limits over the real database, on a clock that the test moves: several processes, accounts with several keys, crashes. */

let database: TestDatabase
let opened: OpenDatabase
beforeAll(async () => {
  database = await createTestDatabase('pglite', 'service')
  opened = await openDatabase(database.target, SERVICE_SCHEMA)
})
afterAll(async () => {
  await opened?.[Symbol.asyncDispose]()
  await database?.[Symbol.asyncDispose]()
})

const WINDOW_MS = 60_000
let runs = 0

type Process = Limits
type Passed = { at: number; account: string; key: string }

/** Processes under names that no other run uses, on one clock. `latency` is how long each half of a lease takes. */
function createWorld(processes: number, latency: () => number = () => 0) {
  const run = `run ${++runs} `
  const clock = { ms: Date.parse('2026-11-21T10:00:00Z') + runs * 10_000_000 }
  const statements = { count: 0 }
  let last: Promise<unknown> = Promise.resolve()
  const start = (): Process =>
    new Limits({
      now: () => clock.ms,
      lease(requests) {
        // One after the other, each with its time: who waited for the one before goes on before the clock does.
        const mine = last.then(async () => {
          statements.count++
          clock.ms += latency()
          const leases = await leaseTokens(opened.db, requests, clock.ms)
          clock.ms += latency()
          return leases
        })
        last = mine.catch(() => {}).then(() => new Promise((resolve) => setImmediate(resolve)))
        return mine
      },
    })
  const alive = Array.from({ length: processes }, start)
  const name = (limit: Limit): Limit => ({ ...limit, pool: run + limit.pool })
  return {
    clock,
    statements,
    /** Kills a process: it gives nothing back. Another one takes its place. */
    crash: (index: number) => void (alive[index % processes] = start()),
    sweep: async () => void (await Promise.all(alive.map((process) => process.sweep()))),
    take: async (process: number, limits: readonly Limit[]) => {
      const verdict = await alive[process % processes]
        ?.take(limits.map(name))
        .catch(refusedBecauseSlow)
      return { allowed: verdict?.allowed === true, at: clock.ms, verdict }
    },
  }
}

/** A database that answers later than tokens may wait lets nothing through. */
function refusedBecauseSlow(error: unknown): undefined {
  if (!(error instanceof ProblemError) || error.code !== 'SERVICE_UNAVAILABLE') throw error
}

/** The most that passed within any 60 seconds. */
function mostInWindow(times: readonly number[]): number {
  const sorted = times.toSorted((one, other) => one - other)
  let [most, first] = [0, 0]
  for (const [index, at] of sorted.entries()) {
    while ((sorted[first] ?? at) <= at - WINDOW_MS) first++
    most = Math.max(most, index - first + 1)
  }
  return most
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      process: fc.nat(3),
      key: fc.nat(2),
      times: fc.integer({ min: 1, max: 15 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 1, max: 70_000 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), process: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
)

describe('at most the limit passes in any 60 seconds', () => {
  test('for the account and for each key, over 1 to 4 processes that crash, with leases that take their time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 5, max: 30 }),
        fc.integer({ min: 2, max: 20 }),
        fc.array(fc.nat(800), { minLength: 1, maxLength: 10 }),
        fc.array(step, { minLength: 20, maxLength: 60 }),
        async (processes, accountPerMinute, keyPerMinute, latencies, steps) => {
          let turn = 0
          const world = createWorld(processes, () => latencies[turn++ % latencies.length] ?? 0)
          const passed: Passed[] = []
          const ask = async (process: number, key: number) => {
            const limits = [{ pool: 'account', perMinute: accountPerMinute }]
            if (keyPerMinute < accountPerMinute)
              limits.push({ pool: `key ${key}`, perMinute: keyPerMinute })
            const { allowed, at } = await world.take(process, limits)
            if (allowed) passed.push({ at, account: 'account', key: `key ${key}` })
          }
          for (const one of steps) {
            if (one.kind === 'wait') world.clock.ms += one.ms
            else if (one.kind === 'crash') world.crash(one.process)
            else if (one.kind === 'sweep') await world.sweep()
            else
              await Promise.all(
                Array.from({ length: one.times }, (_, index) =>
                  ask(one.process + (index % 2), one.key),
                ),
              )
          }
          expect(mostInWindow(passed.map(({ at }) => at))).toBeLessThanOrEqual(accountPerMinute)
          for (const times of Map.groupBy(passed, ({ key }) => key).values())
            expect(mostInWindow(times.map(({ at }) => at))).toBeLessThanOrEqual(
              Math.min(accountPerMinute, keyPerMinute),
            )
        },
      ),
      { numRuns: 60 },
    )
  })
})

test('a token is spent within 2 seconds of the question for it, however late the answer came', async () => {
  let latency = 0
  const world = createWorld(1, () => latency)
  const limits = [{ pool: 'account', perMinute: 100 }]
  await world.take(0, limits)
  latency = 750
  // This one leases a second token ahead, and is answered 1.5 seconds later.
  expect((await world.take(0, limits)).allowed).toBe(true)
  latency = 0
  const before = world.statements.count
  world.clock.ms += SPEND_MS - 1_500
  expect((await world.take(0, limits)).allowed).toBe(true)
  expect(world.statements.count).toBe(before + 1)
})

test.each([1, 7, 100, 1000])(
  'a lone process that asks without end gets the whole limit of %i each time it is free again',
  async (perMinute) => {
    const world = createWorld(1)
    const limits = [{ pool: 'account', perMinute }]
    const end = world.clock.ms + 3 * CHARGED_MS
    let passed = 0
    while (world.clock.ms < end) {
      if ((await world.take(0, limits)).allowed) passed++
      world.clock.ms += Math.min(50, 20_000 / perMinute)
    }
    expect(passed).toBeGreaterThanOrEqual(3 * perMinute - 1)
  },
)

test('after a burst in a fresh minute, requests are refused until the time that Retry-After names, and no longer', async () => {
  const world = createWorld(1)
  const limits = [{ pool: 'account', perMinute: 100 }]
  const started = world.clock.ms
  const burst = await Promise.all(Array.from({ length: 150 }, () => world.take(0, limits)))
  expect(burst.filter(({ allowed }) => allowed)).toHaveLength(100)
  const refusal = burst.find(({ allowed }) => !allowed)?.verdict
  expect(refusal).toMatchObject({ limit: 100, remaining: 0 })
  expect(refusal?.retryAfter).toBeGreaterThan(60)
  expect(refusal?.retryAfter).toBeLessThanOrEqual(Math.ceil(CHARGED_MS / 1000))
  expect((refusal?.reset ?? 0) * 1000 - started).toBeGreaterThanOrEqual(WINDOW_MS + SPEND_MS)
  for (; world.clock.ms < started + WINDOW_MS + SPEND_MS; world.clock.ms += 500)
    expect((await world.take(0, limits)).allowed).toBe(false)
  world.clock.ms = started + (refusal?.retryAfter ?? 0) * 1000
  expect((await world.take(0, limits)).allowed).toBe(true)
})

test('tokens that one process leased ahead and did not spend are there for another one within 3 seconds', async () => {
  const world = createWorld(2)
  const limits = [{ pool: 'account', perMinute: 40 }]
  for (let index = 0; index < 20; index++) expect((await world.take(0, limits)).allowed).toBe(true)
  world.clock.ms += SPEND_MS
  await world.sweep()
  for (let index = 0; index < 20; index++) expect((await world.take(1, limits)).allowed).toBe(true)
  expect((await world.take(1, limits)).allowed).toBe(false)
})

test('a steady stream of requests costs a statement in two seconds, and refused requests cost next to none', async () => {
  const world = createWorld(1)
  const limits = [{ pool: 'account', perMinute: 1_000_000 }]
  for (let index = 0; index < 20_000; index++) {
    await world.take(0, limits)
    world.clock.ms += 1
  }
  expect(world.statements.count).toBeLessThan(30)
  const few = [{ pool: 'few', perMinute: 5 }]
  const before = world.statements.count
  for (let index = 0; index < 20_000; index++) {
    await world.take(0, few)
    world.clock.ms += 1
  }
  expect(world.statements.count - before).toBeLessThan(25)
})

test('a clock of the database that is set back frees nothing early and stops nobody for longer', async () => {
  const world = createWorld(1)
  const limits = [{ pool: 'account', perMinute: 10 }]
  const at = world.clock.ms
  await Promise.all(Array.from({ length: 10 }, () => world.take(0, limits)))
  const lease = async (ms: number) =>
    (
      await leaseTokens(
        opened.db,
        [{ pool: `run ${runs} account`, capacity: 10, needed: 1, extra: 0, back: [] }],
        ms,
      )
    )[0]
  const back = at - 3_600_000
  expect(await lease(back)).toMatchObject({ granted: 0 })
  expect(await lease(back + CHARGED_MS - 500)).toMatchObject({ granted: 0 })
  expect(await lease(back + CHARGED_MS)).toMatchObject({ granted: 1 })
})

test('a million addresses are not remembered', async () => {
  const limits = new Limits({
    lease: async (requests) =>
      requests.map(() => ({
        granted: 1,
        slot: 1,
        available: 9,
        freeInMs: 0,
        sinceLatestMs: 0,
        emptyAt: 0,
      })),
    mostPools: 100,
  })
  for (let index = 0; index < 5_000; index++)
    await limits.take([{ pool: `ip:${index}`, perMinute: 10 }])
  expect(limits.size).toBeLessThanOrEqual(100)
  await limits.close()
})
