import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { Network } from './network.ts'
import { ROLES } from './role.ts'

/** Who may have requests relayed: nobody, sessions with a proven wallet, or every visitor. */
export const RELAY_AUDIENCES = ['off', 'wallets', 'everyone'] as const
export type RelayAudience = (typeof RELAY_AUDIENCES)[number]

/** A protected resource to try the explorer with. */
export const Example = v.object({
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(60)),
  url: v.pipe(v.string(), v.maxLength(2048), v.url()),
  description: v.optional(v.pipe(v.string(), v.maxLength(200)), ''),
})
export type Example = v.InferOutput<typeof Example>

/**
 * What every page of the dashboard asks the proxy, for every visitor. In a separate file, so that
 * the first page a browser opens needs no other endpoints.
 */

/**
 * The person behind a session: which wallets they proved, and what these may do in the account.
 */
export const Session = v.object({
  wallets: v.array(v.string()),
  /** The highest role of these wallets in the merchant's account; null for a buyer. */
  role: v.nullable(v.picklist(ROLES)),
  /** Unix milliseconds; use extends the idle limit, never the absolute one. */
  expiresAt: v.number(),
})
export type Session = v.InferOutput<typeof Session>

export const PublicConfig = v.object({
  title: v.string(),
  /** The merchant's picture above a checkout, as a `data:` URL. */
  logo: v.optional(
    v.nullable(v.pipe(v.string(), v.regex(/^data:image\/(png|jpeg|webp);base64,/))),
    null,
  ),
  /** The merchant's colour in a checkout, `#rrggbb`. */
  accentColor: v.optional(v.nullable(v.pipe(v.string(), v.regex(/^#[0-9a-f]{6}$/))), null),
  /**
   * Where sellers' own servers reach the payment service; null when the operator does not publish
   * it.
   */
  serviceUrl: v.nullable(v.string()),
  networks: v.array(Network),
  /** The seller's payout wallets: an anonymous checkout can pay only these. */
  sellerWallets: v.array(v.string()),
  /** Whose requests the proxy relays for the explorer. */
  relay: v.picklist(RELAY_AUDIENCES),
  /** Protected resources to try the explorer with. */
  examples: v.array(Example),
  /**
   * Wallets on other devices are reached through WalletConnect's relay, or this one; null: not
   * offered.
   */
  walletConnect: v.nullable(v.object({ projectId: v.string(), relayUrl: v.nullable(v.string()) })),
  /** ISO 4217: the currencies that a link's price may be in. */
  currencies: v.array(v.string()),
  /** IANA name: its days date the merchant's invoices. */
  timeZone: v.string(),
  /** Server time, Unix milliseconds: the browser corrects its clock with it. */
  now: v.number(),
})
export type PublicConfig = v.InferOutput<typeof PublicConfig>

export const dashboardEndpoints = {
  config: { method: 'GET', path: '/config', response: PublicConfig },
  session: {
    method: 'GET',
    path: '/session',
    response: v.object({ session: v.nullable(Session) }),
  },
  /**
   * The exact text to sign (Sign-In with Ethereum or with Solana); valid 5 minutes, once, from this
   * origin.
   */
  sessionChallenge: {
    method: 'POST',
    path: '/session/challenge',
    response: v.object({ id: v.string(), message: v.string(), expiresAt: v.number() }),
  },
  /** `signature`: hex on EVM, base58 on Solana. A further wallet joins the open session. */
  sessionCreate: {
    method: 'POST',
    path: '/session',
    response: v.object({ session: Session }),
  },
  sessionDelete: { method: 'DELETE', path: '/session', response: v.object({ session: v.null() }) },
} as const satisfies Record<string, Call>

/**
 * Server-sent events: `GET /api/events`. `Last-Event-ID`, or `?lastEventId=` on a first connection,
 * resumes. `event: payment`, `data:` a `PaymentEvent`; `event: reset`: more was missed than can be
 * repeated; `event: beat` at the start, every 15 seconds, and when the service behind the proxy
 * connects or disconnects: the position, and `Beat` with whether events arrive now.
 */
export const EVENTS_PATH = '/api/events'

/** The header a browser must send with a state change: a plain form on another site cannot. */
export const REQUESTED_BY = { name: 'X-Requested-By', value: 'paydesk' } as const

/**
 * What a person typed to confirm, percent-encoded: the name of an API key, to create, rotate or
 * delete it. A click alone does none of these.
 */
export const CONFIRM_HEADER = 'X-Confirm'
