import { t } from '@lingui/core/macro'
import { serverNow } from '../../api/clock.ts'
import { capKey, findBreach } from '../../local-data/caps.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import { isOutstanding, openJournal, PURCHASE_PAYMENTS } from '../journal.ts'
import { mayHaveLeft } from '../machine.ts'
import { formatWithSymbol } from './fields.ts'

const DAY_MS = 24 * 3_600_000

/** All that may pay: the checkout and the explorer. */
const journals = [openJournal(), openJournal(PURCHASE_PAYMENTS)]

/** Why the payer's own limits forbid a payment, in words; nothing when they allow it. Asked before each new payment, however it is made, and again before its wallet is asked: another tab may have paid since. */
export async function breachOf(order: WalletPaymentIntent): Promise<string | undefined> {
  const breach = findBreach(
    capKey(order.network, order.asset.address),
    order.amountAtomic,
    await outflowsSince(order, serverNow() - DAY_MS),
  )
  if (!breach) return undefined
  const [cap, left] = [
    formatWithSymbol(breach.capAtomic, order.asset),
    formatWithSymbol(breach.leftAtomic, order.asset),
  ]
  const limit =
    breach.limit === 'per_payment'
      ? t`Your limit is ${cap} per payment.`
      : t`Your limit is ${cap} in 24 hours, ${left} left.`
  return `${limit} ${t`Change it in Settings.`}`
}

/** What other payments took out of this browser for the same asset since a time and did not certainly fail, in atomic units: a payment whose end is unknown counts. */
async function outflowsSince(
  { id, network, asset }: WalletPaymentIntent,
  since: number,
): Promise<bigint> {
  const now = serverNow()
  const entries = (await Promise.all(journals.map((journal) => journal.list()))).flat()
  const outgoing = entries.filter(
    ({ state }) =>
      state.order.id !== id &&
      state.order.network === network &&
      state.order.asset.address === asset.address &&
      state.order.createdAt >= since &&
      // An allowance moves nothing.
      state.order.operation === undefined &&
      // A code, or what is signed, may still be sent.
      (mayHaveLeft(state) || isOutstanding(state, now)) &&
      !(state.step === 'failed' && state.reason !== 'other'),
  )
  return outgoing.reduce((sum, { state }) => sum + state.order.amountAtomic, 0n)
}
