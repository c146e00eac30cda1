import 'fake-indexeddb/auto'
import { describe, expect, test, vi } from 'vitest'
import { openJournal } from '../../../payment-flow/journal.ts'
import type { PaymentState } from '../../../payment-flow/machine.ts'
import type { CheckedTransaction } from '../../../payment-intent/intent.ts'
import type { PaymentChain } from '../../../payment-intent/ports.ts'
import { TestDependencies } from '../../../payment-flow/testing/test-dependencies.ts'
import {
  addDelivery,
  closeByHand,
  isClosed,
  isServed,
  readPurchase,
  writePurchase,
  type Delivery,
  type Purchase,
} from './purchase.ts'
import { listUndelivered } from './runs.ts'
import { asksByItself } from './use-purchase.ts'

function purchaseOf(id: string): Purchase {
  return {
    id,
    revision: 0,
    createdAt: 1,
    updatedAt: 1,
    request: {
      method: 'GET',
      url: 'https://shop.example/a',
      headers: [],
      body: null,
      via: 'relay',
    },
    version: 2,
    entry: '{}',
    resource: { url: 'https://shop.example/a', description: '', mimeType: '' },
    way: 'transaction',
    header: null,
    deliveries: [],
  }
}

const answered = (outcome: Delivery['outcome'], at = 1): Delivery => ({
  at,
  status: outcome === 'served' ? 200 : 202,
  outcome,
  reason: null,
})

describe('a seller that says “on its way”', () => {
  test('is asked by itself 30 times and no more', () => {
    let purchase = purchaseOf('pending')
    let asked = 0
    for (; asksByItself(purchase) && asked < 100; asked++)
      purchase = addDelivery(purchase, answered('pending'))
    expect(asked).toBe(30)
    expect(purchase.deliveries).toHaveLength(20)
  })

  test('has delivered once it has, whatever it says after', () => {
    let purchase = addDelivery(purchaseOf('served'), answered('served', 7))
    for (let more = 0; more < 25; more++) purchase = addDelivery(purchase, answered('pending', 8))
    expect(purchase.deliveries).toHaveLength(20)
    expect([isServed(purchase), purchase.servedAt]).toEqual([true, 7])
    expect(asksByItself(purchase)).toBe(false)
  })

  test('has delivered in an entry of a former version too', () => {
    const former = { ...purchaseOf('former'), deliveries: [answered('served', 7)] }
    expect(isServed(former)).toBe(true)
    expect(addDelivery(former, answered('failed', 8))).toMatchObject({
      servedAt: 7,
      deliveryCount: 2,
    })
  })
})

describe('a purchase that is paid and not delivered', () => {
  const journal = openJournal('paydesk-visit-payments')

  async function begin(
    id: string,
    family: 'evm' | 'solana',
    change?: Partial<PaymentState>,
    way: Purchase['way'] = 'transaction',
  ) {
    await writePurchase({ ...purchaseOf(id), way })
    if (!change) return
    const order = new TestDependencies(family).order(id)
    const state = { order, attempt: 1, since: 0, ...change } as PaymentState
    const entry = { id, revision: 1, updatedAt: 1, open: 1, earlier: [], reported: false } as const
    await journal.write({ ...entry, state })
  }

  test('is listed beside any number of newer ones that nobody paid', async () => {
    await begin('paid', 'solana', { step: 'confirmed', sent: { bytes: null, signature: 'a' } })
    for (let newer = 0; newer < 12; newer++)
      await begin(`reviewed-${newer}`, 'solana', { step: 'review' })
    await begin('failed', 'solana', { step: 'failed', sent: { bytes: null, signature: 'b' } })
    await begin('unbuilt', 'solana')
    const found = await listUndelivered()
    expect(found.map(({ purchase, payment }) => [purchase.id, payment])).toEqual([['paid', 'paid']])
  })

  test('may be in a wallet that sends by itself when the tab is closed, and in no other', async () => {
    await begin('open-in-wallet', 'evm', { step: 'awaiting_wallet' })
    await begin('open-to-sign', 'solana', { step: 'awaiting_wallet' })
    const found = await listUndelivered()
    expect(found.map(({ purchase, payment }) => [purchase.id, payment])).toEqual([
      ['open-in-wallet', 'pending'],
      ['paid', 'paid'],
    ])
  })

  test('is listed no more once its reader closed it by hand, and again after undo', async () => {
    const [, paid] = await listUndelivered()
    if (!paid) throw new Error('nothing is listed')
    const closed = await writePurchase(closeByHand(paid.purchase, 1_234))
    expect([isClosed(closed), isServed(closed), closed.closedAt]).toEqual([true, false, 1_234])
    expect(asksByItself(closed)).toBe(false)
    expect((await listUndelivered()).map(({ purchase }) => purchase.id)).toEqual(['open-in-wallet'])
    expect((await readPurchase('paid'))?.closedAt).toBe(1_234)
    await writePurchase(closeByHand(closed, null))
    expect((await listUndelivered()).map(({ purchase }) => purchase.id)).toContain('paid')
    expect((await readPurchase('paid'))?.closedAt).toBeUndefined()
  })

  test('is called paid only once the chain has confirmed it', async () => {
    const sent = { bytes: null, signature: 'c' }
    await begin('sent', 'evm', { step: 'broadcast', sent })
    await begin('dropped', 'evm', { step: 'rolled_back', sent })
    await begin('finalized', 'evm', { step: 'finalized', sent })
    await begin('only-signed', 'solana', { step: 'signed', sent })
    const listed = new Map(
      (await listUndelivered()).map(({ purchase, payment }) => [purchase.id, payment]),
    )
    expect(['sent', 'dropped', 'finalized', 'only-signed'].map((id) => listed.get(id))).toEqual([
      'pending',
      'pending',
      'paid',
      undefined,
    ])
  })

  test('leaves the list when its signature expired unused, by one reading per page load and two in all', async () => {
    const built = { deadlineAt: 1, lastValidBlockHeight: 1 } as CheckedTransaction
    const sent = { bytes: new Uint8Array(65), signature: 'd' }
    await begin('expired', 'evm', { step: 'broadcast', built, sent }, 'authorization')
    // Its time is not over: nobody has to ask.
    const later = { ...built, deadlineAt: Date.now() + 3_600_000 }
    await begin('valid', 'evm', { step: 'broadcast', built: later, sent }, 'authorization')
    let readings = 0
    const read = vi.fn<PaymentChain['read']>(async () => ({
      kind: 'absent',
      finalizedHeight: 2,
      over: true,
      at: Date.now() + 10_000 * ++readings,
    }))
    const listed = async () =>
      (await listUndelivered()).map(({ purchase }) => purchase.id).filter((id) => /^[ev]/.test(id))

    for (const left of [['valid', 'expired'], ['valid']]) {
      // A page that is loaded again remembers nothing but the journal.
      vi.resetModules()
      const { readOverdue: readAgain } = await import('./runs.ts')
      const calls = read.mock.calls.length
      for (let shown = 0; shown < 3; shown++)
        await readAgain(await listUndelivered(), async () => ({ read }))
      expect(read.mock.calls.length - calls).toBe(1)
      expect(await listed()).toEqual(left)
    }
    expect((await journal.read('expired'))?.state).toMatchObject({
      step: 'failed',
      reason: 'expired',
      sent: { bytes: null },
    })
  })
})
