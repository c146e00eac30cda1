import 'fake-indexeddb/auto'
import { expect, test } from 'vitest'
import { openJournal } from './journal.ts'
import { paymentLock } from './lock.ts'
import type { WalletPaymentIntent } from '../payment-intent/intent.ts'
import type { PaymentRun } from './run.ts'
import { TabRuns, untilLetGo } from './tab-runs.ts'
import { TestDependencies } from './testing/test-dependencies.ts'

const outside = new TestDependencies('evm')
const { service, wallet, chain, reader } = outside
const dependencies = { service, wallet, chain, reader }
const openDependencies = () => Promise.resolve(dependencies)

test('a payment that is asked for twice at once is opened once, and is no other tab’s', async () => {
  const journal = openJournal('twice')
  const order = outside.order('order-twice')
  const first = new TabRuns(journal).begin(order, dependencies)
  await first.build()
  await letGo(first, order)

  const reloaded = new TabRuns(journal)
  const [one, other] = await Promise.all([
    reloaded.resume(order.id, openDependencies),
    reloaded.resume(order.id, openDependencies),
  ])
  expect(one).toHaveProperty('state')
  expect(other).toBe(one)
  expect(await reloaded.resume(order.id, openDependencies)).toBe(one)
})

test('a payment that another tab has is held until that tab lets it go', async () => {
  const journal = openJournal('held')
  const order = outside.order('order-held')
  const mine = new TabRuns(journal).begin(order, dependencies)
  await mine.build()

  const other = new TabRuns(journal)
  expect(await other.resume(order.id, openDependencies)).toBe('held')
  const gone = AbortSignal.abort()
  expect(await untilLetGo(order.id, gone)).toBe(false)
  const free = untilLetGo(order.id, new AbortController().signal)
  expect(await Promise.race([free, Promise.resolve('waiting')])).toBe('waiting')
  mine.close()
  expect(await free).toBe(true)
  expect(await other.resume(order.id, openDependencies)).toHaveProperty('state')
})

test('what is not known, or not to be gone on with, is not opened', async () => {
  const journal = openJournal('unknown')
  const runs = new TabRuns(journal)
  const order = outside.order('order-over')
  expect(await runs.resume(order.id, openDependencies)).toBeUndefined()
  await new TabRuns(journal).begin(order, dependencies).build()
  expect(await runs.resume(order.id, () => Promise.resolve(undefined))).toBeUndefined()
})

/** The tab goes, and its lock with it. */
async function letGo(run: PaymentRun, { id }: WalletPaymentIntent): Promise<void> {
  run.close()
  await navigator.locks.request(paymentLock(id), () => undefined)
}
