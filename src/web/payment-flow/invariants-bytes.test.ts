import 'fake-indexeddb/auto'
import { describe, expect, test } from 'vitest'
import { ABSENCE_GAP_MS, canRepeatRequest, canRebuild } from './machine.ts'
import { open } from './testing/open.ts'
import { stepOf } from './testing/tab.ts'

/** I1 to I3: what may have left the browser decides what may happen next. */

describe('I1: nothing is rebuilt after bytes may have left', () => {
  test('on Solana until the finalized height is past the last valid one on two readings 10 s apart', async () => {
    const { dependencies, browser } = open('solana')
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    dependencies.approve()
    await browser.still()
    expect(stepOf(run)).toBe('broadcast')

    await browser.pass(150)
    expect(stepOf(run)).toBe('unknown')
    await run.rebuild()
    expect(run.state().attempt).toBe(1)

    // The finalized height passes the last valid one: the first of the two readings.
    await browser.pass(15)
    expect(stepOf(run)).toBe('unknown')
    expect(canRebuild(run.state())).toBe(false)

    await browser.pass(ABSENCE_GAP_MS / 400 + 5)
    expect(run.state()).toMatchObject({ step: 'failed', reason: 'expired' })
    await run.rebuild()
    await browser.still()
    expect(run.state()).toMatchObject({ step: 'review', attempt: 2 })
    run.close()
  })

  test('on EVM until another transaction with the nonce is finalized', async () => {
    const { dependencies, browser } = open('evm')
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    dependencies.lose()
    await browser.still()
    expect(run.state()).toMatchObject({ step: 'unknown', reason: 'wallet_lost' })

    await browser.pass(1_000)
    expect(stepOf(run)).toBe('unknown')
    expect(canRebuild(run.state())).toBe(false)

    dependencies.spendNonce()
    await browser.pass(5)
    expect(canRebuild(run.state())).toBe(false)
    await browser.pass(40)
    expect(run.state()).toMatchObject({ step: 'failed', reason: 'superseded', detail: 'other-7' })
    expect(canRebuild(run.state())).toBe(true)
    run.close()
  })

  test('on EVM a hash that no node shows, whose nonce another transaction may have, is ended by the payer alone', async () => {
    const { dependencies, browser } = open('evm')
    dependencies.chooseNonce()
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    dependencies.forgets = true
    dependencies.approve()
    dependencies.spendNonce()
    // Only once it was so for 30 s.
    await browser.pass(60)
    expect(run.state()).not.toMatchObject({ reason: 'nonce_taken' })
    await browser.pass(180)
    expect(run.state()).toMatchObject({ step: 'unknown', reason: 'nonce_taken' })
    await run.rebuild()
    expect(run.state().attempt).toBe(1)
    // The chain is asked once more: what a node shows by now was not cancelled.
    dependencies.forgets = false
    await run.reportCancelled()
    expect(stepOf(run)).toBe('submitted')
    // Its nonce is known from then on, and free.
    dependencies.forgets = true
    await browser.pass(240)
    expect(run.state()).toMatchObject({ step: 'unknown', reason: 'not_seen' })
    run.close()
  })

  test('on EVM the payer ends what no node shows, once the chain still does not', async () => {
    const { dependencies, browser } = open('evm')
    dependencies.chooseNonce()
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    dependencies.forgets = true
    dependencies.approve()
    dependencies.spendNonce()
    await browser.pass(240)
    expect(run.state()).toMatchObject({ step: 'unknown', reason: 'nonce_taken' })
    await run.reportCancelled()
    expect(run.state()).toMatchObject({ step: 'failed', reason: 'superseded', detail: null })
    run.close()
  })

  test('an outage is never an absence', async () => {
    const { dependencies, browser } = open('solana')
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    dependencies.rpcLies = true
    dependencies.approve()
    await browser.still()
    dependencies.rpcUp = false
    await browser.pass(600)
    expect(canRebuild(run.state())).toBe(false)
    expect(stepOf(run)).not.toBe('failed')
    run.close()
  })
})

