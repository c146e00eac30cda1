import { t } from '@lingui/core/macro'
import { mayHaveLeft } from '../../payment-flow/machine.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import { capKey, findBreach } from '../../local-data/caps.ts'
import { formatWithSymbol } from '../../payment-flow/form/fields.ts'
import { allPayments } from '../../payment-flow/form/runs.ts'

const DAY_MS = 24 * 3_600_000

/** Why the payer's own limits forbid a payment, in words; nothing when they allow it. */
export async function breachOf(order: WalletPaymentIntent): Promise<string | undefined> {
  const breach = findBreach(
    capKey(order.network, order.asset.address),
    order.amountAtomic,
    await spentSince(order, order.createdAt - DAY_MS),
  )
  if (!breach) return undefined
  const [cap, left] = [
    formatWithSymbol(breach.capAtomic, order.asset),
    formatWithSymbol(breach.leftAtomic, order.asset),
  ]
  return breach.limit === 'per_payment'
    ? t`Your limit is ${cap} per payment. Change it in Settings.`
    : t`Your limit is ${cap} in 24 hours, with ${left} left. Change it in Settings.`
}

/** What left this browser and did not certainly fail: a payment whose end is unknown counts. */
async function spentSince({ network, asset }: WalletPaymentIntent, since: number): Promise<bigint> {
  const spent = (await allPayments()).filter(
    ({ state }) =>
      state.order.network === network &&
      state.order.asset.address === asset.address &&
      state.order.createdAt >= since &&
      mayHaveLeft(state) &&
      !(state.step === 'failed' && state.reason !== 'other'),
  )
  return spent.reduce((sum, { state }) => sum + state.order.amountAtomic, 0n)
}
