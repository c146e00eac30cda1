import { familyOf } from '#contract/network.ts'
import { getAddressBook } from '../../address-book/store.ts'
import { configQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { serverNow } from '../../clock.ts'
import { openJournal, type JournalEntry } from '../../payment/journal.ts'
import { browserLocks } from '../../payment/lock.ts'
import { isPaid, mayHaveLeft } from '../../payment/machine.ts'
import type { PaymentOrder } from '../../payment/order.ts'
import type { Clock, Ports } from '../../payment/ports.ts'
import { PaymentRun } from '../../payment/run.ts'
import { loadStack } from '../../wallet/stack.ts'
import { paymentService } from './payment-service.ts'

/**
 * The payments of this tab. They outlive the page: whoever walks to another page while the wallet is open or a block is awaited
 * comes back to the same run, and no answer is lost.
 */

const journal = openJournal()
const runs = new Map<string, PaymentRun>()

const clock: Clock = {
  now: serverNow,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      signal.addEventListener('abort', () => {
        clearTimeout(timer)
        resolve()
      })
    }),
}

let locks: Ports['locks'] | undefined

async function portsFor(order: PaymentOrder): Promise<Ports> {
  const { wallet, chain, reader } = await loadStack(familyOf(order.network))
  locks ??= browserLocks()
  const { sellerWallets } = await queryClient.ensureQueryData(configQuery)
  const known = () => [...getAddressBook().map(({ address }) => address), ...sellerWallets]
  return { service: paymentService, wallet, chain, reader, journal, locks, clock, known }
}

/** A new payment, not built yet. */
export async function beginRun(order: PaymentOrder): Promise<PaymentRun> {
  const run = new PaymentRun(await portsFor(order), order)
  runs.set(order.id, run)
  return run
}

/** The payment of an id: this tab's, or the journal's; `held` when another tab has it. */
export async function resumeRun(id: string): Promise<PaymentRun | 'held' | undefined> {
  const known = runs.get(id)
  if (known) return known
  const entry = await journal.read(id)
  if (!entry) return undefined
  const run = new PaymentRun(await portsFor(entry.state.order), entry.state.order, entry)
  if (!(await run.takeUp())) return 'held'
  runs.set(id, run)
  return run
}

/** Payments begun here whose bytes may be outside and whose outcome is open; newest first. */
export async function unfinishedPayments(): Promise<JournalEntry[]> {
  return (await journal.listOpen()).filter(({ state }) => !isPaid(state) && (mayHaveLeft(state) || state.step === 'signed' || state.step === 'awaiting_wallet'))
}

/** Every payment this browser remembers, newest first. */
export async function allPayments(): Promise<JournalEntry[]> {
  return journal.list()
}

/** Addresses that were paid from here on a network, by our own RPC's word. */
export async function paidAddresses(network: string): Promise<string[]> {
  const paid = (await journal.list()).filter(({ state }) => isPaid(state) && state.order.network === network)
  return [...new Set(paid.map(({ state }) => state.order.recipient))]
}
