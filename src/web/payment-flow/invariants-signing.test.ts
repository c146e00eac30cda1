import 'fake-indexeddb/auto'
import { describe, expect, test } from 'vitest'
import { canRebuild } from './machine.ts'
import type { PaymentRun } from './run.ts'
import { open } from './testing/open.ts'
import { stepOf } from './testing/tab.ts'
import type { TestDependencies } from './testing/test-dependencies.ts'

/** I5 to I7: who signs, what is signed, and one at a time. */

test('I5: a signer that changed leads to a rebuild, and the wallet is not asked', async () => {
  const { dependencies, browser } = open('solana')
  const run = await browser.reviewed()
  dependencies.walletSigner = 'someone-else'
  await run.sign([])
  expect(run.state()).toMatchObject({ step: 'expired_unsigned', reason: 'signer_changed' })
  expect(dependencies.walletRequests).toBe(0)
  expect(canRebuild(run.state())).toBe(true)
  run.close()
})

test('a wallet that is not connected any more is told as that, and can sign once it is again', async () => {
  const { dependencies, browser } = open('solana')
  const run = await browser.reviewed()
  dependencies.walletSigner = null
  await run.sign([])
  expect(run.state()).toMatchObject({ step: 'rejected', userError: { code: 'NOT_CONNECTED' } })
  dependencies.walletSigner = 'solana-buyer'
  void run.sign([])
  await browser.still()
  expect(dependencies.walletRequests).toBe(1)
  run.close()
})

test('a payment that the payer’s own limit forbids by now, after another tab paid or after it was prepared again, is not asked of the wallet', async () => {
  const { dependencies, browser } = open('solana')
  const run = await browser.reviewed()
  dependencies.breach = 'Your limit is 5 SOL per payment.'
  await run.sign([])
  expect(run.state()).toMatchObject({ step: 'rejected', userError: { code: 'OVER_LIMIT' } })
  expect(dependencies.walletRequests).toBe(0)
  dependencies.breach = undefined
  void run.sign([])
  await browser.still()
  expect(dependencies.walletRequests).toBe(1)
  run.close()
})

test('the first payment to an address is told, of a refund too: which wallet had paid is the word of the service', async () => {
  const codesOf = async (refundOf: string | undefined) => {
    const { dependencies, browser } = open('solana')
    dependencies.refundOf = refundOf
    const run = await browser.reviewed()
    const state = run.state()
    run.close()
    return 'review' in state ? state.review.findings.map(({ code }) => code) : undefined
  }
  expect(await codesOf(undefined)).toEqual(['FIRST_TIME'])
  expect(await codesOf('pay_original')).toEqual(['FIRST_TIME'])
})

describe('I6: what is signed is what was reviewed', () => {
  test('a wallet that returns another meaning ends in a blocked review, and nothing is broadcast', async () => {
    const { dependencies, browser } = open('solana')
    dependencies.signedDiffers = true
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    dependencies.approve()
    await browser.pass(20)
    expect(run.state()).toMatchObject({ step: 'review', review: { verdict: 'blocked' } })
    expect(dependencies.broadcasts).toEqual([])
    run.close()
  })

  test('a transaction that is not the payment, a failed simulation, and an unticked warning never reach the wallet', async () => {
    for (const spoil of [
      (outside: TestDependencies) => (outside.matches = false),
      (outside: TestDependencies) => (outside.simulation = { state: 'failed', reason: 'no funds' }),
      (outside: TestDependencies) =>
        (outside.simulation = { state: 'unavailable', reason: 'no RPC' }),
    ]) {
      const { dependencies, browser } = open('solana')
      spoil(dependencies)
      const run = await browser.reviewed()
      await run.sign([])
      expect(dependencies.walletRequests).toBe(0)
      run.close()
    }
  })

  test('a ticked warning does', async () => {
    const { dependencies, browser } = open('solana')
    dependencies.simulation = { state: 'unavailable', reason: 'no RPC' }
    const run = await browser.reviewed()
    void run.sign(['SIMULATION_UNAVAILABLE'])
    await browser.still()
    expect(dependencies.walletRequests).toBe(1)
    run.close()
  })
})

