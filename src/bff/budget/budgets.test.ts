import { describe, expect, test } from 'vitest'
import { PLANS } from '#contract/api-key-body.ts'
import { ProblemError } from '#contract/problem.ts'
import { Budgets, type BudgetClass, Quota, type Standing } from './budgets.ts'

function setUp(requestsPerMinute = 100) {
  const clock = { ms: Date.parse('2026-11-21T10:00:00Z') }
  const quota = new Quota(requestsPerMinute)
  const budgets = new Budgets(quota, () => new Date(clock.ms))
  /** Seconds to wait, 0 when it was granted. */
  const ask = (
    address: string,
    budget: BudgetClass,
    sessionId?: string,
    standing: Standing = 'member',
  ): number => {
    try {
      budgets.spend({ sessionId, address, standing }, budget)
      return 0
    } catch (error) {
      if (!(error instanceof ProblemError) || error.code !== 'RATE_LIMIT') throw error
      return error.facts.retryAfter ?? -1
    }
  }
  const granted = (times: number, ...args: Parameters<typeof ask>): number =>
    Array.from({ length: times }, () => ask(...args)).filter((wait) => wait === 0).length
  return { clock, quota, budgets, ask, granted }
}

describe('one visitor', () => {
  test.each([PLANS.standard.requestsPerMinute, PLANS.premium.requestsPerMinute])(
    'uses less than a plan of %i, whatever it asks for and with however many sessions',
    (plan) => {
      const { granted } = setUp(plan)
      let total = 0
      for (const budget of ['sync', 'tail', 'action'] as const)
        for (let session = 0; session < 20; session++)
          total += granted(plan, 'a', budget, `s${session}`)
      expect(total).toBeLessThan(0.9 * plan)
      expect(granted(1, 'b', 'action')).toBe(1)
    },
  )

  test('waits as long as it was told, and no longer', () => {
    const { clock, ask, granted } = setUp()
    expect(granted(100, 'a', 'sync', 's')).toBe(20)
    const wait = ask('a', 'sync', 's')
    expect(wait).toBeGreaterThan(0)
    clock.ms += wait * 1000
    expect(ask('a', 'sync', 's')).toBe(0)
    expect(ask('a', 'sync', 's')).toBeGreaterThan(0)
  })

  test('that has used up its lists still acts', () => {
    const { granted } = setUp()
    granted(100, 'a', 'sync', 's')
    granted(100, 'a', 'tail', 's')
    expect(granted(1, 'a', 'action', 's')).toBe(1)
  })

  test('whose session is out pays nothing from its address', () => {
    const { granted } = setUp()
    granted(500, 'a', 'action', 's1')
    expect(granted(500, 'a', 'action', 's2')).toBe(25 - 15)
  })
})

describe('visitors from however many addresses', () => {
  /** Everything that a hundred addresses with a session each are granted, of all classes, counted as the service does. */
  const flood = ({ quota, ask }: ReturnType<typeof setUp>, standing: Standing) => {
    for (const budget of ['sync', 'tail', 'action'] as const)
      for (let address = 0; address < 100; address++)
        while (ask(`a${address}`, budget, `s${address}`, standing) === 0) quota.begin()
  }

  test('leave the people of the account and the merchant’s own servers a part of the plan', () => {
    const all = setUp()
    flood(all, 'anonymous')
    expect(all.quota.remaining(all.clock.ms)).toBeGreaterThan(18)
    expect(all.ask('b', 'action', 't', 'anonymous')).toBeGreaterThan(0)
    expect(all.ask('b', 'action', 't', 'wallet')).toBe(0)
    flood(all, 'wallet')
    expect(all.quota.remaining(all.clock.ms)).toBeGreaterThan(8)
    expect(all.ask('b', 'action', 't', 'wallet')).toBeGreaterThan(0)
    expect(all.ask('b', 'action', 't', 'member')).toBe(0)
  })

  test.each<BudgetClass>(['action', 'tail', 'sync'])(
    'without a wallet use half of the plan for %s, and the others are served',
    (budget) => {
      const { ask } = setUp()
      let used = 0
      for (let address = 0; address < 100; address++)
        while (ask(`a${address}`, budget, undefined, 'anonymous') === 0) used++
      expect(used).toBe(50)
      expect(ask('a0', budget, 's', 'member')).toBe(0)
      expect(ask('b', budget, 't', 'wallet')).toBe(0)
    },
  )

  test('of one IPv6 line are one visitor', () => {
    const { ask, granted } = setUp()
    const network = (group: string) => `ip:2001:db8:1:${group}::/64`
    for (const group of ['ab00', 'ab01', 'abff'])
      granted(100, network(group), 'action', undefined, 'wallet')
    expect(ask(network('ab42'), 'action', undefined, 'wallet')).toBeGreaterThan(0)
    expect(ask(network('ac00'), 'action', undefined, 'wallet')).toBe(0)
    expect(granted(100, network('0'), 'action', undefined, 'wallet')).toBe(20)
    expect(ask(network('ff'), 'action', undefined, 'wallet')).toBeGreaterThan(0)
    expect(ask(network('100'), 'action', undefined, 'wallet')).toBe(0)
  })
})

