import 'fake-indexeddb/auto'
import { describe, expect, test } from 'vitest'
import { isOutstanding } from './journal.ts'
import { canRebuild, isPaid, type PaymentState } from './machine.ts'
import { open } from './testing/open.ts'
import { stepOf } from './testing/tab.ts'

/** I4: what counts is the chain, and what is told of it. */

describe('I4: paid needs our own RPC at confirmed and an equal transfer', () => {
  test('a hash from the wallet or a first block is not paid', async () => {
    const { dependencies, browser } = open('evm')
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    dependencies.approve()
    await browser.still()
    expect(isPaid(run.state())).toBe(false)
    dependencies.land()
    dependencies.now += 3_000
    dependencies.pass(0)
    await browser.still()
    expect(run.state()).toMatchObject({ step: 'submitted', outcome: 'paid' })
    expect(isPaid(run.state())).toBe(false)
    await browser.pass(7)
    expect(isPaid(run.state())).toBe(true)
    run.close()
  })

  test('a transaction that landed with another meaning is never paid', async () => {
    const { dependencies, browser } = open('evm')
    const read = dependencies.chain.read
    dependencies.chain.read = async (...args) => {
      const reading = await read(...args)
      return reading.kind === 'landed' ? { ...reading, outcome: 'other' } : reading
    }
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    dependencies.approve()
    dependencies.land()
    await browser.pass(60)
    expect(run.state()).toMatchObject({ step: 'failed', reason: 'other' })
    expect(canRebuild(run.state())).toBe(false)
    run.close()
  })

  test('a reorganization makes the payment rolled back, and inclusion in a new block makes it paid again', async () => {
    const { dependencies, browser } = open('evm')
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    dependencies.approve()
    dependencies.land()
    await browser.pass(6)
    expect(stepOf(run)).toBe('confirmed')
    dependencies.reorganize()
    await browser.pass(6)
    expect(stepOf(run)).toBe('rolled_back')
    dependencies.land()
    await browser.pass(30)
    expect(stepOf(run)).toBe('finalized')
    run.close()
  })
})

test.each([
  ['evm', null],
  ['solana', expect.anything()],
] as const)(
  'on %s it is kept that no endpoint answers, until one does; it decides nothing',
  async (family, bytes) => {
    const { dependencies, browser } = open(family)
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    // On Solana this page broadcasts, so the endpoint goes down after that.
    dependencies.rpcUp = family === 'solana'
    dependencies.approve()
    await browser.still()
    dependencies.rpcUp = false
    await browser.pass(10)
    expect(run.state()).toMatchObject({ step: 'broadcast', unavailable: true })
    await browser.pass(90)
    const lost = run.state()
    expect(lost).toMatchObject({
      step: 'unknown',
      reason: 'not_seen',
      absentSince: null,
      unavailable: true,
      sent: { bytes },
    })
    expect(canRebuild(lost)).toBe(false)
    expect(isOutstanding(lost, dependencies.now)).toBe(true)
    // The next visit knows it too, from the journal.
    expect((await browser.journal.read('order-1'))?.state).toMatchObject({ unavailable: true })
    dependencies.rpcUp = true
    dependencies.land()
    await browser.pass(6)
    expect(run.state()).toMatchObject({ step: 'confirmed' })
    expect(run.state()).not.toMatchObject({ unavailable: true })
    run.close()
  },
)

test('bytes that expired before the first broadcast are dropped, not sent', async () => {
  const { dependencies, browser } = open('solana')
  const run = await browser.reviewed()
  void run.sign([])
  await browser.still()
  await browser.pass(151)
  dependencies.approve()
  await browser.still()
  expect(stepOf(run)).toBe('expired_unsigned')
  expect(dependencies.broadcasts).toEqual([])
  run.close()
})

test('the service is told once of the signature', async () => {
  const { dependencies, browser } = open('solana')
  const run = await browser.reviewed()
  void run.sign([])
  await browser.still()
  dependencies.approve()
  await browser.pass(30)
  expect(dependencies.reports).toEqual(['sig-pay-order-1'])
  run.close()
})