describe('I7: one signature request at a time per wallet, across tabs', () => {
  test('a second tab is refused while the first one’s request is open', async () => {
    const { dependencies, browser } = open('solana')
    const [first, second] = [await browser.reviewed('a'), await browser.reviewed('b')]
    void first.sign([])
    await browser.still()
    await second.sign([])
    expect(second.state()).toMatchObject({ step: 'rejected', userError: { code: 'WALLET_BUSY' } })
    expect(dependencies.walletRequests).toBe(1)
    dependencies.reject()
    await browser.still()
    void second.sign([])
    await browser.still()
    expect(dependencies.walletRequests).toBe(2)
    first.close()
    second.close()
  })

  test.each([
    ['solana', 'is on its way', 1],
    ['solana', 'is final', 20],
    ['evm', 'is on its way', 1],
    ['evm', 'is final', 20],
  ] as const)(
    'a second tab whose review was built before the first one sent: on %s it is warned while that payment %s',
    async (family, _, blocks) => {
      const { dependencies, browser } = open(family)
      const [first, second] = [await browser.reviewed('a'), await browser.reviewed('b')]
      void first.sign([])
      await browser.still()
      await second.sign([])
      expect(second.state()).toMatchObject({ userError: { code: 'WALLET_BUSY' } })
      dependencies.approve()
      await browser.still()
      dependencies.land()
      await browser.pass(blocks)
      await second.sign([])
      expect(dependencies.walletRequests).toBe(1)
      expect(second.state()).toMatchObject({
        step: 'review',
        review: { verdict: 'warn', findings: expect.arrayContaining([twin]) },
      })
      void second.sign(['OPEN_TWIN'])
      await browser.still()
      expect(dependencies.walletRequests).toBe(2)
      // It was paid before this one was asked for: buying the same again is no mistake.
      dependencies.reject()
      const later = await browser.reviewed('c')
      expect(warnsOfTwin(later)).toBe(blocks === 1)
      for (const run of [first, second, later]) run.close()
    },
  )

  test('a payment that was prepared again after another tab paid the same is warned', async () => {
    const { dependencies, browser } = open('evm')
    const [first, second] = [await browser.reviewed('a'), await browser.reviewed('b')]
    void first.sign([])
    await browser.still()
    dependencies.approve()
    await browser.still()
    dependencies.land()
    await browser.pass(200)
    await second.checkDeadline()
    expect(stepOf(second)).toBe('expired_unsigned')
    await second.rebuild()
    await browser.still()
    expect(warnsOfTwin(second)).toBe(true)
    first.close()
    second.close()
  })

  test('a payment that another tab holds cannot be taken up', async () => {
    const { browser } = open('solana')
    const first = await browser.reviewed()
    expect(await browser.resume()).toBeUndefined()
    first.close()
    await browser.still()
    const second = await browser.resume()
    expect(second && stepOf(second)).toBe('review')
    second?.close()
  })
})

test('a request that is open in a wallet which sends by itself is a warning on its twin, also when its tab is gone', async () => {
  const { dependencies, browser } = open('evm')
  const first = await browser.reviewed('a')
  void first.sign([])
  await browser.still()
  first.close()
  const second = await browser.reviewed('b')
  expect(warnsOfTwin(second)).toBe(true)
  await second.sign([])
  expect(dependencies.walletRequests).toBe(1)
  second.close()
})

test('an earlier payment that is still open is a warning on its twin', async () => {
  const { dependencies, browser } = open('solana')
  const first = await browser.reviewed('a')
  void first.sign([])
  await browser.still()
  dependencies.approve()
  await browser.still()
  const second = await browser.reviewed('b')
  expect(second.state()).toMatchObject({ review: { verdict: 'warn' } })
  expect(warnsOfTwin(second)).toBe(true)
  first.close()
  second.close()
})

const twin = expect.objectContaining({ code: 'OPEN_TWIN', severity: 'warn' })

function warnsOfTwin(run: PaymentRun): boolean {
  const state = run.state()
  return 'review' in state && state.review.findings.some(({ code }) => code === 'OPEN_TWIN')
}
