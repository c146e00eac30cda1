import { PERMIT2 } from '#chains/evm/signed-types.ts'
import { familyOf, findAsset, type Network } from '#contract/network.ts'
import { parseJson } from '#contract/json.ts'
import { readPaymentOption, type ClientPayment as Terms } from '#x402/client/order.ts'
import { configQuery } from '../../../api/queries.ts'
import { queryClient } from '../../../api/query-client.ts'
import { serverNow } from '../../../api/clock.ts'
import { breachOf } from '../../../payment-flow/form/spending-limit.ts'
import {
  journalEntry,
  mayBeInWallet,
  openJournal,
  PURCHASE_PAYMENTS,
  type JournalEntry,
} from '../../../payment-flow/journal.ts'
import { browserLocks, paymentLock } from '../../../payment-flow/lock.ts'
import {
  isPaid,
  isTerminal,
  mayHaveLeft,
  reduce,
  type PaymentState,
} from '../../../payment-flow/machine.ts'
import type { WalletPaymentIntent } from '../../../payment-intent/intent.ts'
import type { PaymentChain } from '../../../payment-intent/ports.ts'
import type { PaymentRun } from '../../../payment-flow/run.ts'
import { requestFromWallet, TabRuns, type RunDependencies } from '../../../payment-flow/tab-runs.ts'
import type { TypedData } from '../../../wallet/state/wallet-adapter.ts'
import { loadWalletAdapter } from '../../../wallet/load-adapter.ts'
import { BY_SELLER, type Way } from '../request/usable.ts'
import { isClosed, listPurchases, type Purchase } from './purchase.ts'

/**
 * The payments of purchases, in the same machine as all others; they have a separate journal, because
 * no service knows them.
 */

const journal = openJournal(PURCHASE_PAYMENTS)
const runs = new TabRuns(journal, { otherJournals: [openJournal()], breachOf })
/** Separates the id of a purchase from the id of its allowance payment. */
const ALLOWANCE = '.allowance.'

/** The terms of a purchase, read again from the entry as received. */
export function termsOf(purchase: Pick<Purchase, 'version' | 'entry' | 'resource'>): Terms {
  const reading = readPaymentOption(purchase.version, parseJson(purchase.entry), purchase.resource)
  if (!reading.ok) throw new TypeError(reading.problem.code)
  return reading.payment
}

/** The payer signs a message that another account executes. */
function isMessage(way: Way): way is 'authorization' | 'permit' {
  return way === 'authorization' || way === 'permit'
}

/** The paying account and its wallet. */
export type Payer = { address: string; walletName: string }

/** The order of a purchase: what the machine pays. */
export function purchaseIntentOf(
  purchase: Purchase,
  network: Network,
  payer: Payer,
): WalletPaymentIntent {
  const terms = termsOf(purchase)
  const asset = findAsset(network, terms.asset)
  if (!asset) throw new Error(`${terms.asset} is not configured.`)
  return {
    id: purchase.id,
    createdAt: serverNow(),
    network: terms.network,
    asset,
    sender: payer.address,
    recipient: terms.payTo,
    amountAtomic: terms.amountAtomic,
    resource: terms.resource.url,
    ...(terms.resource.description && { description: terms.resource.description }),
    walletName: payer.walletName,
    ...(isMessage(purchase.way) && { signedOnly: true as const }),
    ...(purchase.way === 'sponsored' && terms.feePayer !== null && { feePayer: terms.feePayer }),
  }
}

/** The payment of a new purchase, not built yet. */
export async function beginRun(
  purchase: Purchase,
  order: WalletPaymentIntent,
): Promise<PaymentRun> {
  return runs.begin(order, await openDependencies(purchase))
}

/** The payment of a purchase: this tab's, or the journal's; `held` when another tab has it. */
export async function resumeRun(purchase: Purchase): Promise<PaymentRun | 'held' | undefined> {
  return (
    (await runs.resume(purchase.id, () => openDependencies(purchase))) ?? resumeUnbuilt(purchase)
  )
}

/** A permit is built only after its allowance exists: until then the allowance names the payer. */
async function resumeUnbuilt(purchase: Purchase): Promise<PaymentRun | undefined> {
  const [allowance] = await listAllowances(purchase)
  if (!allowance) return undefined
  const { networks } = await queryClient.ensureQueryData(configQuery)
  const { network: id, sender, walletName } = allowance.state.order
  const network = networks.find((each) => each.network === id)
  return (
    network &&
    beginRun(purchase, purchaseIntentOf(purchase, network, { address: sender, walletName }))
  )
}

/**
 * The payment that lets Permit2 take the amount of a payment, and no more: the one in progress, or
 * a new one that is not built yet. `held` when another tab has it.
 */
