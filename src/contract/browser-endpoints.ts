import * as v from 'valibot'
import {
  address,
  assetName,
  boundedText,
  decimal,
  networkName,
  noNul,
  paymentId,
  resource,
  timestamp,
  wellFormed,
} from './fields.ts'
import { ApiKeyInput, ApiKeyRow, keyEnd, keyId, RotationInput } from './api-key-body.ts'
import { proxyCalls } from './calls.ts'
import { joinRows, type Schema } from './endpoint.ts'
import { MOST_TEXT_BYTES } from './file-endpoints.ts'
import { isEmail, isLinkCode, returnUrl } from './payment-link.ts'
import { MOST_IMAGE_BYTES, hostedRows, mailRows } from './browser-rows.ts'
import { INVOICE_ID, INVOICE_STATES } from './invoice-state.ts'
import { day, InvoiceLine, MOST_LINES } from './invoice.ts'
import { MOST_IMAGES } from './product-endpoints.ts'
import { ROLES } from './role.ts'
import { decimalText, MOST_PIECES } from './quote.ts'
import { RelayInput } from './relay.ts'
import { BalanceAlertInput } from './wallet.ts'

const challengeId = v.pipe(
  v.string(),
  v.regex(/^sic_[1-9A-HJ-NP-Za-km-z]{16,22}$/, 'Expected the id of a sign-in message.'),
)

const text = (max: number) =>
  v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'Expected some text.'),
    v.maxLength(max, `Expected at most ${max} characters.`),
    noNul(),
    wellFormed(),
  )
const linkText = v.pipe(boundedText(6000), v.minLength(1))
const linkId = v.pipe(
  v.string(),
  v.regex(/^lnk_[1-9A-HJ-NP-Za-km-z]{22}$/, 'Expected lnk_ and 22 base58 characters.'),
)

const linkCode = v.pipe(v.string(), v.check(isLinkCode, 'Expected 12 base58 characters.'))
const pieces = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MOST_PIECES))
const emailAddress = v.pipe(text(254), v.check(isEmail, 'Expected an e-mail address.'))
const linkTexts = {
  resource: v.optional(v.pipe(resource, v.maxLength(500, 'Expected at most 500 characters.'))),
  description: v.optional(text(200)),
  reference: v.optional(text(100)),
  expiresAt: v.optional(timestamp),
  maxPayments: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000))),
  returnUrl: v.optional(returnUrl),
}

/** JSON may spell a character of a pasted text with more bytes than the text has. */
const FILE_BODY_BYTES = 4 * MOST_TEXT_BYTES