test('I1: a refund on EVM is released once it surely was not signed, and never while its wallet may send it', async () => {
  const { dependencies, browser } = open('evm')
  dependencies.refundOf = 'pay_1'
  const run = await browser.reviewed()
  void run.sign([])
  await browser.still()
  dependencies.reject()
  await browser.still()
  expect([stepOf(run), dependencies.released]).toEqual(['rejected', []])
  // The service builds the next attempt only once it knows.
  const { build } = dependencies.service
  dependencies.service.build = (order, key) => {
    expect(dependencies.released).toEqual(['pay-order-1'])
    return build(order, key)
  }
  await run.rebuild()
  await browser.still()
  dependencies.service.build = build
  dependencies.now += 61_000
  await run.checkDeadline()
  expect(dependencies.released).toEqual(['pay-order-1', 'pay-order-1.2'])
  run.close()

  const other = await browser.reviewed('order-2')
  void other.sign([])
  await browser.still()
  dependencies.lose()
  await browser.pass(1_000)
  await other.cancel()
  expect([stepOf(other), dependencies.released.length]).toEqual(['unknown', 2])
  other.close()

  // Left while it was built.
  const left = browser.begin('order-3')
  dependencies.service.build = async (order, key) => {
    await left.cancel()
    return build(order, key)
  }
  await left.build()
  expect(dependencies.released.slice(2)).toEqual(['pay-order-3'])

  const solana = open('solana')
  solana.dependencies.refundOf = 'pay_1'
  await (await solana.browser.reviewed()).cancel()
  expect(solana.dependencies.released).toEqual([])
})

test('I1: a refund on EVM whose wallet was lost is kept where only its payer says that nothing was sent', async () => {
  const { dependencies, browser } = open('evm')
  dependencies.refundOf = 'pay_1'
  dependencies.chooseNonce()
  const run = await browser.reviewed()
  void run.sign([])
  await browser.still()
  dependencies.forgets = true
  dependencies.approve()
  dependencies.spendNonce()
  await browser.pass(240)
  await run.reportCancelled()
  expect(run.state()).toMatchObject({ step: 'failed', reason: 'superseded' })
  await run.rebuild()
  await browser.still()
  expect([run.state().attempt, dependencies.released]).toEqual([2, []])
  run.close()
})

test('I2: the intent’s id exists before the first request, is its key, and a rebuild is its child', async () => {
  const { dependencies, browser } = open('solana')
  const run = browser.begin('intent-1')
  const journaled = dependencies.service.build
  dependencies.service.build = async (order, key) => {
    expect(await browser.journal.read('intent-1')).toMatchObject({ state: { step: 'building' } })
    return journaled(order, key)
  }
  await run.build()
  await browser.still()
  dependencies.now += 61_000
  await run.checkDeadline()
  expect(stepOf(run)).toBe('expired_unsigned')
  await run.rebuild()
  await browser.still()
  expect(dependencies.keys).toEqual(['intent-1', 'intent-1.2'])
  expect(await browser.journal.read('intent-1')).toMatchObject({
    state: { attempt: 2 },
    earlier: [{ attempt: 1 }],
  })
  run.close()
})

describe('I3: signed bytes are kept until terminal, and a reload sends the same ones', () => {
  test('a network cut right after signing and a reload end in one payment', async () => {
    const { dependencies, browser } = open('solana')
    const first = await browser.reviewed()
    void first.sign([])
    await browser.still()
    dependencies.rpcUp = false
    dependencies.approve()
    await browser.still()
    expect(stepOf(first)).toBe('signed')
    first.close()
    await browser.pass(10)

    dependencies.rpcUp = true
    const second = await browser.resume()
    if (!second) throw new Error('The reload found nothing to resume.')
    await browser.still()
    dependencies.land()
    await browser.pass(20)
    expect(stepOf(second)).toBe('finalized')
    expect(new Set(dependencies.broadcasts)).toEqual(new Set(['sig-pay-order-1']))
    expect(dependencies.landed).toHaveLength(1)
    expect(await browser.journal.read('order-1')).toMatchObject({
      state: { sent: { bytes: null } },
      open: 0,
    })
    second.close()
  })

  test('the bytes are in the journal before they are broadcast', async () => {
    const { dependencies, browser } = open('solana')
    const run = await browser.reviewed()
    const broadcast = dependencies.chain.broadcast
    const seen: unknown[] = []
    dependencies.chain.broadcast = async (order, bytes) => {
      seen.push((await browser.journal.read('order-1'))?.state)
      return broadcast(order, bytes)
    }
    void run.sign([])
    await browser.still()
    dependencies.approve()
    await browser.still()
    expect(seen[0]).toMatchObject({ step: 'broadcast', sent: { bytes: expect.any(Uint8Array) } })
    run.close()
  })

  test('on EVM a lost promise is found by sender and nonce', async () => {
    const { dependencies, browser } = open('evm')
    const first = await browser.reviewed()
    void first.sign([])
    await browser.still()
    first.close()
    dependencies.approve()
    await browser.still()
    const second = await browser.resume()
    if (!second) throw new Error('The reload found nothing to resume.')
    expect(second.state()).toMatchObject({
      step: 'submitted',
      sent: { signature: '0xpay-order-1' },
    })
    dependencies.land()
    await browser.pass(20)
    expect(stepOf(second)).toBe('finalized')
    second.close()
  })

  test('on Solana a lost signature request was never sent, so it can be signed again', async () => {
    const { dependencies, browser } = open('solana')
    const first = await browser.reviewed()
    void first.sign([])
    await browser.still()
    first.close()
    dependencies.approve()
    await browser.still()
    expect(dependencies.broadcasts).toEqual([])
    const second = await browser.resume()
    expect(second && stepOf(second)).toBe('rejected')
    second?.close()
  })
})

