import { sql } from 'drizzle-orm'
import { bigint, index, integer, jsonb, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import type { MailKind, MailLanguage } from '#contract/mail-endpoints.ts'
import { at, bff } from './schema.ts'

/** What an e-mail says of one event. No field is text that a payer typed. */
export type MailFacts = {
  paymentId?: string | undefined
  amount?: string | undefined
  symbol?: string | undefined
  network?: string | undefined
  sender?: string | undefined
}

/** Where a person is sent e-mails, and of which events: personal data, deleted when the person wants. */
export const mailAddress = bff.table(
  'mail_address',
  {
    /** The person: a wallet with a role. */
    wallet: text().primaryKey(),
    address: text().notNull(),
    language: text().$type<MailLanguage>().notNull(),
    kinds: text().array().$type<MailKind[]>().notNull(),
    /** The digits in the e-mail that confirms the address; null once they were used or used up. */
    code: text(),
    codeExpiresAt: at('code_expires_at'),
    /** Wrong codes that were tried. */
    codeAttempts: integer().notNull(),
    /** Nothing but the code is sent before. */
    confirmedAt: at('confirmed_at'),
    /** 256 random bits, in each e-mail's link. They end its e-mails and allow nothing else. */
    unsubscribeToken: text().notNull(),
    /** When the person last wrote it, or was last seen with a role, by the day. */
    updatedAt: at('updated_at').notNull(),
  },
  (t) => [uniqueIndex('mail_address_token').on(t.unsubscribeToken)],
)

/** One e-mail: the outbox. Its id is its Message-ID, in every attempt. */
export const mailMessage = bff.table(
  'mail_message',
  {
    id: text().primaryKey(),
    wallet: text().notNull(),
    /** `code` confirms an address, `event` is one event, `digest` several, `moved` goes to an earlier address. */
    kind: text().$type<'code' | 'event' | 'digest' | 'moved'>().notNull(),
    /** SHA-256 of the address, to limit codes that different people have sent to it. */
    addressHash: text().notNull(),
    /** `pending`, `sent`, `dead`, or `dropped` where it may not be sent any more. */
    state: text().$type<'pending' | 'sent' | 'dead' | 'dropped'>().notNull(),
    attempts: integer().notNull(),
    nextAttemptAt: at('next_attempt_at').notNull(),
    /** The address that a person had before, until it was told so; null for every other message. */
    earlier: jsonb().$type<{ address: string; language: MailLanguage }>(),
    /** What the mail server said last. */
    failure: text(),
    createdAt: at('created_at').notNull(),
  },
  (t) => [
    index('mail_message_due')
      .on(t.nextAttemptAt)
      .where(sql`state = 'pending'`),
    index('mail_message_wallet').on(t.wallet, t.createdAt),
    index('mail_message_created').on(t.createdAt),
  ],
)

/** An event that a person is to be sent. The key makes it one, however often it is read. */
export const mailItem = bff.table(
  'mail_item',
  {
    wallet: text().notNull(),
    key: text().notNull(),
    kind: text().$type<MailKind>().notNull(),
    facts: jsonb().$type<MailFacts>().notNull(),
    createdAt: at('created_at').notNull(),
    /** The e-mail that has it; null while it waits for one. */
    messageId: text(),
  },
  (t) => [
    primaryKey({ columns: [t.wallet, t.key] }),
    index('mail_item_waiting')
      .on(t.wallet, t.createdAt)
      .where(sql`message_id is null`),
    index('mail_item_message').on(t.messageId),
    index('mail_item_created').on(t.createdAt),
  ],
)

/** The one row that says up to which event of the service e-mails were written. */
export const mailCursor = bff.table('mail_cursor', {
  id: integer().primaryKey(),
  /** Null while nobody has confirmed an address. */
  position: bigint({ mode: 'bigint' }),
  /** Then a process may read events, and lists, again. */
  eventsAt: at('events_at').notNull(),
  listsAt: at('lists_at').notNull(),
})
