import { familyOf, findAsset, type Network } from '#contract/network.ts'
import { parseJson } from '#contract/json.ts'
import { readOrder, type PaymentOrder as Terms } from '#x402/client/order.ts'
import { configQuery } from '../../../api/queries.ts'
import { queryClient } from '../../../api/query-client.ts'
import { serverNow } from '../../../clock.ts'
import { openJournal } from '../../../payment/journal.ts'
import { browserLocks, walletLock } from '../../../payment/lock.ts'
import type { PaymentOrder } from '../../../payment/order.ts'
import type { Clock, Ports } from '../../../payment/ports.ts'
import { PaymentRun } from '../../../payment/run.ts'
import type { TypedData } from '../../../wallet/evm/sign-typed-data.ts'
import { loadStack } from '../../../wallet/stack.ts'
import { buildHere } from './build-here.ts'
import type { Visit } from './visit.ts'

/** The payments of visits, in the same machine as every other; their journal is their own, because no service knows them. */

const journal = openJournal('paydesk-visit-payments')
const runs = new Map<string, PaymentRun>()
let locks: Ports['locks'] | undefined

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

/** The terms of a visit, read again from the entry as it came. */
export function termsOf(visit: Pick<Visit, 'version' | 'entry' | 'resource'>): Terms {
  return readOrder(visit.version, parseJson(visit.entry), visit.resource)
}

/** Whose wallet pays. */
export type Payer = { address: string; walletName: string }

/** The order of a visit: what the machine pays. */
export function orderOf(visit: Visit, network: Network, payer: Payer): PaymentOrder {
  const terms = termsOf(visit)
  const asset = findAsset(network, terms.asset)
  if (!asset) throw new Error(`${terms.asset} is not configured.`)
  return {
    id: visit.id,
    createdAt: serverNow(),
    network: terms.network,
    asset,
    sender: payer.address,
    recipient: terms.payTo,
    amountAtomic: terms.amountAtomic,
    resource: terms.resource.url,
    ...(terms.resource.description && { description: terms.resource.description }),
    walletName: payer.walletName,
    ...(visit.way === 'authorization' && { signedOnly: true as const }),
  }
}

/** The payment of a new visit, not built yet. */
export async function beginRun(visit: Visit, order: PaymentOrder): Promise<PaymentRun> {
  const run = new PaymentRun(await portsFor(visit), order)
  runs.set(visit.id, run)
  return run
}

/** The payment of a visit: this tab's, or the journal's; `held` when another tab has it. */
export async function resumeRun(visit: Visit): Promise<PaymentRun | 'held' | undefined> {
  const known = runs.get(visit.id)
  if (known) return known
  const entry = await journal.read(visit.id)
  if (!entry) return undefined
  const run = new PaymentRun(await portsFor(visit), entry.state.order, entry)
  if (!(await run.takeUp())) return 'held'
  runs.set(visit.id, run)
  return run
}

/** Whether anything of a visit's payment can have left this browser, and did not fail for good. */
export async function mayHavePaid(id: string): Promise<boolean> {
  const entry = await journal.read(id)
  if (!entry || !('sent' in entry.state)) return false
  return entry.state.step !== 'failed'
}

/**
 * Has the wallet sign a proof, which moves nothing. I7: null while another tab has a request open in this wallet.
 * @throws WalletProblem
 */
export async function signProof(network: Network, order: PaymentOrder, data: TypedData): Promise<string | null> {
  const stack = await loadStack('evm')
  locks ??= browserLocks()
  const asked = await locks.attempt(walletLock('evm', order.walletName), () =>
    stack.signTypedData(network, { address: order.sender, walletName: order.walletName }, data),
  )
  return asked.held ? asked.value : null
}

async function portsFor(visit: Visit): Promise<Ports> {
  const terms = termsOf(visit)
  const { networks } = await queryClient.ensureQueryData(configQuery)
  const network = networks.find((each) => each.network === terms.network)
  if (!network) throw new Error(`${terms.network} is not configured.`)
  const stack = await loadStack(familyOf(network.network))
  locks ??= browserLocks()
  const shared = { journal, locks, clock }
  if (visit.way === 'authorization') {
    const [{ authorizationChain }, { authorizationService, authorizationReader, authorizationWallet }] = await Promise.all([
      import('./authorization-chain.ts'),
      import('./authorization-ports.ts'),
    ])
    const chain = authorizationChain(network)
    return {
      ...shared,
      chain,
      service: authorizationService(network, terms, chain.head),
      reader: authorizationReader(terms),
      wallet: authorizationWallet(network, stack),
    }
  }
  const service = buildHere(network, terms.memo)
  // The seller sends what it is given; until the signature is too old it may do so at any time, so the payment counts as outside.
  const chain = visit.way === 'signed_transfer' ? { ...stack.chain, broadcast: () => Promise.resolve() } : stack.chain
  return { ...shared, service, chain, reader: stack.reader, wallet: stack.wallet }
}
