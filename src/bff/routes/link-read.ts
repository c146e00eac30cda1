import { countsOf, openLink, stateOf } from '../links/open-link.ts'
import { refreshPayments } from '../links/refresh.ts'
import type { OwnRule } from '../session/own-rule.ts'

/** For anybody who holds the link. */
export const linkRead: OwnRule<'linkRead'> = async ({ context, visitor, body, requestId }) => {
  const { row, terms } = await openLink(context, body.link)
  if (row.maxPayments !== null) await refreshPayments(context, [row.id], { visitor, requestId })
  return { value: { terms, state: stateOf(row, await countsOf(context, row.id), context.now()) } }
}
