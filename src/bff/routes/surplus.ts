import { readLink } from '#contract/payment-link.ts'
import type { SurplusPayment } from '#contract/link-endpoints.ts'
import { countSurplus, listSurplus, type SurplusRow } from '../db/surplus.ts'
import { refreshSurplus } from '../links/refresh.ts'
import type { OwnRule } from '../session/rule.ts'

const PAGE = 50

/** Money that the merchant owes back, of all links and invoices. */
export const surplusList: OwnRule<'surplusList'> = async (call) => {
  const { context, body } = call
  const { db } = context
  const request = { after: body.after, limit: PAGE + 1 }
  // First: what was refunded meanwhile is owed no more.
  const linkIds = (await listSurplus(db, request)).map(({ linkId }) => linkId)
  await refreshSurplus(context, [...new Set(linkIds)], call)
  const [rows, total] = await Promise.all([listSurplus(db, request), countSurplus(db)])
  const page = rows.slice(0, PAGE)
  const next = rows.length > PAGE ? (page.at(-1)?.paymentId ?? null) : null
  return { value: { payments: page.flatMap(toBody), total, next } }
}

function toBody(row: SurplusRow): SurplusPayment[] {
  const { paymentId, sender, createdAt, linkId, link, short, invoice } = row
  if (paymentId === null) return []
  const { description = null, reference = null } = short ?? readLink(link)?.terms ?? {}
  return [
    {
      paymentId,
      sender,
      createdAt: createdAt.getTime(),
      linkId,
      description,
      reference,
      invoice: invoice && {
        id: invoice.id,
        number: invoice.number,
        isVoid: invoice.state === 'void',
      },
    },
  ]
}
