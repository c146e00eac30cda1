import * as v from 'valibot'
import {
  address,
  boundedText,
  assetName,
  decimal,
  networkName,
  paymentId,
  resource,
  storedText,
} from './fields.ts'
import { MAIL_KINDS, MAIL_LANGUAGES } from './mail-endpoints.ts'
import { isEmail } from './payment-link.ts'
import { MOST_REASON } from './refund-request.ts'

/** Bodies of the endpoints of e-mails. Not for browsers, which check what is typed themselves. */
export const mailRows = {
  mailWrite: {
    body: v.strictObject({
      /** One address and nothing else: visible ASCII without quotes, commas and brackets. */
      address: v.pipe(
        boundedText(254),
        v.check(
          (text) => isEmail(text) && /^[\x21-\x7e]+$/.test(text),
          'Expected an e-mail address of ASCII characters.',
        ),
      ),
      language: v.picklist(MAIL_LANGUAGES),
      kinds: v.pipe(v.array(v.picklist(MAIL_KINDS)), v.maxLength(MAIL_KINDS.length)),
    }),
  },
  mailConfirm: {
    body: v.strictObject({
      code: v.pipe(v.string(), v.regex(/^[0-9]{8}$/, 'Expected 8 digits.')),
    }),
  },
  mailDelete: { body: v.strictObject({}) },
} as const

const intentNonce = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{32}$/, 'Expected the nonce of a payment to sign.'),
)

/** Bodies of the endpoints of payments from managed wallets. Not for browsers, which check what is typed themselves. */
export const hostedRows = {
  hostedIntent: {
    body: v.strictObject({
      network: networkName,
      from: address,
      to: address,
      asset: assetName,
      amount: decimal,
      /** In the native currency; the service decides without it. */
      priorityFee: v.optional(decimal),
      resource: v.optional(resource),
      description: v.optional(storedText(MOST_REASON)),
      reference: v.optional(storedText(100)),
      /** The payment that this one refunds: it decides `to`, `network`, `asset` and the reference, and `description` is the reason. */
      refundOf: v.optional(paymentId),
      /** The operator's wallet that will sign; of the network's family. */
      signer: address,
    }),
  },
  hostedSend: { body: v.strictObject({ nonce: intentNonce, signature: boundedText(200) }) },
} as const

/**
 * Pictures of products. The proxy stores them and the page shows them as data: a payer's browser
 * asks no other host, which would learn who looks at what. SVG may hold scripts and is none of the
 * types.
 */

/** Bytes of a picture. In base64 it fits a request. */
export const MOST_IMAGE_BYTES = 40 * 1024

const SIGNATURES = [
  { type: 'image/png', bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { type: 'image/jpeg', bytes: [0xff, 0xd8, 0xff] },
  /** RIFF, four bytes of length, WEBP. */
  { type: 'image/webp', bytes: [0x52, 0x49, 0x46, 0x46, -1, -1, -1, -1, 0x57, 0x45, 0x42, 0x50] },
] as const

/** The type that the bytes begin with, whatever a sender says; undefined for any other. */
export function imageTypeOf(data: Uint8Array): string | undefined {
  return SIGNATURES.find(({ bytes }) =>
    bytes.every((byte, index) => byte === -1 || data[index] === byte),
  )?.type
}
