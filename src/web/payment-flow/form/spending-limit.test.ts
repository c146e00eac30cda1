import 'fake-indexeddb/auto'
import { expect, test } from 'vitest'
import { serverNow } from '../../api/clock.ts'
import { capKey, setCap } from '../../local-data/caps.ts'
import { journalEntry, openJournal, PURCHASE_PAYMENTS } from '../journal.ts'
import type { PaymentState } from '../machine.ts'
import { TestDependencies } from '../testing/test-dependencies.ts'
import { breachOf } from './spending-limit.ts'

test('what the explorer spent counts towards the 24 hours like a payment of the checkout, an allowance and a failed one do not', async () => {
  const payment = new TestDependencies('evm').order('next')
  setCap(capKey(payment.network, payment.asset.address), { perDay: '15' })
  const write = (name: string | undefined, id: string, change: object, order: object = {}) =>
    openJournal(name).write(
      journalEntry(
        undefined,
        { step: 'broadcast', order: { ...payment, id, ...order }, ...change } as PaymentState,
        payment.createdAt,
      ),
    )
  const sent = { sent: { bytes: null, signature: null }, attempt: 1 }
  await write(undefined, 'checkout', sent)
  await write(undefined, 'failed', { ...sent, step: 'failed', reason: 'expired' })
  await write(PURCHASE_PAYMENTS, 'allowance', sent, { operation: { kind: 'approve' } })
  expect(await breachOf(payment)).toBeUndefined()

  // The payment itself, whose wallet is asked once more, is not counted twice.
  await write(undefined, payment.id, { ...sent, step: 'awaiting_wallet' })
  await write(PURCHASE_PAYMENTS, 'purchase', sent)
  expect(await breachOf(payment)).toBeUndefined()
  await write(PURCHASE_PAYMENTS, 'another purchase', sent)
  expect(await breachOf(payment)).toContain('0 ETH left')
})

test('a code that may still be paid counts as if it were', async () => {
  const payment = { ...new TestDependencies('solana').order('next'), createdAt: serverNow() }
  const perDay = String(2n * payment.amountAtomic)
  setCap(capKey(payment.network, payment.asset.address), { perDay })
  const writeCode = (id: string) => {
    const code = { step: 'code', order: { ...payment, id } } as PaymentState
    return openJournal().write(journalEntry(undefined, code, payment.createdAt))
  }
  await writeCode('code')
  expect(await breachOf(payment)).toBeUndefined()
  await writeCode('another code')
  expect(await breachOf(payment)).toContain('24 hours')
})
