import { countPayments, listLinks } from '../db/links.ts'
import { describeLink } from '../links/describe-link.ts'
import { refreshPayments } from '../links/refresh.ts'
import type { OwnRule } from '../session/own-rule.ts'
import { requireOperator } from '../session/rule.ts'

const MOST = 500

export const linkList: OwnRule<'linkList'> = async ({ context, visitor, requestId }) => {
  requireOperator(visitor)
  const rows = await listLinks(context.db, MOST)
  const ids = rows.map(({ id }) => id)
  await refreshPayments(context, ids, { visitor, requestId })
  const counts = await countPayments(context.db, ids)
  return {
    value: {
      links: rows.map((row) =>
        describeLink(row, counts.get(row.id) ?? { paid: 0, pending: 0, taken: 0 }, context.now()),
      ),
    },
  }
}