const fileId = v.pipe(
  v.string(),
  v.regex(/^fil_[1-9A-HJ-NP-Za-km-z]{22}$/, 'Expected fil_ and 22 base58 characters.'),
)
/** A credential, and a header's value with it: visible ASCII, so that no line is added to a request. */
const credential = v.pipe(
  v.string(),
  v.regex(/^[\x20-\x7e]{1,2000}$/, 'Expected 1 to 2,000 visible ASCII characters.'),
)
const sourceUrl = v.pipe(resource, v.maxLength(2000, 'Expected at most 2,000 characters.'))
const fileSource = v.variant('kind', [
  v.strictObject({
    kind: v.literal('text'),
    text: v.pipe(
      v.string(),
      v.minLength(1, 'Expected some text.'),
      v.maxBytes(MOST_TEXT_BYTES, 'Expected at most 256 KiB.'),
      noNul(),
      wellFormed(),
    ),
  }),
  v.strictObject({
    kind: v.literal('https'),
    url: sourceUrl,
    credential: v.optional(
      v.variant('type', [
        v.strictObject({
          type: v.literal('header'),
          name: v.pipe(
            v.string(),
            v.regex(/^[A-Za-z0-9-]{1,64}$/, 'Expected the name of a header.'),
          ),
          value: credential,
        }),
        v.strictObject({ type: v.literal('basic'), user: credential, password: credential }),
      ]),
    ),
  }),
  v.strictObject({
    kind: v.literal('s3'),
    endpoint: sourceUrl,
    region: v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,40}$/, 'Expected a region.')),
    bucket: v.pipe(v.string(), v.regex(/^[a-z0-9.-]{3,63}$/, 'Expected the name of a bucket.')),
    key: v.pipe(
      text(1024),
      v.check(
        (key) => !key.split('/').some((part) => /^\.{0,2}$/.test(part)),
        'Expected a key without empty parts and without . or .. as a part.',
      ),
    ),
    accessKeyId: credential,
    secretAccessKey: credential,
  }),
])
export type FileSourceInput = v.InferOutput<typeof fileSource>
/** A name that no file system and no header reads as more than a name. */
const fileName = v.pipe(
  text(120),
  v.regex(/^[^\p{C}/\\:*?"<>|]+$/u, 'Expected a file name without / \\ : * ? " < > |.'),
  v.regex(/^[^.]/, 'Expected a file name that does not begin with a dot.'),
)
const price = v.strictObject({ currency: boundedText(12), amount: decimalText })
const productId = v.pipe(
  v.string(),
  v.regex(/^prd_[1-9A-HJ-NP-Za-km-z]{22}$/, 'Expected prd_ and 22 base58 characters.'),
)
const imageId = v.pipe(
  v.string(),
  v.regex(/^img_[1-9A-HJ-NP-Za-km-z]{22}$/, 'Expected img_ and 22 base58 characters.'),
)
/** The bytes of a picture in base64, in its one spelling. */
const imageData = v.pipe(
  v.string(),
  v.maxLength(
    Math.ceil(MOST_IMAGE_BYTES / 3) * 4,
    `Expected at most ${MOST_IMAGE_BYTES} bytes in base64.`,
  ),
  v.base64('Expected base64.'),
)
const invoiceId = v.pipe(v.string(), v.regex(INVOICE_ID, 'Expected ivc_ and 22 base58 characters.'))
const customerId = v.pipe(
  v.string(),
  v.regex(/^cus_[1-9A-HJ-NP-Za-km-z]{22}$/, 'Expected cus_ and 22 base58 characters.'),
)
const ofInvoice = { body: v.strictObject({ id: invoiceId }) }
const productFields = { name: text(120), description: v.optional(text(500)), price }

const invitationId = v.pipe(
  v.string(),
  v.regex(/^inv_[1-9A-HJ-NP-Za-km-z]{16,22}$/, 'Expected the id of an invitation.'),
)
const invitationCode = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{43}$/, 'Expected the 43 characters after /join/ of the link.'),
)
const role = v.picklist(ROLES)
const auditId = v.pipe(
  v.string(),
  v.regex(/^[1-9][0-9]{0,17}$/, 'Expected the id of an entry of the audit log.'),
)

export const MOST_LABELS = 10
/** As many as one page of payments holds. */
export const MOST_NOTED = 500

/** One line without control characters, as people write on a folder. */
export const Label = v.pipe(
  v.string(),
  v.trim(),
  v.regex(
    /^[^\p{Cc}\p{Cs},]{1,40}$/u,
    'Expected 1 to 40 characters, none of them a comma or a control character.',
  ),
)

const Labels = v.pipe(
  v.array(Label),
  v.maxLength(MOST_LABELS, `Expected at most ${MOST_LABELS} labels.`),
)
const paymentIds = v.pipe(
  v.array(paymentId),
  v.minLength(1),
  v.maxLength(MOST_NOTED, `Expected at most ${MOST_NOTED} payments.`),
)

/** An array would also pass as an object without fields. */
const noArray = v.check<unknown, string>((value) => !Array.isArray(value), 'Expected an object.')
const nothing = v.pipe(v.unknown(), noArray, v.strictObject({}))

/** Every POST has a body. */
type Rows = {
  readonly [
    K in keyof typeof proxyCalls as (typeof proxyCalls)[K] extends { method: 'POST' } ? K : never
  ]: { body: Schema; maxBytes?: number }
}

