import { index, pgSchema, primaryKey, text, timestamp, uniqueIndex } from 'drizzle-orm/pg-core'

/** The proxy's tables, in a Postgres schema of their own. No secret is in them: cookies are kept as SHA-256. */
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

/** The payments a session made: what an anonymous buyer may read. */
export const sessionPayment = bff.table(
  'session_payment',
  {
    sessionId: text()
      .notNull()
      .references(() => session.id, { onDelete: 'cascade' }),
    paymentId: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.sessionId, t.paymentId] }), index('session_payment_payment').on(t.paymentId)],
)
