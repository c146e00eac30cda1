import { readLink, type LinkState, type LinkTerms } from '#contract/payment-link.ts'
import { ProblemError } from '#contract/problem.ts'
import type { ProxyContext } from '../context/context.ts'
import { countTaken, findLink, type LinkCounts, type LinkRow } from '../db/links.ts'
import { isGenuine } from './keys.ts'

/** Why a link takes no payment, worded for the person who has it. */
const REFUSALS = {
  link_changed:
    'This payment link was changed after its seller made it, or was not copied whole. Ask the seller for the link again.',
  link_unknown: 'This payment link does not exist. Ask the seller for a new one.',
  link_wallet:
    'This payment link pays a wallet that its seller no longer uses. Ask the seller for a new one.',
  link_expired: 'This payment link has expired. Ask the seller for a new one.',
  link_used: 'This payment link was already paid.',
  link_busy:
    'Someone else is paying this link right now. Try again in two minutes, or ask the seller for another one.',
  link_withdrawn: 'The seller withdrew this payment link.',
  link_option: 'This payment link cannot be paid this way. Choose one of its options.',
  link_quote: 'The price was quoted for another payment, or was changed. Open the link again.',
  quote_expired: 'The quoted price has expired. Nothing was charged. Open the link again.',
  quote_outrun:
    'The rate has fallen since the price was quoted. Nothing was charged. Open the link again.',
  rate_unknown: 'The price cannot be converted into this currency. Choose another one.',
  rate_stale: 'No current rate is known, so nothing can be quoted now. Try again later.',
  rate_disputed: 'The sources of the rate contradict each other. Try again later.',
} as const
export type LinkRefusal = keyof typeof REFUSALS

export function refuseLink(reason: LinkRefusal): ProblemError {
  return new ProblemError('INVALID_PARAMETERS', {
    message: REFUSALS[reason],
    reason,
    details: { link: REFUSALS[reason] },
  })
}

export type OpenedLink = { row: LinkRow; terms: LinkTerms }

/**
 * The link in a text, once its signature, row and recipient are verified. Its state is not checked
 * here.
 * @throws ProblemError `INVALID_PARAMETERS` with `details.reason`
 */
export async function openLink({ db, config }: ProxyContext, text: string): Promise<OpenedLink> {
  const read = readLink(text)
  if (!read || !(await isGenuine(db, read))) throw refuseLink('link_changed')
  const row = await findLink(db, read.terms.id)
  if (!row || row.link !== text) throw refuseLink('link_unknown')
  // The seller may have lost control of a wallet that was removed from the list.
  if (!config.sellerWallets.includes(read.terms.recipient)) throw refuseLink('link_wallet')
  return { row, terms: read.terms }
}

export function stateOf(row: LinkRow, counts: Pick<LinkCounts, 'taken'>, now: Date): LinkState {
  if (row.withdrawnAt) return 'withdrawn'
  if (row.maxPayments !== null && counts.taken >= row.maxPayments) return 'used'
  return row.expiresAt && row.expiresAt <= now ? 'expired' : 'open'
}

/** The state of a link now. The payments of a link that takes any number are not counted. */
export async function readState(context: ProxyContext, row: LinkRow): Promise<LinkState> {
  const { id, maxPayments } = row
  const taken = maxPayments === null ? 0 : await countTaken(context.db, { id, maxPayments })
  return stateOf(row, { taken }, context.now())
}
