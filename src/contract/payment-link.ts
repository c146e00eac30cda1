import * as v from 'valibot'
import { atomic, boundedText, timestamp } from './fields.ts'
import { InvoiceFace } from './invoice.ts'
import { decimalText } from './quote.ts'

/**
 * A payment link: what a seller asks for, signed by the seller's proxy. The terms stand in the link itself, so that a page can compare
 * what it is told with what the buyer was given; the signature is the proxy's alone to check.
 *
 *   link = 43 characters of HMAC-SHA256, base64url | base64url of the JSON array of the terms
 */

const MAC_LENGTH = 43
/** Above any link this program makes; a longer one is not read. */
const MAX_LENGTH = 6000
const LINK = /^[A-Za-z0-9_-]+$/

export const LINK_STATES = ['open', 'expired', 'used', 'withdrawn'] as const
export type LinkState = (typeof LINK_STATES)[number]

/** The scheme is the seller's, the host is shown to the buyer, and no name or password hides a host behind another. */
export const returnUrl = v.pipe(
  boundedText(500),
  v.check(isReturnUrl, 'Expected a whole web address.'),
)

/** What is asked for. Amounts in atomic units, times in Unix milliseconds; null is not set. */
export const LinkTerms = v.object({
  id: v.string(),
  /** CAIP-2. */
  network: v.string(),
  recipient: v.string(),
  /** Normal form. */
  asset: v.string(),
  /** Null: the buyer chooses. */
  amountAtomic: v.nullable(atomic),
  resource: v.nullable(v.string()),
  description: v.nullable(v.string()),
  reference: v.nullable(v.string()),
  expiresAt: v.nullable(timestamp),
  /** How many payments it takes; null: any number. */
  maxPayments: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1))),
  /** `{PAYMENT_ID}` in it is filled in. */
  returnUrl: v.nullable(returnUrl),
})
export type LinkTerms = v.InferOutput<typeof LinkTerms>

/** What a short link is called: base58, 70 random bits. */
const CODE = /^[1-9A-HJ-NP-Za-km-z]{12}$/

export function isLinkCode(text: string): boolean {
  return CODE.test(text)
}

/** Whether a text could be an e-mail address; whether mail arrives there only sending shows. */
export function isEmail(text: string): boolean {
  return /^[^\s@<>",;:\\()[\]]{1,64}@([a-z0-9-]+\.)+[a-z]{2,}$/i.test(text) && text.length <= 254
}

/** Of one piece, in a fiat currency or in an asset by its symbol. */
export const ItemPrice = v.object({
  kind: v.picklist(['fiat', 'asset']),
  currency: v.string(),
  amount: decimalText,
})
export type ItemPrice = v.InferOutput<typeof ItemPrice>

/** The product that a link sells, as it was when the link was made. */
export const LinkItem = v.object({
  product: v.string(),
  name: v.string(),
  description: v.nullable(v.string()),
  image: v.nullable(v.string()),
})
export type LinkItem = v.InferOutput<typeof LinkItem>

/** What a short link asks for. The proxy keeps it; no term ever changes. */
export const ShortTerms = v.object({
  id: v.string(),
  /** Null: the payer chooses. */
  price: v.nullable(ItemPrice),
  /** Null: it was made from no product. */
  item: v.optional(v.nullable(LinkItem), null),
  /** The invoice that it pays. */
  invoice: v.optional(v.nullable(InvoiceFace), null),
  /** The one way to pay it; null: every network and currency that fits the price. */
  only: v.nullable(v.object({ network: v.string(), recipient: v.string(), asset: v.string() })),
  /** How many pieces a payer may buy at once; 1: the payer is not asked. */
  maxPieces: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** The payer is asked for an e-mail address and may leave it out. */
  askEmail: v.optional(v.boolean(), false),
  ...v.pick(LinkTerms, [
    'resource',
    'description',
    'reference',
    'expiresAt',
    'maxPayments',
    'returnUrl',
  ]).entries,
})
export type ShortTerms = v.InferOutput<typeof ShortTerms>

const Payload = v.strictTuple([
  v.literal(1),
  v.string(),
  v.string(),
  v.string(),
  v.string(),
  v.string(),
  v.nullable(atomic),
  v.nullable(v.string()),
  v.nullable(v.string()),
  v.nullable(v.string()),
  v.nullable(timestamp),
  v.nullable(v.number()),
  v.nullable(v.string()),
])

export type ReadLink = {
  mac: string
  /** What the signature is over, as it stands in the link. */ payload: string
  keyId: string
  terms: LinkTerms
}

export function linkPayload(terms: LinkTerms, keyId: string): string {
  const {
    id,
    network,
    recipient,
    asset,
    amountAtomic,
    resource,
    description,
    reference,
    expiresAt,
    maxPayments,
    returnUrl: back,
  } = terms
  return toBase64Url(
    JSON.stringify([
      1,
      keyId,
      id,
      network,
      recipient,
      asset,
      amountAtomic,
      resource,
      description,
      reference,
      expiresAt,
      maxPayments,
      back,
    ]),
  )
}

/** The parts of a link; nothing when it is not one. Whether it is genuine, only the proxy can say. */
export function readLink(link: string): ReadLink | undefined {
  if (link.length > MAX_LENGTH || !LINK.test(link)) return undefined
  const [mac, payload] = [link.slice(0, MAC_LENGTH), link.slice(MAC_LENGTH)]
  const values = v.safeParse(Payload, tryJson(payload))
  if (!values.success) return undefined
  const [
    ,
    keyId,
    id,
    network,
    recipient,
    asset,
    amountAtomic,
    resource,
    description,
    reference,
    expiresAt,
    maxPayments,
    back,
  ] = values.output
  const fields = {
    id,
    network,
    recipient,
    asset,
    amountAtomic,
    resource,
    description,
    reference,
    expiresAt,
    maxPayments,
    returnUrl: back,
  }
  const terms = v.safeParse(LinkTerms, fields)
  return terms.success ? { mac, payload, keyId, terms: terms.output } : undefined
}

/** The name of the first term in which two differ. */
export function differingTerm(a: LinkTerms, b: LinkTerms): keyof LinkTerms | undefined {
  return (Object.keys(LinkTerms.entries) as (keyof LinkTerms)[]).find((name) => a[name] !== b[name])
}

/** Where the buyer goes back to, with the payment's id where the seller wants it. */
export function returnAddress(url: string, paymentId: string): URL | undefined {
  return isReturnUrl(url)
    ? new URL(url.replaceAll('{PAYMENT_ID}', encodeURIComponent(paymentId)))
    : undefined
}

function isReturnUrl(text: string): boolean {
  if (!/^https?:\/\/\S+$/.test(text) || !URL.canParse(text)) return false
  const { protocol, username, password, hostname } = new URL(text)
  // The host is what the buyer is shown: nothing that is filled in later may be in it.
  return (
    /^https?:$/.test(protocol) &&
    username === '' &&
    password === '' &&
    hostname !== '' &&
    !decodeURI(new URL(text).host).includes('{')
  )
}

function toBase64Url(text: string): string {
  const bytes = new TextEncoder().encode(text)
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}

function tryJson(payload: string): unknown {
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (char) =>
      char.charCodeAt(0),
    )
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}
