import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  numeric,
  pgSchema,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import type { FileSource } from '#contract/file-endpoints.ts'
import type { InvoiceCurrency, InvoiceLine, InvoiceSeller } from '#contract/invoice.ts'
import type { ItemPrice, ShortTerms } from '#contract/payment-link.ts'
import type { Role } from '#contract/role.ts'

/**
 * The proxy's tables, in their own Postgres schema. Cookies are stored as SHA-256. The only secrets
 * are the keys that sign payment links.
 */
export const bff = pgSchema('bff')

export const at = (name: string) =>
  timestamp(name, { withTimezone: true, precision: 3, mode: 'date' })

/**
 * A text issued for signing. It is deleted before its signature is checked: it counts once, with
 * any result.
 */
export const challenge = bff.table(
  'challenge',
  {
    id: text().primaryKey(),
    /** The web app that asked; another one cannot use the answer. */
    origin: text().notNull(),
    /** The browser that asked. */
    browserHash: text().notNull(),
    wallet: text().notNull(),
    /** The exact text: the signature is checked over these bytes and no others. */
    message: text().notNull(),
    expiresAt: at('expires_at').notNull(),
  },
  (t) => [index('challenge_expires').on(t.expiresAt)],
)

export const session = bff.table(
  'session',
  {
    id: text().primaryKey(),
    /**
     * SHA-256 of the 256-bit cookie. A sign-in replaces it: the row stays, the previous cookie is
     * worthless.
     */
    cookieHash: text().notNull(),
    /** Wallets the browser proved, in normal form; empty in an anonymous checkout. */
    wallets: text().array().notNull(),
    createdAt: at('created_at').notNull(),
    idleAt: at('idle_at').notNull(),
    expiresAt: at('expires_at').notNull(),
  },
  (t) => [uniqueIndex('session_cookie').on(t.cookieHash), index('session_expires').on(t.expiresAt)],
)

/**
 * Notes that sellers keep on a payment: for themselves, never for the service or the payer.
 * Operators share theirs; any other note belongs to the wallet that is part of the payment.
 */
