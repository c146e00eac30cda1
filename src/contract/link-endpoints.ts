import * as v from 'valibot'
import { endpoints } from './endpoints.ts'
import { address } from './address-field.ts'
import {
  assetName,
  boundedText,
  decimal,
  networkName,
  noNul,
  resource,
  timestamp,
} from './fields.ts'
import { LINK_STATES, LinkTerms, returnUrl } from './payment-link.ts'

/**
 * Payment links: the proxy's own endpoints. A link is sent in bodies, never in the proxy's URLs.
 */

const text = (max: number) =>
  v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'Expected some text.'),
    v.maxLength(max, `Expected at most ${max} characters.`),
    noNul(),
  )
const linkText = v.pipe(boundedText(6000), v.minLength(1))
const linkId = v.pipe(
  v.string(),
  v.regex(/^lnk_[1-9A-HJ-NP-Za-km-z]{22}$/, 'Expected lnk_ and 22 base58 characters.'),
)

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
  linkCreate: {
    method: 'POST',
    path: '/links',
    body: v.strictObject({
      network: networkName,
      /** One of the seller's wallets. */
      recipient: address,
      /** An address or a configured symbol; the native currency otherwise. */
      asset: v.optional(assetName),
      /** Without it, the buyer chooses. */
      amount: v.optional(decimal),
      resource: v.optional(v.pipe(resource, v.maxLength(500, 'Expected at most 500 characters.'))),
      description: v.optional(text(200)),
      reference: v.optional(text(100)),
      expiresAt: v.optional(timestamp),
      maxPayments: v.optional(
        v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000)),
      ),
      returnUrl: v.optional(returnUrl),
    }),
    response: LinkAnswer,
  },
  /** From now on it takes no payment; `linkRestore` reverses that. */
  linkWithdraw: {
    method: 'POST',
    path: '/links/withdraw',
    body: v.strictObject({ id: linkId }),
    response: LinkAnswer,
  },
  linkRestore: {
    method: 'POST',
    path: '/links/restore',
    body: v.strictObject({ id: linkId }),
    response: LinkAnswer,
  },
  /**
   * For anyone who has a link: its terms and state, once its signature is verified. Otherwise
   * `details.reason` says what is wrong.
   */
  linkRead: {
    method: 'POST',
    path: '/link/read',
    body: v.strictObject({ link: linkText }),
    response: v.object({ terms: LinkTerms, state: v.picklist(LINK_STATES) }),
  },
  /** Has the payment of a link built. The request must not repeat what the link sets. */
  linkPay: {
    method: 'POST',
    path: '/link/pay',
    body: v.strictObject({
      link: linkText,
      walletAddress: address,
      amount: v.optional(decimal),
      priorityFee: v.optional(decimal),
      description: v.optional(text(200)),
      reference: v.optional(text(100)),
    }),
    response: endpoints.transactionSend.response,
  },
} as const
