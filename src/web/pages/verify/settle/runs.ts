import { familyOf } from '#contract/network.ts'
import { configQuery } from '../../../api/queries.ts'
import { queryClient } from '../../../api/query-client.ts'
import { serverNow } from '../../../clock.ts'
import { openJournal, SETTLEMENTS, type JournalEntry } from '../../../payment/journal.ts'
import { browserLocks } from '../../../payment/lock.ts'
import { isPaid, isTerminal } from '../../../payment/machine.ts'
import type { Clock, Ports } from '../../../payment/ports.ts'
import { PaymentRun } from '../../../payment/run.ts'
import { loadStack } from '../../../wallet/stack.ts'
import type { SettleKind } from './kinds.ts'
import { settleService } from './settle-service.ts'
import { orderOf, settlementOf, type Settlement } from './settlement.ts'

/** The settlements of this browser, in the same machine as every payment. They outlive the page; a proof has one at a time. */

const journal = openJournal(SETTLEMENTS)
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

/** The settlement of a proof: the one that is under way, or a new one that is not built yet; `held` when another tab has it. */
export async function beginSettlement(settlement: Settlement, kind: SettleKind, walletName: string): Promise<PaymentRun | 'held'> {
  const open = (await journal.listOpen()).find(({ state }) => isOpen(state) && isOf(state.order.deed, settlement.header, kind))
  if (open) return (await resumeSettlement(open.id)) ?? 'held'
  const order = orderOf({ ...settlement, kind, walletName, id: crypto.randomUUID(), now: serverNow() })
  const run = new PaymentRun(await portsFor(settlement, kind), order)
  runs.set(order.id, run)
  return run
}

/** The settlement of an id: this tab's, or the journal's; `held` when another tab has it. */
export async function resumeSettlement(id: string): Promise<PaymentRun | 'held' | undefined> {
  const known = runs.get(id)
  if (known) return known
  const entry = await journal.read(id)
  if (!entry || !isOpen(entry.state)) return undefined
  const { order } = entry.state
  const { networks } = await queryClient.ensureQueryData(configQuery)
  const { deed } = order
  if (!deed || !('proof' in deed)) return undefined
  const kind = deed.kind === 'acknowledge' ? 'acknowledge' : deed.way
  const run = new PaymentRun(await portsFor(settlementOf(order, networks), kind), order, entry)
  if (!(await run.takeUp())) return 'held'
  runs.set(id, run)
  return run
}

/** Settlements begun here whose outcome is open; newest first. */
export async function openSettlements(): Promise<JournalEntry[]> {
  return (await journal.listOpen()).filter(({ state }) => isOpen(state))
}

function isOpen(state: JournalEntry['state']): boolean {
  return !isTerminal(state) && !isPaid(state) && state.step !== 'draft'
}

function isOf(deed: JournalEntry['state']['order']['deed'], header: string, kind: SettleKind): boolean {
  if (!deed || !('proof' in deed) || deed.proof !== header) return false
  return (deed.kind === 'acknowledge') === (kind === 'acknowledge')
}

async function portsFor(settlement: Settlement, kind: SettleKind): Promise<Ports> {
  const stack = await loadStack(familyOf(settlement.expected.network.network))
  locks ??= browserLocks()
  const shared = { service: settleService(settlement), journal, locks, clock }
  switch (kind) {
    case 'carry_out':
      return { ...shared, ...(await import('./carry-out.ts')).carryOut(settlement, stack) }
    case 'co_sign':
    case 'broadcast':
      return { ...shared, ...(await import('./collect.ts')).collect(settlement, stack) }
    case 'acknowledge':
      return { ...shared, wallet: stack.wallet, chain: stack.chain, reader: stack.reader }
  }
}