describe('I1: a lost answer of a wallet', () => {
  /** The wallet still has the request, and its answer will not come. */
  async function loseAnswer({ dependencies, browser }: ReturnType<typeof open>) {
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    dependencies.lose()
    await browser.still()
    expect(run.state()).toMatchObject({ step: 'unknown', reason: 'wallet_lost' })
    expect(dependencies.walletRequests).toBe(1)
    return run
  }

  test('is asked for again with the same bytes where the wallet keeps the nonce, and pays once', async () => {
    const { dependencies, browser } = open('evm')
    const run = await loseAnswer({ dependencies, browser })
    expect(canRepeatRequest(run.state())).toBe(true)
    const asked = run.repeatRequest()
    await browser.still()
    const [first, second] = dependencies.requests
    expect(second?.plan).toEqual(first?.plan)
    dependencies.approve()
    dependencies.approve()
    dependencies.land()
    await browser.pass(60)
    expect(await asked).toBe(true)
    expect(run.state()).toMatchObject({ step: 'finalized' })
    expect(dependencies.landed).toHaveLength(1)
    run.close()
  })

  test('is asked for again as often as the wallet refuses, and nothing is rebuilt', async () => {
    const { dependencies, browser } = open('evm')
    const run = await loseAnswer({ dependencies, browser })
    dependencies.requests.length = 0
    for (const requests of [2, 3]) {
      const asked = run.repeatRequest()
      await browser.still()
      expect(dependencies.walletRequests).toBe(requests)
      dependencies.reject()
      expect(await asked).toBe(false)
      expect(run.state()).toMatchObject({ step: 'unknown', reason: 'wallet_lost' })
      expect(canRebuild(run.state())).toBe(false)
    }
    run.close()
  })

  test('is never asked for again where the wallet chooses the nonce, then or now', async () => {
    for (const [then, now] of [
      [false, false],
      [false, true],
      [true, false],
    ] as const) {
      const { dependencies, browser } = open('evm')
      dependencies.keepsNonce = then
      const run = await loseAnswer({ dependencies, browser })
      dependencies.keepsNonce = now
      expect(canRepeatRequest(run.state())).toBe(then)
      expect(await run.repeatRequest()).toBe(false)
      expect(dependencies.walletRequests).toBe(1)
      run.close()
    }
  })

  test('is not asked for again once the chain shows the payment', async () => {
    const { dependencies, browser } = open('evm')
    const run = await loseAnswer({ dependencies, browser })
    dependencies.approve()
    expect(await run.repeatRequest()).toBe(false)
    expect(dependencies.walletRequests).toBe(1)
    run.close()
  })

  test('is not asked for again from another account', async () => {
    const { dependencies, browser } = open('evm')
    const run = await loseAnswer({ dependencies, browser })
    dependencies.walletSigner = 'someone-else'
    expect(await run.repeatRequest()).toBe(false)
    expect(dependencies.walletRequests).toBe(1)
    run.close()
  })
})
