import { familyOf } from '#contract/network.ts'
import { configQuery } from '../../../api/queries.ts'
import { queryClient } from '../../../api/query-client.ts'
import { serverNow } from '../../../api/clock.ts'
import { openJournal, SETTLEMENTS, type JournalEntry } from '../../../payment-flow/journal.ts'
import { isPaid, isTerminal } from '../../../payment-flow/machine.ts'
import type { PaymentRun } from '../../../payment-flow/run.ts'
import { TabRuns, type RunDependencies } from '../../../payment-flow/tab-runs.ts'
import { loadWalletAdapter } from '../../../wallet/load-adapter.ts'
import type { SettleKind } from './kinds.ts'
import { settleService } from './settle-service.ts'
import { intentOf, settlementOf, type Settlement } from './settlement.ts'

/** The settlements of this browser, in the same machine as every payment; a proof has one at a time. */

const journal = openJournal(SETTLEMENTS)
const runs = new TabRuns(journal)

/** The settlement of a proof: the one that is under way, or a new one that is not built yet; `held` when another tab has it. */
export async function beginSettlement(
  settlement: Settlement,
  kind: SettleKind,
  walletName: string,
): Promise<PaymentRun | 'held'> {
  const open = (await journal.listOpen()).find(
    ({ state }) => isOpen(state) && isOf(state.order.operation, settlement.header, kind),
  )
  if (open) return (await resumeSettlement(open.id)) ?? 'held'
  const order = intentOf({
    ...settlement,
    kind,
    walletName,
    id: crypto.randomUUID(),
    now: serverNow(),
  })
  return runs.begin(order, await behind(settlement, kind))
}

/** The settlement of an id: this tab's, or the journal's; `held` when another tab has it. */
export function resumeSettlement(id: string): Promise<PaymentRun | 'held' | undefined> {
  return runs.resume(id, async ({ state }) => {
    const { order } = state
    const { operation } = order
    if (!isOpen(state) || !operation || !('proof' in operation)) return undefined
    const { networks } = await queryClient.ensureQueryData(configQuery)
    return behind(
      settlementOf(order, networks),
      operation.kind === 'acknowledge' ? 'acknowledge' : operation.way,
    )
  })
}

/** Settlements begun here whose outcome is open; newest first. */
export async function openSettlements(): Promise<JournalEntry[]> {
  return (await journal.listOpen()).filter(({ state }) => isOpen(state))
}

function isOpen(state: JournalEntry['state']): boolean {
  return !isTerminal(state) && !isPaid(state) && state.step !== 'draft'
}

function isOf(
  operation: JournalEntry['state']['order']['operation'],
  header: string,
  kind: SettleKind,
): boolean {
  if (!operation || !('proof' in operation) || operation.proof !== header) return false
  return (operation.kind === 'acknowledge') === (kind === 'acknowledge')
}

async function behind(settlement: Settlement, kind: SettleKind): Promise<RunDependencies> {
  const stack = await loadWalletAdapter(familyOf(settlement.expected.network.network))
  const service = settleService(settlement)
  switch (kind) {
    case 'execute':
      return { service, ...(await import('./execute.ts')).executeProof(settlement, stack) }
    case 'co_sign':
    case 'broadcast':
      return { service, ...(await import('./collect.ts')).collect(settlement, stack) }
    case 'acknowledge':
      return { service, wallet: stack.wallet, chain: stack.chain, reader: stack.reader }
  }
}
