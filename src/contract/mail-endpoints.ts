import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { timestamp } from './fields.ts'

/** E-mails to people of the account: the proxy's own endpoints. */

/** What a person may be sent. */
export const MAIL_KINDS = [
  'payment_confirmed',
  'payment_finalized',
  'unmatched',
  'undelivered',
  'refund_request',
  'refund_failed',
  'webhook_dead',
] as const
export type MailKind = (typeof MAIL_KINDS)[number]

export const MAIL_LANGUAGES = ['en', 'es', 'zh-CN'] as const
export type MailLanguage = (typeof MAIL_LANGUAGES)[number]

export const MailSettings = v.object({
  /** Whether this proxy sends e-mails. */
  available: v.boolean(),
  /** Null where the person has given no address. */
  settings: v.nullable(
    v.object({
      address: v.string(),
      confirmed: v.boolean(),
      language: v.picklist(MAIL_LANGUAGES),
      kinds: v.array(v.picklist(MAIL_KINDS)),
      /** The newest e-mail that was given up within 30 days, unless a later one was sent. */
      failedAt: v.nullable(timestamp),
    }),
  ),
})
export type MailSettings = v.InferOutput<typeof MailSettings>

export const mailEndpoints = {
  mailRead: { method: 'GET', path: '/mail', response: MailSettings },
  /** An address that is not confirmed yet is sent a code. */
  mailWrite: { method: 'POST', path: '/mail', response: MailSettings },
  mailConfirm: { method: 'POST', path: '/mail/confirm', response: MailSettings },
  mailDelete: { method: 'POST', path: '/mail/delete', response: MailSettings },
} as const satisfies Record<string, Call>

/** Ends a person's e-mails without a session: for mail programs (RFC 8058) and for people. */
export const UNSUBSCRIBE_PATH = '/api/mail/unsubscribe/:token'
