import type { ProxyContext } from '../context/context.ts'
import { setPaymentStatus, takeUnsettledPayments } from '../db/links.ts'
import { spender } from '../session/rule.ts'
import type { Visitor } from '../session/visitor.ts'

/** So many payments a request asks for; the rest comes with the next. */
const MOST = 50

/** Asks the service what became of the payments of these links that were not settled. What cannot be asked now stays as it was. */
export async function refreshPayments(
  context: ProxyContext,
  linkIds: readonly string[],
  asking: { visitor: Visitor; requestId: string },
): Promise<void> {
  const rows = await takeUnsettledPayments(context.db, linkIds, { now: context.now(), most: MOST })
  await Promise.allSettled(
    rows.map(async ({ id, linkId, paymentId, status }) => {
      if (paymentId === null) return
      const request = { params: { paymentId }, requestId: asking.requestId }
      const { parsed } = await context.upstream.read('paymentStatus', request, () =>
        context.budgets.spend(spender(asking.visitor), 'tail'),
      )
      if (parsed.status !== status)
        await setPaymentStatus(context.db, { id, linkId }, parsed.status)
    }),
  )
}