export async function openAllowance(
  purchase: Purchase,
  payment: WalletPaymentIntent,
): Promise<PaymentRun | 'held'> {
  const { networks } = await queryClient.ensureQueryData(configQuery)
  const network = networks.find((each) => each.network === payment.network)
  if (!network) throw new Error(`${payment.network} is not configured.`)
  const openPorts = () => openAllowanceDependencies(network)
  const open = (await listAllowances(purchase)).find(
    ({ state }) => !isTerminal(state) && !isPaid(state),
  )
  const resumed = open && (await runs.resume(open.id, openPorts))
  if (resumed) return resumed
  const { createdAt: _, signedOnly: __, id: ___, ...same } = payment
  const id = `${purchase.id}${ALLOWANCE}${crypto.randomUUID()}`
  return runs.begin(
    { ...same, id, createdAt: serverNow(), recipient: PERMIT2, operation: { kind: 'approve' } },
    await openPorts(),
  )
}

async function openAllowanceDependencies(network: Network): Promise<RunDependencies> {
  const { wallet, chain, reader } = await loadWalletAdapter('evm')
  const { buildHere } = await import('./build-here.ts')
  return { wallet, chain, reader, service: buildHere(network, null) }
}

async function listAllowances(purchase: Purchase): Promise<JournalEntry[]> {
  return (await journal.list()).filter(({ id }) => id.startsWith(`${purchase.id}${ALLOWANCE}`))
}

/** A purchase that was paid, or may still be, and not answered. */
export type UndeliveredPurchase = { purchase: Purchase; payment: 'paid' | 'pending' }

const MAX_UNDELIVERED = 5

/** The newest of them: purchases that nobody paid do not count. */
export async function listUndelivered(): Promise<UndeliveredPurchase[]> {
  const [purchases, payments] = await Promise.all([listPurchases(), journal.list()])
  const states = new Map(payments.map(({ id, state }) => [id, state]))
  return purchases
    .filter((purchase) => !isClosed(purchase))
    .flatMap((purchase) => {
      const state = states.get(purchase.id)
      const payment = state && readPayment(state)
      return payment ? [{ purchase, payment }] : []
    })
    .slice(0, MAX_UNDELIVERED)
}

/**
 * `pending`: something of it may have left this browser, and has not conclusively failed. A wallet
 * that sends by itself may do so when this browser no longer waits for it.
 */
function readPayment(state: PaymentState): UndeliveredPurchase['payment'] | undefined {
  if (isPaid(state)) return 'paid'
  const open = mayBeInWallet(state) || (mayHaveLeft(state) && state.step !== 'failed')
  return open ? 'pending' : undefined
}

/** Purchases whose chain was read since this page was loaded. */
const alreadyRead = new Set<string>()

/**
 * The signatures that sellers hold and whose time is over may have expired unused: the chain is read
 * once per page load, and the machine decides by it.
 * @returns whether a payment has moved on
 */
export async function readOverdue(
  undelivered: readonly UndeliveredPurchase[],
  openChain: (purchase: Purchase) => Promise<Pick<PaymentChain, 'read'>> = async (purchase) =>
    (await openDependencies(purchase)).chain,
): Promise<boolean> {
  let moved = false
  for (const { purchase, payment } of undelivered) {
    const { id, way } = purchase
    if (payment === 'paid' || !BY_SELLER.has(way) || alreadyRead.has(id)) continue
    const entry = await journal.read(id)
    if (!entry || !mayHaveLeft(entry.state) || serverNow() < entry.state.built.deadlineAt) continue
    alreadyRead.add(id)
    const { order, built, sent } = entry.state
    const reading = await (await openChain(purchase)).read(order, built, sent)
    const next = reduce(entry.state, { type: 'read', reading })
    if (next === entry.state) continue
    // A tab that holds the payment reads it itself.
    const { acquired } = await browserLocks().attempt(paymentLock(id), () =>
      journal.write(journalEntry(entry, next, serverNow())),
    )
    moved ||= acquired
  }
  return moved
}

/**
 * Has the wallet sign a proof, which moves nothing. I7: null while another tab has a request open
 * in this wallet.
 * @throws WalletError
 */
export async function signProof(
  network: Network,
  order: WalletPaymentIntent,
  data: TypedData,
): Promise<string | null> {
  const { signTypedData } = await loadWalletAdapter('evm')
  const { sender: address, walletName } = order
  return requestFromWallet({ family: 'evm', walletName }, () =>
    signTypedData(network, { address, walletName }, data),
  )
}

async function openDependencies(purchase: Purchase): Promise<RunDependencies> {
  const terms = termsOf(purchase)
  const { networks } = await queryClient.ensureQueryData(configQuery)
  const network = networks.find((each) => each.network === terms.network)
  if (!network) throw new Error(`${terms.network} is not configured.`)
  const adapter = await loadWalletAdapter(familyOf(network.network))
  if (isMessage(purchase.way)) {
    const { messagePorts } = await import('./message-ports.ts')
    return messagePorts(network, terms, { adapter, kind: purchase.way })
  }
  const { buildHere } = await import('./build-here.ts')
  const service = buildHere(network, terms.memo)
  // The seller broadcasts it; until the signature expires it may do so at any time, so the payment
  // counts as having left.
  const chain =
    purchase.way === 'signed_transfer'
      ? { ...adapter.chain, broadcast: () => Promise.resolve() }
      : adapter.chain
  return { service, chain, reader: adapter.reader, wallet: adapter.wallet }
}
