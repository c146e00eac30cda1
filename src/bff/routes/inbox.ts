import { ProblemError } from '#contract/problem.ts'
import { fieldsOf } from '../http/parse.ts'
import { onward, requireRole, spender, type ProxyCall, type Rule } from '../session/rule.ts'

/** Money that no order has evidence for: the operator's to assign. */
export const unmatchedAssign: Rule<'unmatchedAssign'> = async (call) => {
  const { context, visitor } = call
  const body = decisionOf(call)
  return context.upstream.write('unmatchedAssign', { ...onward(call), body }, () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
}

export const unmatchedUnassign: Rule<'unmatchedUnassign'> = async (call) => {
  const { context, visitor } = call
  const body = decisionOf(call)
  return context.upstream.write('unmatchedUnassign', { ...onward(call), body }, () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
}

/** Payments that no caller was told of: the operator's to deliver, to close or to refund. */
export const undeliveredClose: Rule<'undeliveredClose'> = async (call) => {
  const { context, visitor } = call
  const body = decisionOf(call)
  return context.upstream.write('undeliveredClose', { ...onward(call), body }, () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
}

export const undeliveredReopen: Rule<'undeliveredReopen'> = async (call) => {
  const { context, visitor } = call
  const body = decisionOf(call)
  return context.upstream.write('undeliveredReopen', { ...onward(call), body }, () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
}

/** A payer's request for a refund: the operator's to decline, or to refund. */
export const refundRequestDecline: Rule<'refundRequestDecline'> = async (call) => {
  const { context, visitor } = call
  const body = decisionOf(call)
  return context.upstream.write('refundRequestDecline', { ...onward(call), body }, () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
}

export const refundRequestReopen: Rule<'refundRequestReopen'> = async (call) => {
  const { context, visitor } = call
  const body = decisionOf(call)
  return context.upstream.write('refundRequestReopen', { ...onward(call), body }, () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
}

type Decision =
  | 'unmatchedAssign'
  | 'unmatchedUnassign'
  | 'undeliveredClose'
  | 'undeliveredReopen'
  | 'refundRequestDecline'
  | 'refundRequestReopen'

/** Who decides is the wallet with the role. @throws ProblemError `INVALID_PARAMETERS` where a browser names somebody */
function decisionOf({
  visitor,
  input,
  raw,
}: Pick<ProxyCall<Decision>, 'visitor' | 'input' | 'raw'>): Record<string, unknown> {
  const { member } = requireRole(visitor, 'operator')
  if (input.body.by !== undefined) {
    const by = 'Expected this field to be absent: it is the wallet that is signed in.'
    throw new ProblemError('INVALID_PARAMETERS', { message: `by: ${by}`, details: { by } })
  }
  return { ...fieldsOf(raw.body), by: member?.wallet }
}
