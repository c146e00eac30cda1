import 'fake-indexeddb/auto'
import { describe, expect, test } from 'vitest'
import { ABSENCE_GAP_MS, canRebuild, isPaid } from './machine.ts'
import { Outside } from './testing/outside.ts'
import { Browser, stepOf } from './testing/tab.ts'

let count = 0
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
function open(family: 'evm' | 'solana') {
  const outside = new Outside(family)
  return { outside, browser: new Browser(outside, `test-${count++}`, turn) }
}

describe('I1: nothing is rebuilt after bytes may have left', () => {
  test('on Solana until the finalized height is past the last valid one on two readings 10 s apart', async () => {
    const { outside, browser } = open('solana')
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    outside.approve()
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

  test('on EVM until another transaction has the nonce for good', async () => {
    const { outside, browser } = open('evm')
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    outside.lose()
    await browser.still()
    expect(run.state()).toMatchObject({ step: 'unknown', reason: 'wallet_lost' })

    await browser.pass(1_000)
    expect(stepOf(run)).toBe('unknown')
    expect(canRebuild(run.state())).toBe(false)

    outside.spendNonce()
    await browser.pass(5)
    expect(canRebuild(run.state())).toBe(false)
    await browser.pass(40)
    expect(run.state()).toMatchObject({ step: 'failed', reason: 'superseded', detail: 'other-7' })
    expect(canRebuild(run.state())).toBe(true)
    run.close()
  })

  test('an outage is never an absence', async () => {
    const { outside, browser } = open('solana')
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    outside.rpcLies = true
    outside.approve()
    await browser.still()
    outside.rpcUp = false
    await browser.pass(600)
    expect(canRebuild(run.state())).toBe(false)
    expect(stepOf(run)).not.toBe('failed')
    run.close()
  })
})

test('I2: the intent’s id exists before the first request, is its key, and a rebuild is its child', async () => {
  const { outside, browser } = open('solana')
  const run = browser.begin('intent-1')
  const journaled = outside.service.build
  outside.service.build = async (order, key) => {
    expect(await browser.journal.read('intent-1')).toMatchObject({ state: { step: 'building' } })
    return journaled(order, key)
  }
  await run.build()
  await browser.still()
  outside.now += 61_000
  await run.checkDeadline()
  expect(stepOf(run)).toBe('expired_unsigned')
  await run.rebuild()
  await browser.still()
  expect(outside.keys).toEqual(['intent-1', 'intent-1.2'])
  expect(await browser.journal.read('intent-1')).toMatchObject({ state: { attempt: 2 }, earlier: [{ attempt: 1 }] })
  run.close()
})

describe('I3: signed bytes are kept until terminal, and a reload sends the same ones', () => {
  test('a network cut right after signing and a reload end in one payment', async () => {
    const { outside, browser } = open('solana')
    const first = await browser.reviewed()
    void first.sign([])
    await browser.still()
    outside.rpcUp = false
    outside.approve()
    await browser.still()
    expect(stepOf(first)).toBe('signed')
    first.close()
    await browser.pass(10)

    outside.rpcUp = true
    const second = await browser.resume()
    if (!second) throw new Error('The reload found nothing to resume.')
    await browser.still()
    outside.land()
    await browser.pass(20)
    expect(stepOf(second)).toBe('finalized')
    expect(new Set(outside.broadcasts)).toEqual(new Set(['sig-pay-order-1']))
    expect(outside.landed).toHaveLength(1)
    expect(await browser.journal.read('order-1')).toMatchObject({ state: { sent: { bytes: null } }, open: 0 })
    second.close()
  })

  test('the bytes are in the journal before they are broadcast', async () => {
    const { outside, browser } = open('solana')
    const run = await browser.reviewed()
    const broadcast = outside.chain.broadcast
    const seen: unknown[] = []
    outside.chain.broadcast = async (order, bytes) => {
      seen.push((await browser.journal.read('order-1'))?.state)
      return broadcast(order, bytes)
    }
    void run.sign([])
    await browser.still()
    outside.approve()
    await browser.still()
    expect(seen[0]).toMatchObject({ step: 'broadcast', sent: { bytes: expect.any(Uint8Array) } })
    run.close()
  })

  test('on EVM a lost promise is found by sender and nonce', async () => {
    const { outside, browser } = open('evm')
    const first = await browser.reviewed()
    void first.sign([])
    await browser.still()
    first.close()
    outside.approve()
    await browser.still()
    const second = await browser.resume()
    if (!second) throw new Error('The reload found nothing to resume.')
    expect(second.state()).toMatchObject({ step: 'submitted', sent: { signature: '0xpay-order-1' } })
    outside.land()
    await browser.pass(20)
    expect(stepOf(second)).toBe('finalized')
    second.close()
  })

  test('on Solana a lost signature request was never sent, so it can be signed again', async () => {
    const { outside, browser } = open('solana')
    const first = await browser.reviewed()
    void first.sign([])
    await browser.still()
    first.close()
    outside.approve()
    await browser.still()
    expect(outside.broadcasts).toEqual([])
    const second = await browser.resume()
    expect(second && stepOf(second)).toBe('rejected')
    second?.close()
  })
})

describe('I4: paid needs our own RPC at confirmed and an equal transfer', () => {
  test('a hash from the wallet or a first block is not paid', async () => {
    const { outside, browser } = open('evm')
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    outside.approve()
    await browser.still()
    expect(isPaid(run.state())).toBe(false)
    outside.land()
    outside.now += 3_000
    outside.pass(0)
    await browser.still()
    expect(run.state()).toMatchObject({ step: 'submitted', outcome: 'paid' })
    expect(isPaid(run.state())).toBe(false)
    await browser.pass(7)
    expect(isPaid(run.state())).toBe(true)
    run.close()
  })

  test('a transaction that landed with another meaning is never paid', async () => {
    const { outside, browser } = open('evm')
    const read = outside.chain.read
    outside.chain.read = async (...args) => {
      const reading = await read(...args)
      return reading.kind === 'landed' ? { ...reading, outcome: 'other' } : reading
    }
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    outside.approve()
    outside.land()
    await browser.pass(60)
    expect(run.state()).toMatchObject({ step: 'failed', reason: 'other' })
    expect(canRebuild(run.state())).toBe(false)
    run.close()
  })

  test('a block that is taken back is told as rolled back, and landing again as paid', async () => {
    const { outside, browser } = open('evm')
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    outside.approve()
    outside.land()
    await browser.pass(6)
    expect(stepOf(run)).toBe('confirmed')
    outside.reorganize()
    await browser.pass(6)
    expect(stepOf(run)).toBe('rolled_back')
    outside.land()
    await browser.pass(30)
    expect(stepOf(run)).toBe('finalized')
    run.close()
  })
})

test('I5: a signer that changed leads to a rebuild, and the wallet is not asked', async () => {
  const { outside, browser } = open('solana')
  const run = await browser.reviewed()
  outside.walletSigner = 'someone-else'
  await run.sign([])
  expect(run.state()).toMatchObject({ step: 'expired_unsigned', reason: 'signer_changed' })
  expect(outside.walletRequests).toBe(0)
  expect(canRebuild(run.state())).toBe(true)
  run.close()
})

test('a wallet that is not connected any more is told as that, and can sign once it is again', async () => {
  const { outside, browser } = open('solana')
  const run = await browser.reviewed()
  outside.walletSigner = null
  await run.sign([])
  expect(run.state()).toMatchObject({ step: 'rejected', trouble: { code: 'NOT_CONNECTED' } })
  outside.walletSigner = 'solana-buyer'
  void run.sign([])
  await browser.still()
  expect(outside.walletRequests).toBe(1)
  run.close()
})

describe('I6: what is signed is what was reviewed', () => {
  test('a wallet that returns another meaning ends in a blocked review, and nothing is broadcast', async () => {
    const { outside, browser } = open('solana')
    outside.signedDiffers = true
    const run = await browser.reviewed()
    void run.sign([])
    await browser.still()
    outside.approve()
    await browser.pass(20)
    expect(run.state()).toMatchObject({ step: 'review', review: { verdict: 'blocked' } })
    expect(outside.broadcasts).toEqual([])
    run.close()
  })

  test('a transaction that is not the payment, a failed simulation, and an unticked warning never reach the wallet', async () => {
    for (const spoil of [
      (outside: Outside) => (outside.matches = false),
      (outside: Outside) => (outside.simulation = { state: 'failed', reason: 'no funds' }),
      (outside: Outside) => (outside.simulation = { state: 'unavailable', reason: 'no RPC' }),
    ]) {
      const { outside, browser } = open('solana')
      spoil(outside)
      const run = await browser.reviewed()
      await run.sign([])
      expect(outside.walletRequests).toBe(0)
      run.close()
    }
  })

  test('a ticked warning does', async () => {
    const { outside, browser } = open('solana')
    outside.simulation = { state: 'unavailable', reason: 'no RPC' }
    const run = await browser.reviewed()
    void run.sign(['SIMULATION_UNAVAILABLE'])
    await browser.still()
    expect(outside.walletRequests).toBe(1)
    run.close()
  })
})

describe('I7: one signature request at a time per wallet, across tabs', () => {
  test('a second tab is refused while the first one’s request is open', async () => {
    const { outside, browser } = open('solana')
    const [first, second] = [await browser.reviewed('a'), await browser.reviewed('b')]
    void first.sign([])
    await browser.still()
    await second.sign([])
    expect(second.state()).toMatchObject({ step: 'rejected', trouble: { code: 'WALLET_BUSY' } })
    expect(outside.walletRequests).toBe(1)
    outside.reject()
    await browser.still()
    void second.sign([])
    await browser.still()
    expect(outside.walletRequests).toBe(2)
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
  const { outside, browser } = open('solana')
  const first = await browser.reviewed('a')
  void first.sign([])
  await browser.still()
  outside.approve()
  await browser.still()
  const second = await browser.reviewed('b')
  expect(second.state()).toMatchObject({ review: { verdict: 'warn', findings: expect.arrayContaining([expect.objectContaining({ code: 'OPEN_TWIN' })]) } })
  first.close()
  second.close()
})

test('bytes that expired before the first broadcast are dropped, not sent', async () => {
  const { outside, browser } = open('solana')
  const run = await browser.reviewed()
  void run.sign([])
  await browser.still()
  await browser.pass(151)
  outside.approve()
  await browser.still()
  expect(stepOf(run)).toBe('expired_unsigned')
  expect(outside.broadcasts).toEqual([])
  run.close()
})

test('the service is told once of the signature', async () => {
  const { outside, browser } = open('solana')
  const run = await browser.reviewed()
  void run.sign([])
  await browser.still()
  outside.approve()
  await browser.pass(30)
  expect(outside.reports).toEqual(['sig-pay-order-1'])
  run.close()
})

test('a service that cannot take the report changes nothing for the payment', async () => {
  const { outside, browser } = open('solana')
  outside.service.report = () => Promise.reject(new Error('down'))
  const run = await browser.reviewed()
  void run.sign([])
  await browser.still()
  outside.approve()
  await browser.still()
  outside.land()
  await browser.pass(40)
  expect(stepOf(run)).toBe('finalized')
  run.close()
})