describe('calls that wait at the service', () => {
  function waitingCalls() {
    const { budgets } = setUp()
    const { promise: answered, resolve: answer } = Promise.withResolvers<string>()
    const open = async (address: string) => {
      try {
        return await budgets.whileWaiting(address, () => answered)
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error
        return error.facts
      }
    }
    const refusedBy = (scope: string) => ({ retryAfter: 2, details: { budget: 'action', scope } })
    return { open, answer, refusedBy }
  }

  test('are four at a time of one IPv6 line, and 32 in all', async () => {
    const { open, answer, refusedBy } = waitingCalls()
    const line = ['ab00', 'ab01', 'ab7f', 'abff', 'ab42'].map((group) =>
      open(`ip:2001:db8:1:${group}::/64`),
    )
    expect(await line.at(-1)).toEqual(refusedBy('address'))
    const others = Array.from({ length: 29 }, (_, index) => open(`ip:10.0.0.${index}`))
    expect(await others.at(-1)).toEqual(refusedBy('merchant'))
    answer('done')
    expect(await Promise.all([...line.slice(0, 4), ...others.slice(0, 28)])).toEqual(
      Array(32).fill('done'),
    )
    expect(await open('ip:10.0.0.200')).toBe('done')
  })

  test('of nineteen addresses leave a place to another one', async () => {
    const { open, answer, refusedBy } = waitingCalls()
    const strangers = Array.from({ length: 19 * 4 }, (_, index) => open(`ip:10.0.0.${index >> 2}`))
    expect(await strangers.at(-1)).toEqual(refusedBy('address'))
    const buyer = open('ip:10.0.1.1')
    const late = open('ip:10.0.1.2')
    expect(await late).toEqual(refusedBy('merchant'))
    answer('done')
    expect(await buyer).toBe('done')
    const served = (await Promise.all(strangers)).filter((outcome) => outcome === 'done')
    expect(served).toHaveLength(31)
  })
})

describe('a plan that runs out', () => {
  test.each<[number, BudgetClass[]]>([
    [41, ['sync', 'tail', 'action']],
    [39, ['tail', 'action']],
    [19, ['action']],
    [1, ['action']],
  ])('with %i of 100 left still serves %j', (remaining, served) => {
    const { clock, quota, ask } = setUp()
    quota.begin()
    quota.end({ limit: 100, remaining }, clock.ms)
    expect(
      (['sync', 'tail', 'action'] as const).filter((budget) => ask('a', budget) === 0),
    ).toEqual(served)
  })

  test('is not asked again before the service said so', () => {
    const { clock, quota, ask } = setUp()
    quota.block(clock.ms + 7000)
    expect(ask('a', 'action')).toBe(7)
    clock.ms += 7000
    expect(ask('a', 'action')).toBe(0)
  })

  test('comes back with time', () => {
    const { clock, quota, ask } = setUp()
    quota.begin()
    quota.end({ limit: 100, remaining: 0 }, clock.ms)
    expect(ask('a', 'sync')).toBe(24)
    clock.ms += 24_000
    expect(ask('a', 'sync')).toBe(0)
  })
})

test('orders of unproven payers wait by address, whatever plan and sessions there are', () => {
  const { budgets, clock } = setUp(100_000)
  const build = (address: string) => () => budgets.spendDraft(address)
  for (let index = 0; index < 60; index++) build('a')()
  expect(build('a')).toThrow(ProblemError)
  expect(build('b')).not.toThrow()
  clock.ms += 1_000
  expect(build('a')).not.toThrow()
  expect(build('a')).toThrow(ProblemError)
})

test('requests for a refund wait by address, and by payment from whatever address', () => {
  const { budgets, clock } = setUp()
  const handIn = (address: string, paymentId: string) => () =>
    budgets.spendRefundRequest(address, paymentId)
  for (let index = 0; index < 10; index++) handIn('a', `pay_${index}`)()
  expect(handIn('a', 'pay_new')).toThrow(ProblemError)
  for (let index = 0; index < 9; index++) handIn(`b${index}`, 'pay_0')()
  expect(handIn('c', 'pay_0')).toThrow(ProblemError)
  clock.ms += 60_000
  expect(handIn('a', 'pay_0')).not.toThrow()
})
