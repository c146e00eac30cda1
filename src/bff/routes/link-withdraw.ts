import { setWithdrawn } from '../db/links.ts'
import { describeLink } from '../links/describe-link.ts'
import { countsOf } from '../links/open-link.ts'
import type { OwnCall, OwnRule } from '../session/own-rule.ts'
import { notFound, requireOperator } from '../session/rule.ts'

export const linkWithdraw: OwnRule<'linkWithdraw'> = (call) => withdraw(call, call.context.now())

export const linkRestore: OwnRule<'linkRestore'> = (call) => withdraw(call, null)

async function withdraw(
  { context, visitor, body }: OwnCall<'linkWithdraw' | 'linkRestore'>,
  at: Date | null,
) {
  requireOperator(visitor)
  const row = await setWithdrawn(context.db, body.id, at)
  if (!row) throw notFound()
  return { value: { link: describeLink(row, await countsOf(context, row.id), context.now()) } }
}
