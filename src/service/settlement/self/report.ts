import type { EndpointReply } from '#contract/endpoints.ts'
import { type Chain, type Observation, notifyMonitor } from '../../chains/chain.ts'
import type { Context } from '../../context/context.ts'
import { findPayment, setReported, type PaymentRecord } from '../../db/payments.ts'
import type { SettlementOrder } from '../../db/settlement-orders.ts'
import { readSignedAuthorization } from '../../payments/signed-authorization.ts'
import { chainOf, refuseParameters } from '../../context/network.ts'
import { matchesPayment } from '../../payments/attribution.ts'
import { readPaymentBody } from '../../payments/status.ts'
import { isOrdered } from '../find-landed.ts'
import { monitorOrder } from '../monitor-self.ts'

/**
 * A payee reports what it broadcast. That is a hint where to look: the payment changes by what the
 * chain shows of this very settlement.
 */
export async function reportSettlement(
  context: Context,
  {
    payment,
    order,
    signature,
  }: { payment: PaymentRecord; order: SettlementOrder; signature: string },
): Promise<EndpointReply<'transactionSubmitted'>> {
  const chain = chainOf(context, payment.network)
  await setReported(context.db, payment.id, { signature, at: context.now() })
  const observation = await chain.observe(signature)
  await monitorOrder(context, {
    payment: { ...payment, reportedSignature: signature },
    order,
    chain,
    source: 'client',
  })
  const row = await findPayment(context.db, payment.id)
  if (
    row?.signature !== signature &&
    row?.reportedSignature === signature &&
    isForeign(chain, { payment, order, signature, observation })
  ) {
    await setReported(context.db, payment.id, {
      signature: null,
      at: context.now(),
      replaces: signature,
    })
    throw refuseParameters({
      signature: 'Expected the transaction that settles this payment, received another one.',
    })
  }
  notifyMonitor(chain)
  return readPaymentBody(context, payment.id)
}

type Reported = {
  payment: PaymentRecord
  order: SettlementOrder
  signature: string
  observation: Observation
}

/**
 * Whether a landed transaction is another one. One that moves the tokens may have executed the
 * authorization, before any node shows that.
 */
function isForeign(chain: Chain, { payment, order, signature, observation }: Reported): boolean {
  if (observation.state !== 'landed') return false
  if (!readSignedAuthorization(chain, order.key, payment))
    return !isOrdered(order, { signature, observation })
  return !(observation.moved ?? []).some((moved) => matchesPayment(payment, moved, observation))
}
