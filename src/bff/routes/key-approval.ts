import { issueKeyApproval } from '../session/key-approval.ts'
import type { OwnRule } from '../session/own-rule.ts'

/** The text to be signed before a key is made or replaced. */
export const keyApproval: OwnRule<'keyApproval'> = async ({ context, visitor, body }) => {
  context.budgets.spendSignIn(visitor.address)
  return { value: await issueKeyApproval(context, visitor, body) }
}
