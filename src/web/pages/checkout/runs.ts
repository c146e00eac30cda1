import { familyOf } from '#contract/network.ts'
import { getAddressBook } from '../../address-book/store.ts'
import { configQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { openJournal, type JournalEntry } from '../../payment/journal.ts'
import { isPaid, mayHaveLeft } from '../../payment/machine.ts'
import type { PaymentOrder } from '../../payment/order.ts'
import type { PaymentRun } from '../../payment/run.ts'
import { TabRuns, type Outside } from '../../payment/tab-runs.ts'
import { loadStack } from '../../wallet/stack.ts'
import { paymentService } from './payment-service.ts'

const journal = openJournal()
const runs = new TabRuns(journal)

async function behind(order: PaymentOrder): Promise<Outside> {
  const { wallet, chain, reader } = await loadStack(familyOf(order.network))
  const { sellerWallets } = await queryClient.ensureQueryData(configQuery)
  const known = () => [...getAddressBook().map(({ address }) => address), ...sellerWallets]
  return { service: paymentService, wallet, chain, reader, known }
}

/** A new payment, not built yet. */
export async function beginRun(order: PaymentOrder): Promise<PaymentRun> {
  return runs.begin(order, await behind(order))
}

/** The payment of an id: this tab's, or the journal's; `held` when another tab has it. */
export function resumeRun(id: string): Promise<PaymentRun | 'held' | undefined> {
  return runs.resume(id, ({ state }) => behind(state.order))
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
