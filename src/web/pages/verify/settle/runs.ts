import { familyOf } from '#contract/network.ts'
import { decodeBase64 } from '#x402/header.ts'
import { call } from '../../../api/client.ts'
import { serverNow } from '../../../api/clock.ts'
import { configQuery } from '../../../api/queries.ts'
import { queryClient } from '../../../api/query-client.ts'
import { requestWithRetry } from '../../../api/retry.ts'
import { describeUserError, type UserErrorName } from '../../../errors/error-messages.ts'
import { paymentService } from '../../../payment-flow/form/payment-service.ts'
import { openJournal, SETTLEMENTS, type JournalEntry } from '../../../payment-flow/journal.ts'
import { isPaid, isTerminal } from '../../../payment-flow/machine.ts'
import type { PaymentRun } from '../../../payment-flow/run.ts'
import { TabRuns, type RunDependencies } from '../../../payment-flow/tab-runs.ts'
import type { WalletPaymentIntent, UserError } from '../../../payment-intent/intent.ts'
import type { PaymentService } from '../../../payment-intent/ports.ts'
import { loadWalletAdapter } from '../../../wallet/load-adapter.ts'
import { questionOf } from '../proof/service-checks.ts'
import type { SettleKind } from './kinds.ts'
import { settlementIntentOf, settlementOf, type Settlement } from './settlement.ts'

type Reply = Awaited<ReturnType<typeof call<'transactionReceive'>>>

/** The service's transaction is not the one that was asked for. */
class OtherTransactionError extends Error {
  override name = 'OtherTransactionError'
  readonly userError: UserErrorName

  constructor(userError: UserErrorName) {
    super(userError)
    this.userError = userError
  }
}

/** Asks for the transaction by which the payee settles a proof, or acknowledges one that is settled. */
function settleService({ header, expected }: Settlement): PaymentService {
  return {
    build: async (order, key) => {
      const question = { body: questionOf(header, expected) }
      const reply = await requestWithRetry(() =>
        call('transactionReceive', question, { idempotencyKey: key, timeoutMs: 45_000 }),
      )
      const bytes = decodeBase64(reply.transaction)
      const other = validateReply(order, reply)
      if (other || !bytes) throw new OtherTransactionError(other ?? 'other_payment')
      const { lastValidBlockHeight, expiresAt } = reply
      const paymentId =
        order.operation?.kind === 'acknowledge' ? receiptText(reply.paymentId) : reply.paymentId
      return { paymentId, bytes, lastValidBlockHeight, expiresAt }
    },
    report: async (paymentId, signature) => {
      // A note is nobody's payment: the service watches for none.
      if (paymentId.startsWith(RECEIPT)) return
      await call(
        'transactionSubmitted',
        { body: { paymentId, signature } },
        { idempotencyKey: `${paymentId}:${signature.slice(0, 100)}` },
      )
    },
    explain,
  }
}

const RECEIPT = 'x402-receipt:'

/** What the payee writes; both sides know it by the payment's id. */
function receiptText(paymentId: string): string {
  return `${RECEIPT}${paymentId}`
}

/** Why a reply is of no use for an order; undefined when it is what was asked for. */
function validateReply(
  { operation, sender }: WalletPaymentIntent,
  { settlement, signer }: Reply,
): UserErrorName | undefined {
  if (operation?.kind === 'acknowledge')
    return settlement === 'already_settled' && signer === sender ? undefined : 'not_settled_yet'
  if (settlement === 'already_settled') return 'already_settled'
  const expected =
    operation?.kind === 'settle' && operation.way === 'broadcast' ? 'broadcast_only' : 'required'
  return settlement === expected &&
    (expected === 'broadcast_only' ? signer === null : signer === sender)
    ? undefined
    : 'other_payment'
}

function explain(error: unknown): UserError {
  return error instanceof OtherTransactionError
    ? describeUserError(error.userError)
    : paymentService.explain(error)
}

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
  const order = settlementIntentOf({
    ...settlement,
    kind,
    walletName,
    id: crypto.randomUUID(),
    now: serverNow(),
  })
  return runs.begin(order, await openDependencies(settlement, kind))
}

/** The settlement of an id: this tab's, or the journal's; `held` when another tab has it. */
export function resumeSettlement(id: string): Promise<PaymentRun | 'held' | undefined> {
  return runs.resume(id, async ({ state }) => {
    const { order } = state
    const { operation } = order
    if (!isOpen(state) || !operation || !('proof' in operation)) return undefined
    const { networks } = await queryClient.ensureQueryData(configQuery)
    return openDependencies(
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

async function openDependencies(
  settlement: Settlement,
  kind: SettleKind,
): Promise<RunDependencies> {
  const adapter = await loadWalletAdapter(familyOf(settlement.expected.network.network))
  const service = settleService(settlement)
  switch (kind) {
    case 'execute':
      return { service, ...(await import('./execute.ts')).executeProof(settlement, adapter) }
    case 'co_sign':
    case 'broadcast':
      return { service, ...(await import('./collect.ts')).collect(settlement, adapter) }
    case 'acknowledge':
      return { service, wallet: adapter.wallet, chain: adapter.chain, reader: adapter.reader }
  }
}
