import { familyOf } from '#contract/network.ts'
import { getAddressBook } from '../../local-data/address-book/store.ts'
import { configQuery, paymentQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { serverNow } from '../../api/clock.ts'
import { isOutstanding, openJournal, PURCHASE_PAYMENTS, type JournalEntry } from '../journal.ts'
import { isPaid } from '../machine.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import type { PaymentRun } from '../run.ts'
import { TabRuns, type RunDependencies } from '../tab-runs.ts'
import { loadWalletAdapter } from '../../wallet/load-adapter.ts'
import { paymentService } from './payment-service.ts'
import { breachOf } from './spending-limit.ts'

const journal = openJournal()
const runs = new TabRuns(journal, {
  otherJournals: [openJournal(PURCHASE_PAYMENTS)],
  breachOf,
})

async function openDependencies(order: WalletPaymentIntent): Promise<RunDependencies> {
  const { wallet, chain, reader } = await loadWalletAdapter(familyOf(order.network))
  const { sellerWallets } = await queryClient.ensureQueryData(configQuery)
  const known = () => [...getAddressBook().map(({ address }) => address), ...sellerWallets]
  return { service: paymentService, wallet, chain, reader, known }
}

/** A new payment, not built yet. */
export async function beginRun(order: WalletPaymentIntent): Promise<PaymentRun> {
  return runs.begin(order, await openDependencies(order))
}

/** The payment of an id: this tab's, or the journal's; `held` when another tab has it. */
export function resumeRun(id: string): Promise<PaymentRun | 'held' | undefined> {
  return runs.resume(id, ({ state }) => openDependencies(state.order))
}

/** Payments begun here whose bytes may be outside, or whose code may be paid, and whose outcome is open; newest first. */
export async function unfinishedPayments(): Promise<JournalEntry[]> {
  return (await journal.listOpen()).filter(({ state }) => isOutstanding(state, serverNow()))
}

/** The newest payment of a link that the chain confirmed and that was begun here. */
export async function paidPaymentOf(link: string): Promise<JournalEntry | undefined> {
  return (await journal.list()).find(
    ({ state }) => isPaid(state) && state.order.link?.text === link,
  )
}

/** Looked at for evidence that is missing: the newest payments that the chain confirmed, of the last day. */
const MOST_UNCONFIRMED = 5
const UNCONFIRMED_WITHIN_MS = 24 * 3_600_000

/** Payments begun here that the chain confirmed and that the service cannot tie to their orders until the payer signs; newest first. */
export async function unconfirmedPayments(): Promise<JournalEntry[]> {
  const since = serverNow() - UNCONFIRMED_WITHIN_MS
  const paid = (await journal.list()).filter(
    ({ state }) =>
      isPaid(state) && familyOf(state.order.network) === 'evm' && state.order.createdAt >= since,
  )
  const looked = paid.slice(0, MOST_UNCONFIRMED).map(async (entry) => {
    if (!('built' in entry.state)) return []
    // Of another session, or with a service that does not answer: nothing is known, so nothing is said.
    const payment = await queryClient
      .fetchQuery(paymentQuery(entry.state.built.paymentId))
      .catch(() => undefined)
    return payment && payment.attribution.missing.length > 0 ? [entry] : []
  })
  return (await Promise.all(looked)).flat()
}

/** Addresses that were paid from here on a network, by our own RPC's word. */
export async function recentRecipients(network: string): Promise<string[]> {
  const paid = (await journal.list()).filter(
    ({ state }) => isPaid(state) && state.order.network === network,
  )
  return [...new Set(paid.map(({ state }) => state.order.recipient))]
}
