import 'fake-indexeddb/auto'
import { describe, expect, test } from 'vitest'
import { canRebuild } from './machine.ts'
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

test('an earlier payment that is still open is a warning on its twin', async () => {
  const { dependencies, browser } = open('solana')
  const first = await browser.reviewed('a')
  void first.sign([])
  await browser.still()
  dependencies.approve()
  await browser.still()
  const second = await browser.reviewed('b')
  expect(second.state()).toMatchObject({
    review: {
      verdict: 'warn',
      findings: expect.arrayContaining([expect.objectContaining({ code: 'OPEN_TWIN' })]),
    },
  })
  first.close()
  second.close()
})