const down = () => Promise.reject(new Error('down'))
const silent = () => new Promise<void>(() => {})
test.each([
  ['cannot take the report', down],
  ['never answers the report', silent],
])('a service that %s changes nothing for the payment', async (_name, report) => {
  const { dependencies, browser } = open('solana')
  dependencies.service.report = report
  const run = await browser.reviewed()
  void run.sign([])
  await browser.still()
  dependencies.approve()
  await browser.still()
  dependencies.land()
  await browser.pass(40)
  expect(stepOf(run)).toBe('finalized')
  run.close()
})

test('what the browser cannot keep for a while is kept later: the payment is followed to its end', async () => {
  const { dependencies, browser } = open('solana')
  const run = await browser.reviewed()
  void run.sign([])
  await browser.still()
  dependencies.approve()
  await browser.still()
  const { write } = browser.journal
  browser.journal.write = () =>
    Promise.reject(new DOMException('The disk is full.', 'QuotaExceededError'))
  dependencies.land()
  await browser.pass(10)
  expect(stepOf(run)).toBe('broadcast')
  browser.journal.write = write
  await browser.pass(40)
  expect(stepOf(run)).toBe('finalized')
  run.close()
})

test('a hash that the browser cannot keep at once is kept when it can: the payment is followed', async () => {
  const { dependencies, browser } = open('evm')
  const run = await browser.reviewed()
  void run.sign([])
  await browser.still()
  const { write } = browser.journal
  browser.journal.write = () =>
    Promise.reject(new DOMException('The disk is full.', 'QuotaExceededError'))
  dependencies.approve()
  await browser.still()
  expect(stepOf(run)).toBe('awaiting_wallet')
  browser.journal.write = write
  dependencies.land()
  await browser.pass(40)
  expect(stepOf(run)).toBe('finalized')
  run.close()
})

test('what a tab that is gone wrote last is where the payment stands', async () => {
  const { dependencies, browser } = open('solana')
  const run = await browser.reviewed()
  void run.sign([])
  await browser.still()
  dependencies.approve()
  await browser.still()
  const entry = await browser.journal.read('order-1')
  if (!entry) throw new Error('The journal has no such payment.')
  await browser.journal.write({ ...entry, revision: entry.revision + 1, reported: true })
  dependencies.land()
  await browser.pass(40)
  expect(stepOf(run)).toBe('finalized')
  expect(await browser.journal.read('order-1')).toMatchObject({ open: 0, reported: true })
  run.close()
})

for (const family of ['evm', 'solana'] as const)
  test(`a payment by code is open after a reload, and on ${family} nothing but the chain ends it`, async () => {
    const { dependencies, browser } = open(family)
    dependencies.byCode = true
    const begun = browser.begin()
    await begun.build()
    expect(stepOf(begun)).toBe('code')
    begun.close()
    await browser.still()
    // The bytes that were built here can land no more, and their nonce is taken.
    dependencies.spendNonce()
    await browser.pass(500)
    const run = await browser.resume()
    if (!run) throw new Error('The payment is not taken up.')
    expect(stepOf(run)).toBe('code')
    const { state } = (await browser.journal.read('order-1')) ?? {}
    expect(state && isOutstanding(state, dependencies.now)).toBe(true)
    expect(state && isOutstanding(state, dependencies.now + 26 * 3_600_000)).toBe(false)

    const { built } = run.state() as Extract<PaymentState, { built: unknown }>
    await run.codePaid('elsewhere')
    await browser.pass(500)
    expect(run.state()).toMatchObject({ step: 'unknown', reason: 'not_seen' })
    dependencies.transactions.set('elsewhere', {
      paymentId: built.paymentId,
      lastValidBlockHeight: dependencies.height + 150,
      nonce: dependencies.nonce,
      signature: 'elsewhere',
      landedAt: dependencies.height,
    })
    await browser.pass(60)
    expect(run.state()).toMatchObject({ step: 'finalized', sent: { signature: 'elsewhere' } })
    run.close()
  })
