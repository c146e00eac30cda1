import { MOST_STATUSES, type EndpointResponse } from '#contract/endpoints.ts'
import { ProblemError } from '#contract/problem.ts'
import type { ProxyContext } from '../context/context.ts'
import { setPaymentStatus, takeUnsettledPayments } from '../db/links.ts'
import { spender } from '../session/rule.ts'
import type { Visitor } from '../session/visitor.ts'

type Asking = { context: ProxyContext; visitor: Visitor; requestId: string }
type Known = EndpointResponse<'paymentStatuses'>['payments'][number]

/** Asks the service what became of the payments of these links that were not settled. One request, for up to 100; the rest comes with the next. What cannot be asked now stays as it was. */
export async function refreshPayments(
  context: ProxyContext,
  linkIds: readonly string[],
  asking: Omit<Asking, 'context'>,
): Promise<void> {
  const limits = { now: context.now(), most: MOST_STATUSES }
  const rows = await takeUnsettledPayments(context.db, linkIds, limits)
  const ids = rows.flatMap(({ paymentId }) => paymentId ?? [])
  const known = await readStatuses({ ...asking, context }, ids)
  await Promise.all(
    rows.map(async ({ id, linkId, paymentId, status }) => {
      const now = known.get(paymentId ?? '')?.status
      if (now !== undefined && now !== status)
        await setPaymentStatus(context.db, { id, linkId }, now)
    }),
  )
}

/** Status and refunds of these payments: one request for each 100. Those that could not be asked are not in the answer. */
export async function readStatuses(
  { context, visitor, requestId }: Asking,
  paymentIds: readonly string[],
): Promise<Map<string, Known>> {
  const parts = Array.from({ length: Math.ceil(paymentIds.length / MOST_STATUSES) }, (_, part) =>
    paymentIds.slice(part * MOST_STATUSES, (part + 1) * MOST_STATUSES),
  )
  const found = await Promise.all(
    parts.map(async (ids) => {
      try {
        const request = { query: { paymentIds: ids.join(',') }, requestId }
        const { parsed } = await context.upstream.read('paymentStatuses', request, () =>
          context.budgets.spend(spender(visitor), 'tail'),
        )
        return parsed.payments
      } catch (error) {
        if (error instanceof ProblemError) return []
        throw error
      }
    }),
  )
  return new Map(found.flat().map((payment) => [payment.paymentId, payment]))
}
