import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { atomic, timestamp } from './fields.ts'
import { LINK_STATES, LinkTerms, ShortTerms } from './payment-link.ts'
import { Rate } from './quote.ts'
import { transactionEndpoints } from './transaction-endpoints.ts'

/**
 * Payment links: the proxy's own endpoints. A link is sent in bodies, never in the proxy's URLs.
 */

const linkUse = {
  /** What follows `/pay/`. */
  link: v.string(),
  state: v.picklist(LINK_STATES),
  /** Payments through it that the chain confirmed, refunded ones too, and pending ones. */
  paid: v.number(),
  pending: v.number(),
  /**
   * Payments that are owed back: of those that did not go back in full, the ones that arrived after as
   * many as the link takes.
   */
  surplus: v.array(v.string()),
  /** Of as many paid ones as it takes, how many were refunded, in full or in part; null where nobody could say. */
  refunded: v.nullable(v.object({ full: v.number(), partial: v.number() })),
  createdAt: timestamp,
  withdrawnAt: v.nullable(timestamp),
}

/** A signed link as its seller sees it: its terms are in its text. */
export const LinkBody = v.object({ ...linkUse, terms: LinkTerms })
export type LinkBody = v.InferOutput<typeof LinkBody>

/** A short link as its seller sees it. */
export const ShortLinkBody = v.object({ ...linkUse, short: ShortTerms })
export type ShortLinkBody = v.InferOutput<typeof ShortLinkBody>

/** A payment of a link or of an invoice that is owed back. */
export const SurplusPayment = v.object({
  paymentId: v.string(),
  /** The wallet that the payer named; null where it was not recorded. */
  sender: v.nullable(v.string()),
  createdAt: timestamp,
  linkId: v.string(),
  /** Of the link. */
  description: v.nullable(v.string()),
  reference: v.nullable(v.string()),
  /** The invoice that the link is of. */
  invoice: v.nullable(
    v.object({ id: v.string(), number: v.nullable(v.string()), isVoid: v.boolean() }),
  ),
})
export type SurplusPayment = v.InferOutput<typeof SurplusPayment>

const AnyLink = v.union([LinkBody, ShortLinkBody])
const LinkAnswer = v.object({ link: LinkBody })

/** One way to pay a short link. */
export const LinkOption = v.object({
  network: v.string(),
  recipient: v.string(),
  /** Normal form. */
  asset: v.string(),
  /** Of one piece; null: the payer chooses. */
  amountAtomic: v.nullable(atomic),
  /** Of a price in fiat: the rate, and the proxy's signature over it, which paying repeats. */
  quote: v.nullable(v.object({ token: v.string(), ...Rate.entries })),
})
export type LinkOption = v.InferOutput<typeof LinkOption>

export const OpenedShortLink = v.object({
  terms: ShortTerms,
  state: v.picklist(LINK_STATES),
  options: v.array(LinkOption),
  /** Set where options carry quotes. */
  quotedAt: v.nullable(timestamp),
  expiresAt: v.nullable(timestamp),
})
export type OpenedShortLink = v.InferOutput<typeof OpenedShortLink>

export const linkEndpoints = {
  /** The operator's links, newest first. */
  linkList: {
    method: 'GET',
    path: '/links',
    response: v.object({ links: v.array(LinkBody), short: v.array(ShortLinkBody) }),
  },
  /** All payments of links and invoices that are owed back, those that were made longest ago first, 50 at a time. */
  surplusList: {
    method: 'POST',
    path: '/links/surplus',
    response: v.object({
      payments: v.array(SurplusPayment),
      /** Of all pages. */
      total: v.number(),
      next: v.nullable(v.string()),
    }),
  },
  linkCreate: { method: 'POST', path: '/links', response: LinkAnswer },
  /** A link of 12 characters whose terms the proxy keeps, for every network and currency. */
  shortLinkCreate: {
    method: 'POST',
    path: '/links/short',
    response: v.object({ link: ShortLinkBody }),
  },
  /** From now on it takes no payment; `linkRestore` reverses that. */
  linkWithdraw: { method: 'POST', path: '/links/withdraw', response: v.object({ link: AnyLink }) },
  linkRestore: { method: 'POST', path: '/links/restore', response: v.object({ link: AnyLink }) },
  /**
   * For anyone who has a link: its terms and state, once its signature is verified. Otherwise
   * `details.reason` says what is wrong.
   */
  linkRead: {
    method: 'POST',
    path: '/link/read',
    response: v.object({ terms: LinkTerms, state: v.picklist(LINK_STATES) }),
  },
  /**
   * For anyone who has a short link: its terms, its state, and each way to pay it, with a quote of
   * 15 minutes where the price is in fiat. Nothing is written.
   */
  linkOpen: { method: 'POST', path: '/link/open', response: OpenedShortLink },
  /** Whether a payment of this session is owed back: its link has all the payments that it takes without it. */
  linkSurplus: {
    method: 'POST',
    path: '/link/surplus',
    response: v.object({ surplus: v.boolean() }),
  },
  /**
   * Whether a payment of this session that its payer reads as a code may be paid now. Keeps the place
   * of a link for one payment for two more minutes, within 15 minutes after it was taken.
   */
  linkLease: {
    method: 'POST',
    path: '/link/lease',
    response: v.object({ leased: v.boolean() }),
  },
  /** Has the payment of a link built. The request must not repeat what the link sets. */
  linkPay: {
    method: 'POST',
    path: '/link/pay',
    response: transactionEndpoints.transactionSend.response,
  },
} as const satisfies Record<string, Call>