const rows = {
  sessionChallenge: { body: v.strictObject({ walletAddress: address, network: networkName }) },
  sessionCreate: { body: v.strictObject({ id: challengeId, signature: boundedText(4096) }) },
  linkCreate: {
    body: v.strictObject({
      network: networkName,
      /** One of the seller's wallets. */
      recipient: address,
      /** An address or a configured symbol; the native currency otherwise. */
      asset: v.optional(assetName),
      /** Without it, the buyer chooses. */
      amount: v.optional(decimal),
      ...linkTexts,
    }),
  },
  shortLinkCreate: {
    body: v.pipe(
      v.unknown(),
      noArray,
      v.strictObject({
        /** Of one piece: an ISO 4217 currency of `GET /config`, or the symbol of an asset. */
        price: v.optional(price),
        /** In place of `price` and `description`: what the link sells. */
        product: v.optional(productId),
        /** One way to pay; without it, every network and currency that fits the price. */
        only: v.optional(
          v.strictObject({
            network: networkName,
            recipient: address,
            asset: v.optional(assetName),
          }),
        ),
        maxPieces: v.optional(pieces),
        askEmail: v.optional(v.boolean()),
        ...linkTexts,
      }),
    ),
  },
  fileCreate: {
    body: v.strictObject({
      name: text(120),
      fileName: v.optional(fileName),
      /** One for each currency: the symbol of an asset. */
      prices: v.pipe(
        v.array(v.strictObject({ currency: boundedText(12), amount: decimalText })),
        v.minLength(1, 'Expected a price.'),
        v.maxLength(8, 'Expected at most 8 prices.'),
      ),
      source: fileSource,
      /** Where the pages of files are, of an allowed origin: the dashboard says it. */
      page: resource,
    }),
    maxBytes: FILE_BODY_BYTES,
  },
  fileCheck: { body: v.strictObject({ source: fileSource }), maxBytes: FILE_BODY_BYTES },
  fileUpdate: {
    body: v.strictObject({
      id: fileId,
      name: v.optional(text(120)),
      fileName: v.optional(fileName),
      source: v.optional(fileSource),
    }),
    maxBytes: FILE_BODY_BYTES,
  },
  fileWithdraw: { body: v.strictObject({ id: fileId }) },
  fileRestore: { body: v.strictObject({ id: fileId }) },
  fileDelete: { body: v.strictObject({ id: fileId }) },
  fileOpen: { body: v.strictObject({ code: linkCode }) },
  fileDownload: { body: v.strictObject({ code: linkCode }) },
  productCreate: {
    body: v.strictObject({ ...productFields, image: v.optional(imageData) }),
  },
  productUpdate: {
    body: v.strictObject({
      id: productId,
      ...productFields,
      /** Another picture; null: none. Without it, the picture stays. */
      image: v.optional(v.nullable(imageData)),
    }),
  },
  productArchive: { body: v.strictObject({ id: productId, archived: v.boolean() }) },
  invoiceList: {
    body: v.pipe(
      v.unknown(),
      noArray,
      v.strictObject({
        state: v.optional(v.picklist(INVOICE_STATES)),
        /** A part of the number, or of the customer's name or e-mail address. */
        q: v.optional(text(100)),
        before: v.optional(auditId),
      }),
    ),
  },
  invoiceRead: ofInvoice,
  invoiceSave: {
    body: v.strictObject({
      /** A draft to replace. */
      id: v.optional(invoiceId),
      dueOn: day,
      currency: boundedText(12),
      lines: v.pipe(
        v.array(v.strictObject({ ...InvoiceLine.entries, name: text(200) })),
        v.minLength(1, 'Expected a line.'),
        v.maxLength(MOST_LINES, `Expected at most ${MOST_LINES} lines.`),
      ),
      customer: v.optional(
        v.strictObject({
          name: text(200),
          email: v.optional(emailAddress),
          address: v.optional(text(500)),
        }),
      ),
      note: v.optional(text(1000)),
    }),
  },
  invoiceDelete: ofInvoice,
  invoiceIssue: {
    body: v.strictObject({
      id: invoiceId,
      /** From its body: one that changed since, or gets another date, is refused. */
      draft: v.optional(v.strictObject({ version: boundedText(64), issuesOn: boundedText(10) })),
    }),
  },
  invoiceVoid: ofInvoice,
  invoiceUnvoid: ofInvoice,
  invoicePrefix: {
    body: v.strictObject({
      /** No digit at the end: then no two prefixes make one number. */
      prefix: v.pipe(
        v.string(),
        v.regex(
          /^([A-Za-z0-9/_.-]{0,19}[A-Za-z/_.-])?$/,
          'Expected at most 20 letters, digits and / _ . - without a digit at the end.',
        ),
      ),
    }),
  },
  invoiceSeller: {
    body: v.strictObject({
      name: text(200),
      address: v.optional(text(500)),
      taxNumber: v.optional(text(50)),
    }),
  },
  invoiceForget: { body: v.strictObject({ id: customerId }) },
  imageRead: {
    body: v.strictObject({
      ids: v.pipe(
        v.array(imageId),
        v.minLength(1),
        v.maxLength(MOST_IMAGES, `Expected at most ${MOST_IMAGES} ids.`),
      ),
    }),
  },
  linkOpen: { body: v.strictObject({ link: linkCode }) },
  /** `after`: the payment that a page ended with. */
  surplusList: {
    body: v.pipe(v.unknown(), noArray, v.strictObject({ after: v.optional(paymentId) })),
  },
  linkSurplus: { body: v.strictObject({ link: linkText, paymentId }) },
  linkLease: { body: v.strictObject({ link: linkText, paymentId }) },
  linkWithdraw: { body: v.strictObject({ id: linkId }) },
  linkRestore: { body: v.strictObject({ id: linkId }) },
  linkRead: { body: v.strictObject({ link: linkText }) },
  linkPay: {
    body: v.strictObject({
      link: linkText,
      walletAddress: address,
      /** Of a short link: one of its options, with the quote that it carried. */
      option: v.optional(v.strictObject({ network: networkName, asset: assetName })),
      quote: v.optional(boundedText(1500)),
      pieces: v.optional(pieces),
      amount: v.optional(decimal),
      priorityFee: v.optional(decimal),
      description: v.optional(text(200)),
      reference: v.optional(text(100)),
      /** Only where the link asks for it. */
      email: v.optional(emailAddress),
    }),
  },
  balanceAlert: { body: BalanceAlertInput },
  ...hostedRows,
  approval: {
    body: v.strictObject({
      /** An owner's wallet that will sign. */
      signer: boundedText(64),
      operation: v.variant('kind', [
        v.strictObject({ kind: v.literal('create'), terms: ApiKeyInput }),
        v.strictObject({
          kind: v.literal('rotate'),
          id: keyId,
          name: boundedText(100),
          scopes: ApiKeyInput.entries.scopes,
          plan: ApiKeyRow.entries.plan,
          expiresAt: v.nullable(keyEnd),
          ...RotationInput.entries,
        }),
        v.strictObject({ kind: v.literal('invite'), role }),
        v.strictObject({ kind: v.literal('changeRole'), walletAddress: address, role }),
      ]),
    }),
  },
  noteRead: { body: v.strictObject({ paymentIds }) },
  noteWrite: {
    body: v.strictObject({
      paymentIds,
      addLabels: v.optional(Labels),
      removeLabels: v.optional(Labels),
      note: v.optional(boundedText(2000)),
      reconciled: v.optional(v.boolean()),
    }),
  },
  profileRead: {
    body: v.strictObject({
      wallets: v.pipe(
        v.array(address),
        v.minLength(1),
        v.maxLength(MOST_NOTED, `Expected at most ${MOST_NOTED} addresses.`),
      ),
    }),
  },
  profileFind: { body: v.strictObject({ text: text(100) }) },
  profileWrite: {
    body: v.strictObject({
      walletAddress: address,
      name: v.optional(v.pipe(boundedText(100), v.trim())),
      /** Null for none. */
      email: v.optional(v.nullable(emailAddress)),
      labels: v.optional(Labels),
      note: v.optional(boundedText(2000)),
    }),
  },
  profileExport: { body: v.strictObject({ walletAddress: address }) },
  profileDelete: { body: v.strictObject({ walletAddress: address }) },
  peopleInvite: { body: v.strictObject({ role }) },
  peopleUninvite: { body: v.strictObject({ id: invitationId }) },
  invitationRead: { body: v.strictObject({ code: invitationCode }) },
  peopleJoin: { body: v.strictObject({ code: invitationCode, walletAddress: address }) },
  peopleChange: { body: v.strictObject({ walletAddress: address, role }) },
  peopleRemove: { body: v.strictObject({ walletAddress: address }) },
  auditRead: {
    body: v.pipe(v.unknown(), noArray, v.strictObject({ before: v.optional(auditId) })),
  },
  ...mailRows,
  sessionEndOthers: { body: nothing },
  relay: { body: RelayInput },
} as const satisfies Rows

/**
 * What the proxy offers a browser under `/api` beside the service's endpoints of audience `browser`.
 * A state change needs `Content-Type: application/json`, `X-Requested-By: paydesk` and an allowed `Origin`.
 * Not for browsers: they load `proxyCalls` of calls.ts.
 */
export const browserEndpoints = joinRows(proxyCalls, rows)
