import {
  index,
  integer,
  numeric,
  pgSchema,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'

/** The proxy's tables, in a Postgres schema of their own. Cookies are kept as SHA-256; the only secrets are the keys that sign payment links. */
export const bff = pgSchema('bff')

const at = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' })

/** A text that was handed out to be signed. Taken out of the table before its signature is looked at: it counts once, whatever comes of it. */
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
    /** SHA-256 of the 256-bit cookie. A sign-in replaces it: the row stays, the cookie before it is worth nothing. */
    cookieHash: text().notNull(),
    /** Wallets the browser proved, in their normal form; none in an anonymous checkout. */
    wallets: text().array().notNull(),
    createdAt: at('created_at').notNull(),
    idleAt: at('idle_at').notNull(),
    expiresAt: at('expires_at').notNull(),
  },
  (t) => [uniqueIndex('session_cookie').on(t.cookieHash), index('session_expires').on(t.expiresAt)],
)

/**
 * What sellers write beside a payment: for themselves, never for the service or the payer. The desk's operators share theirs;
 * anyone else's belong to the wallet that is part of the payment.
 */
export const paymentNote = bff.table(
  'payment_note',
  {
    /** A wallet, or `desk`. */
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
    /** The wallet that pays, in its normal form; null where it was not kept. */
    sender: text(),
    createdAt: at('created_at'),
  },
  (t) => [
    primaryKey({ columns: [t.sessionId, t.paymentId] }),
    index('session_payment_payment').on(t.paymentId),
  ],
)

/** Keys that sign payment links. Links are rows as well: with a key alone nobody makes one that counts. */
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
    /** The whole link; its terms stand in it. */
    link: text().notNull(),
    expiresAt: at('expires_at'),
    maxPayments: integer(),
    /** The operator's wallet. */
    createdBy: text().notNull(),
    createdAt: at('created_at').notNull(),
    withdrawnAt: at('withdrawn_at'),
  },
  (t) => [index('payment_link_created').on(t.createdAt)],
)

/** A payment through a link, from the moment one is to be built. */
export const linkPayment = bff.table(
  'link_payment',
  {
    id: text().primaryKey(),
    linkId: text()
      .notNull()
      .references(() => paymentLink.id),
    /** The payer's session; none while the first answer is under way. */
    sessionId: text(),
    /** The request's own key: whoever repeats it is the same payer. */
    requestKey: text(),
    /** Known once the service has built it. */
    paymentId: text(),
    /** As the service last told it; `building` before. */
    status: text().notNull(),
    createdAt: at('created_at').notNull(),
  },
  (t) => [
    index('link_payment_link').on(t.linkId, t.status),
    uniqueIndex('link_payment_payment').on(t.paymentId),
  ],
)

/** What an operator may have paid from a managed wallet, and what became of it. */
export const hostedIntent = bff.table(
  'hosted_intent',
  {
    /** The nonce in the signed text. */
    id: text().primaryKey(),
    sessionId: text().notNull(),
    /** Whose signature it takes. */
    signer: text().notNull(),
    network: text().notNull(),
    sender: text().notNull(),
    recipient: text().notNull(),
    asset: text().notNull(),
    /** Atomic units. */
    amount: numeric({ precision: 78, scale: 0, mode: 'bigint' }).notNull(),
    resource: text(),
    description: text(),
    reference: text(),
    createdAt: at('created_at').notNull(),
    expiresAt: at('expires_at').notNull(),
    /** `open`, `sending` from the signature on, then `sent` or `refused`. */
    state: text().notNull(),
    /** SHA-256 of the signature it was taken with: the same request repeated is the same payment. */
    signatureHash: text(),
    takenAt: at('taken_at'),
    paymentId: text(),
  },
  (t) => [
    index('hosted_intent_spent').on(t.sender, t.network, t.asset, t.takenAt),
    index('hosted_intent_expires').on(t.expiresAt),
  ],
)