export const paymentNote = bff.table(
  'payment_note',
  {
    /** A wallet, or `desk` for all operators. */
    owner: text().notNull(),
    paymentId: text().notNull(),
    labels: text().array().notNull(),
    note: text().notNull(),
    reconciledAt: at('reconciled_at'),
    /** The wallet that wrote it last. */
    updatedBy: text().notNull(),
    updatedAt: at('updated_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.owner, t.paymentId] })],
)

/** The payments a session made: what an anonymous buyer may read. */
export const sessionPayment = bff.table(
  'session_payment',
  {
    sessionId: text()
      .notNull()
      .references(() => session.id, { onDelete: 'cascade' }),
    paymentId: text().notNull(),
    /** The wallet that pays, in normal form; null where it was not recorded. */
    sender: text(),
    createdAt: at('created_at'),
  },
  (t) => [
    primaryKey({ columns: [t.sessionId, t.paymentId] }),
    index('session_payment_payment').on(t.paymentId),
  ],
)

/**
 * Keys that sign payment links. A link also needs a row: nobody can make a valid one with a key
 * alone.
 */
export const linkKey = bff.table('link_key', {
  id: text().primaryKey(),
  /** 256 random bits, base64url. */
  secret: text().notNull(),
  createdAt: at('created_at').notNull(),
})

export const paymentLink = bff.table(
  'payment_link',
  {
    id: text().primaryKey(),
    /** What follows `/pay/`: the whole link including its terms, or the code of a short one. */
    link: text().notNull(),
    /** A short link's code and terms; null for a signed link. */
    code: text(),
    short: jsonb().$type<ShortTerms>(),
    expiresAt: at('expires_at'),
    maxPayments: integer(),
    /** The operator's wallet. */
    createdBy: text().notNull(),
    createdAt: at('created_at').notNull(),
    withdrawnAt: at('withdrawn_at'),
  },
  (t) => [
    // The page of links lists these; the link of an invoice is on the page of the invoice.
    index('payment_link_listed')
      .on(t.createdAt, t.id)
      .where(sql`short ->> 'invoice' is null`),
    uniqueIndex('payment_link_code').on(t.code),
  ],
)

/** What the merchant sells. A link made from it copies what it needs. */
export const product = bff.table(
  'product',
  {
    id: text().primaryKey(),
    name: text().notNull(),
    description: text(),
    price: jsonb().$type<ItemPrice>().notNull(),
    imageId: text().references(() => productImage.id),
    archivedAt: at('archived_at'),
    /** The operator's wallet. */
    createdBy: text().notNull(),
    createdAt: at('created_at').notNull(),
  },
  (t) => [index('product_created').on(t.createdAt)],
)

/** A picture. It never changes and stays: links that show it may be printed. */
export const productImage = bff.table('product_image', {
  id: text().primaryKey(),
  /** One of the types that `imageTypeOf` knows. */
  type: text().notNull(),
  /** Base64. */
  data: text().notNull(),
  createdAt: at('created_at').notNull(),
})

/**
 * An invoice. Issuing gives it a number, a date and a payment link; from then on a trigger lets only
 * its state change, and its customer go. Whether it is paid, the payments of its link decide.
 */
export const invoice = bff.table(
  'invoice',
  {
    id: text().primaryKey(),
    position: bigint({ mode: 'bigint' }).notNull().generatedAlwaysAsIdentity(),
    /** `draft`, `open` or `void`. */
    state: text().$type<'draft' | 'open' | 'void'>().notNull(),
    /** Whether a payment of its link is final: a trigger writes it with the status of the payment. */
    paid: boolean().notNull().default(false),
    sequence: integer(),
    number: text(),
    issuedOn: text(),
    dueOn: text().notNull(),
    customerId: text().references(() => invoiceCustomer.id, { onDelete: 'set null' }),
    currency: jsonb().$type<InvoiceCurrency>().notNull(),
    lines: jsonb().$type<InvoiceLine[]>().notNull(),
    total: text().notNull(),
    note: text(),
    /** As it was set at the issue; null: a draft, or none was set. */
    seller: jsonb().$type<InvoiceSeller>(),
    /** When the customer was removed from an invoice that has a number. */
    customerRemovedAt: at('customer_removed_at'),
    linkId: text().references(() => paymentLink.id),
    /** The operator's wallet. */
    createdBy: text().notNull(),
    createdAt: at('created_at').notNull(),
  },
  (t) => [
    uniqueIndex('invoice_position').on(t.position),
    uniqueIndex('invoice_sequence').on(t.sequence),
    uniqueIndex('invoice_number').on(t.number),
    uniqueIndex('invoice_link').on(t.linkId),
    index('invoice_customer_id').on(t.customerId),
    index('invoice_state').on(t.state, t.position),
    index('invoice_paid').on(t.state, t.paid, t.position),
  ],
)

/** Who invoices are for: personal data, which is deleted while the invoices stay. */
export const invoiceCustomer = bff.table(
  'invoice_customer',
  {
    id: text().primaryKey(),
    name: text().notNull(),
    email: text(),
    address: text(),
    usedAt: at('used_at').notNull(),
  },
  (t) => [
    index('invoice_customer_name').on(t.name),
    index('invoice_customer_email').on(sql`lower(${t.email})`),
    index('invoice_customer_used').on(t.usedAt),
  ],
)

/** The one row that numbers are given from, and the seller. Issuing an invoice locks it. */
export const invoiceNumbering = bff.table('invoice_numbering', {
  id: integer().primaryKey(),
  prefix: text().notNull(),
  last: integer().notNull(),
  seller: jsonb().$type<InvoiceSeller>(),
})

/** All of a payment went back; `final` once no reorganization can undo that. */
export type Refunded = 'full' | 'final'

/** A payment through a link, recorded before it is built. */
export const linkPayment = bff.table(
  'link_payment',
  {
    id: text().primaryKey(),
    linkId: text()
      .notNull()
      .references(() => paymentLink.id),
    /** The payer's session; null while the first answer is pending. */
    sessionId: text(),
    /** The request's own key: repeated requests under it come from the same payer. */
    requestKey: text(),
    /** Set once the service has built it. */
    paymentId: text(),
    /** The wallet that the payer named, in normal form: it paid, once the payment has arrived. */
    sender: text(),
    /** Stands for the network address that asked, at this link alone; null once the payment is no longer unsigned. */
    presenter: text(),
    /** The last status the service reported; `building` before that. */
    status: text().notNull(),
    /** The first payment of the link that was seen on its chain has 1; null until then. */
    arrival: integer(),
    /** Whether all of it went back, as last known of a link that takes so many payments; `final`: no reorganization can undo that. */
    refunded: text().$type<Refunded>(),
    /** Whether it is owed back: see surplus.ts. */
    surplus: boolean().notNull().default(false),
    createdAt: at('created_at').notNull(),
    /** When the service was last asked for it. */
    checkedAt: at('checked_at'),
    /** Until when the place is kept for a payer whose page shows a wallet code; null where no page asked. */
    leaseUntil: at('lease_until'),
    /** Whether its purchase of a file is recorded. */
    recorded: boolean().notNull().default(false),
  },
  (t) => [
    index('link_payment_link').on(t.linkId, t.status, t.createdAt),
    index('link_payment_key')
      .on(t.linkId, t.requestKey)
      .where(sql`request_key is not null`),
    index('link_payment_arrival')
      .on(t.linkId, t.arrival)
      .where(sql`arrival is not null`),
    index('link_payment_moving')
      .on(t.linkId, t.checkedAt.asc().nullsFirst(), t.createdAt)
      .where(sql`status in ('created', 'pending', 'confirmed', 'rolled_back')`),
    index('link_payment_unrecorded')
      .on(t.linkId, t.createdAt)
      .where(sql`not recorded and status in ('confirmed', 'finalized')`),
    index('link_payment_surplus')
      .on(t.linkId, t.arrival)
      .where(sql`surplus`),
    index('link_payment_owed')
      .on(t.createdAt, t.id)
      .where(sql`surplus`),
    index('link_payment_unclear')
      .on(t.checkedAt.asc().nullsFirst(), t.linkId)
      .where(sql`surplus or refunded = 'full'`),
    index('link_payment_status').on(t.status, t.createdAt),
    uniqueIndex('link_payment_payment').on(t.paymentId),
    index('link_payment_sender').on(t.sender),
  ],
)

/**
 * Personal data of a payer, apart from everything that is kept permanently. The payment itself never
 * has it.
 */
export const paymentContact = bff.table(
  'payment_contact',
  {
    paymentId: text().primaryKey(),
    /** As typed by the payer of a link that asked; nobody has verified it. */
    email: text().notNull(),
    /** The wallet that the payer named, in normal form; null where it was not recorded. */
    sender: text(),
    createdAt: at('created_at').notNull(),
    /** Whether the payment is final: the address stays until its customer is deleted. */
    kept: boolean().notNull().default(false),
  },
  (t) => [
    index('payment_contact_open')
      .on(t.createdAt)
      .where(sql`not kept`),
    index('payment_contact_sender').on(t.sender),
  ],
)

/**
 * Personal data of customers, as people of the account wrote it. A row can be deleted at any time:
 * what a customer paid is in the service's ledger.
 */
export const customerProfile = bff.table(
  'customer_profile',
  {
    /** In normal form; an EVM address is one customer on all chains. */
    wallet: text().primaryKey(),
    /** Empty for none, as the note. */
    name: text().notNull(),
    email: text(),
    labels: text().array().notNull(),
    note: text().notNull(),
    /** The name and the labels, to search in. */
    words: text().notNull(),
    /** The wallet that wrote it last. */
    updatedBy: text().notNull(),
    updatedAt: at('updated_at').notNull(),
  },
  (t) => [
    index('customer_profile_words').using('gin', sql`to_tsvector('simple', ${t.words})`),
    index('customer_profile_email').on(sql`lower(${t.email}) text_pattern_ops`),
  ],
)

/** What a file costs in one currency, and the payment link that asks for it. */
export type FilePriceRow = { currency: string; amount: string; linkId: string; link: string }

/** Credentials of a source, sealed under the key in SOURCE_KEY_FILE. */
export type SealedCredential = { vaultKeyId: string; wrappedKey: string; sealedSecret: string }

/** A file that is sold. Its prices never change. */
export const fileSale = bff.table(
  'file_sale',
  {
    id: text().primaryKey(),
    /** What follows `/file/`. */
    code: text().notNull(),
    name: text().notNull(),
    fileName: text().notNull(),
    mimeType: text().notNull(),
    /** In bytes, as the source said when it was checked; null where it did not say. */
    size: bigint({ mode: 'number' }),
    ranges: boolean().notNull(),
    prices: jsonb().$type<FilePriceRow[]>().notNull(),
    source: jsonb().$type<FileSource>().notNull(),
    /** Of the credentials that the source is shown. */
    credential: jsonb().$type<SealedCredential>(),
    /** Names this state of the source: the credentials are sealed for it and for no other. */
    sourceId: text().notNull(),
    /** Where the source is a text. */
    content: text(),
    /** Where people read about it, pay and download. */
    page: text().notNull(),
    /** 256 random bits, base64url: they tie a memo on Solana to this file. */
    memoKey: text().notNull(),
    createdBy: text().notNull(),
    createdAt: at('created_at').notNull(),
    withdrawnAt: at('withdrawn_at'),
  },
  (t) => [
    uniqueIndex('file_sale_code').on(t.code),
    index('file_sale_created').on(t.createdAt),
    index('file_sale_prices').using('gin', t.prices.op('jsonb_path_ops')),
  ],
)

/** A payment for a file. Whether it still stands, or was refunded, the service says. */
export const filePurchase = bff.table(
  'file_purchase',
  {
    paymentId: text().primaryKey(),
    fileId: text()
      .notNull()
      .references(() => fileSale.id),
    /** The wallet that paid, in normal form. */
    wallet: text().notNull(),
    createdAt: at('created_at').notNull(),
    /** Until then somebody is being sent the file for the proof of this payment; 1970 while the service has to be told what became of it. */
    sendingUntil: at('sending_until'),
    /** When the file was first sent whole. */
    deliveredAt: at('delivered_at'),
    /** When the service was told that the file could not be delivered. */
    reportedAt: at('reported_at'),
    /** When the source last failed its payer, who was neither sent the file whole nor refunded in full. */
    failedAt: at('failed_at'),
    downloads: integer().notNull(),
  },
  (t) => [
    index('file_purchase_owner').on(t.fileId, t.wallet),
    index('file_purchase_open')
      .on(t.sendingUntil)
      .where(sql`sending_until is not null`),
    index('file_purchase_failed')
      .on(t.failedAt)
      .where(sql`failed_at is not null and reported_at is null`),
  ],
)

/** Who presented a proof first, noted before it is settled: it is public once it is on the chain. */
export const filePresenter = bff.table(
  'file_presenter',
  {
    /** What identifies the payment on its network, however its proof is spelled. */
    proof: text().primaryKey(),
    /** An HMAC of the network address, by a key of the file. */
    presenter: text().notNull(),
    presentedAt: at('presented_at').notNull(),
  },
  (t) => [index('file_presenter_presented').on(t.presentedAt)],
)

/** A download that one request may read. Reading it deletes the row. */
export const fileTicket = bff.table(
  'file_ticket',
  {
    /** SHA-256 of the 256-bit ticket in the address. */
    ticketHash: text().primaryKey(),
    paymentId: text()
      .notNull()
      .references(() => filePurchase.paymentId),
    expiresAt: at('expires_at').notNull(),
  },
  (t) => [index('file_ticket_expires').on(t.expiresAt)],
)

/**
 * The roles that owners gave to wallets. Those of the configuration are not here. The role is
 * text, as every status: code checks it.
 */
export const walletRole = bff.table('wallet_role', {
  wallet: text().primaryKey(),
  role: text().$type<Role>().notNull(),
  /** The owner's wallet. */
  givenBy: text().notNull(),
  givenAt: at('given_at').notNull(),
})

/** A link that gives a role once. Taking it deletes the row. */
export const invitation = bff.table(
  'invitation',
  {
    id: text().primaryKey(),
    /** SHA-256 of the 256-bit code in the link. */
    codeHash: text().notNull(),
    role: text().$type<Role>().notNull(),
    createdBy: text().notNull(),
    createdAt: at('created_at').notNull(),
    expiresAt: at('expires_at').notNull(),
  },
  (t) => [uniqueIndex('invitation_code').on(t.codeHash)],
)

/**
 * Every change that a role allowed, written before it is made and completed with its outcome.
 * Rows are never deleted, and an outcome is set once.
 */
export const auditEntry = bff.table('audit_entry', {
  id: bigint({ mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
  at: at('at').notNull(),
  wallet: text().notNull(),
  role: text().$type<Role>().notNull(),
  /** The endpoint's name. */
  action: text().notNull(),
  subject: text(),
  requestId: text().notNull(),
  /** `done` or an error code; null until then. */
  outcome: text(),
})

/** Below which balance of the native currency people are warned about a managed wallet. */
export const balanceAlert = bff.table(
  'balance_alert',
  {
    wallet: text().notNull(),
    network: text().notNull(),
    /** As the wallet was called then: alerts are read without the service. */
    name: text().notNull(),
    /** Atomic units. */
    threshold: numeric({ precision: 78, scale: 0, mode: 'bigint' }).notNull(),
    /** The operator's wallet. */
    setBy: text().notNull(),
    setAt: at('set_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.wallet, t.network] })],
)

/** A payment that an operator may make from a managed wallet, and its outcome. */
export const hostedIntent = bff.table(
  'hosted_intent',
  {
    /** The nonce in the signed text. */
    id: text().primaryKey(),
    sessionId: text().notNull(),
    /** The wallet that has to sign. */
    signer: text().notNull(),
    network: text().notNull(),
    sender: text().notNull(),
    recipient: text().notNull(),
    asset: text().notNull(),
    /** Atomic units. */
    amount: numeric({ precision: 78, scale: 0, mode: 'bigint' }).notNull(),
    /** A decimal in the native currency; null where the service decides. */
    priorityFee: text(),
    resource: text(),
    description: text(),
    reference: text(),
    /** The payment that this one refunds. */
    refundOf: text(),
    createdAt: at('created_at').notNull(),
    expiresAt: at('expires_at').notNull(),
    /** `open`, `sending` from the signature on, `repeated` once it is asked for again, then `sent` or `refused`. */
    state: text().$type<'open' | 'sending' | 'repeated' | 'sent' | 'refused'>().notNull(),
    /** SHA-256 of the signature that claimed it: the same request repeated is the same payment. */
    signatureHash: text(),
    takenAt: at('taken_at'),
    paymentId: text(),
  },
  (t) => [
    index('hosted_intent_outflow').on(t.sender, t.network, t.asset, t.takenAt),
    index('hosted_intent_expires').on(t.expiresAt),
  ],
)

/**
 * One row at most: the history of the server's log that this database was used on last. Another one means that the server
 * was replaced (`src/postgres/server.ts`). None after `rebuild:links`: the next start writes it.
 */
export const postgresTimeline = bff.table(
  'postgres_timeline',
  { id: integer().primaryKey().default(1), timeline: text().notNull() },
  (t) => [check('postgres_timeline_one_row', sql`${t.id} = 1`)],
)
