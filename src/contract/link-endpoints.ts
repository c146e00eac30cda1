import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { timestamp } from './fields.ts'
import { LINK_STATES, LinkTerms } from './payment-link.ts'
import { transactionEndpoints } from './transaction-endpoints.ts'

/**
 * Payment links: the proxy's own endpoints. A link is sent in bodies, never in the proxy's URLs.
 */

/** A link as its seller sees it. */
export const LinkBody = v.object({
  /** What follows `/pay/`. */
  link: v.string(),
  terms: LinkTerms,
  state: v.picklist(LINK_STATES),
  /** Payments through it that the chain confirmed, and pending ones. */
  paid: v.number(),
  pending: v.number(),
  createdAt: timestamp,
  withdrawnAt: v.nullable(timestamp),
})
export type LinkBody = v.InferOutput<typeof LinkBody>

const LinkAnswer = v.object({ link: LinkBody })

export const linkEndpoints = {
  /** The operator's links, newest first. */
  linkList: { method: 'GET', path: '/links', response: v.object({ links: v.array(LinkBody) }) },
  linkCreate: { method: 'POST', path: '/links', response: LinkAnswer },
  /** From now on it takes no payment; `linkRestore` reverses that. */
  linkWithdraw: { method: 'POST', path: '/links/withdraw', response: LinkAnswer },
  linkRestore: { method: 'POST', path: '/links/restore', response: LinkAnswer },
  /**
   * For anyone who has a link: its terms and state, once its signature is verified. Otherwise
   * `details.reason` says what is wrong.
   */
  linkRead: {
    method: 'POST',
    path: '/link/read',
    response: v.object({ terms: LinkTerms, state: v.picklist(LINK_STATES) }),
  },
  /** Has the payment of a link built. The request must not repeat what the link sets. */
  linkPay: {
    method: 'POST',
    path: '/link/pay',
    response: transactionEndpoints.transactionSend.response,
  },
} as const satisfies Record<string, Call>
