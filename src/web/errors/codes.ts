import { msg, t } from '@lingui/core/macro'
import { i18n } from '../locales/i18n.ts'
import { ReaderError } from '../locales/reader-error.ts'
import { ApiError, type ApiErrorCode } from '../api/errors.ts'
import { formatBody, joinMessage, type ErrorRow } from './row.ts'

/** What a page that only reads can offer. */
type CodeRow = ErrorRow & { action: 'retry' | 'sign_in' | 'none' }

const misfit: CodeRow = {
  who: 'us',
  title: msg`Version mismatch`,
  body: msg`Reload the page, or tell the operator.`,
  action: 'retry',
  retry: 'after_change',
}

/** The table's part for codes of the service, the proxy and the connection. A missing code does not compile. */
export const codes: Readonly<Record<ApiErrorCode, CodeRow>> = {
  INVALID_PARAMETERS: {
    who: 'you',
    title: msg`Invalid request`,
    body: msg`Check your entries.`,
    action: 'none',
    retry: 'after_change',
  },
  INVALID_RECIPIENT: {
    who: 'you',
    title: msg`Recipient cannot be paid`,
    unsent: true,
    body: msg`Check the address.`,
    action: 'none',
    retry: 'after_change',
  },
  INSUFFICIENT_BALANCE: {
    who: 'you',
    title: msg`Balance too low`,
    unsent: true,
    body: msg`Add funds or pay less.`,
    action: 'retry',
    retry: 'safe',
  },
  SIGNING_REFUSED: {
    who: 'us',
    title: msg`Payment not allowed`,
    unsent: true,
    body: msg`The wallet’s limits forbid it.`,
    action: 'none',
    retry: 'after_change',
  },
  INVALID_PAYMENT_PROOF: {
    who: 'payer',
    title: msg`Invalid proof`,
    body: msg`Request a new proof.`,
    action: 'none',
    retry: 'never',
  },
  UNAUTHORIZED: {
    who: 'you',
    title: msg`Signed out`,
    body: msg`Sign in again.`,
    action: 'sign_in',
    retry: 'after_change',
  },
  FORBIDDEN: {
    who: 'you',
    title: msg`No access`,
    body: msg`Use the payer’s or recipient’s wallet.`,
    action: 'sign_in',
    retry: 'after_change',
  },
  NOT_FOUND: {
    who: 'you',
    title: msg`Not found`,
    body: msg`Check the link, or switch wallets.`,
    action: 'none',
    retry: 'after_change',
  },
  METHOD_NOT_ALLOWED: misfit,
  IDEMPOTENCY_CONFLICT: {
    who: 'us',
    title: msg`Payment already started`,
    body: msg`Check your payments before you start again.`,
    action: 'none',
    retry: 'never',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    who: 'time',
    title: msg`Request still running`,
    body: msg`Wait. Nothing is sent twice.`,
    action: 'retry',
    retry: 'safe',
  },
  PAYLOAD_TOO_LARGE: {
    who: 'you',
    title: msg`Text too long`,
    body: msg`Shorten the description or metadata.`,
    action: 'none',
    retry: 'after_change',
  },
  UNSUPPORTED_MEDIA_TYPE: misfit,
  RATE_LIMIT: {
    who: 'time',
    title: msg`Requests paused`,
    body: msg`Rate limit reached. Resuming automatically.`,
    action: 'retry',
    retry: 'by_itself',
  },
  PAYMENT_VERIFICATION_FAILED: {
    who: 'network',
    title: msg`Not verified`,
    body: msg`The payment may still be valid.`,
    action: 'retry',
    retry: 'safe',
  },
  CHAIN_UNAVAILABLE: {
    who: 'network',
    title: msg`Network unreachable`,
    body: msg`Check your payments before you pay again.`,
    action: 'retry',
    retry: 'safe',
  },
  SERVICE_UNAVAILABLE: {
    who: 'operator',
    title: msg`Payment service unreachable`,
    body: msg`Tell the operator. Check your payments before you pay again.`,
    action: 'retry',
    retry: 'safe',
  },
  INTERNAL: {
    who: 'us',
    title: msg`Server error`,
    body: msg`Try again, or tell the operator this code.`,
    action: 'retry',
    retry: 'safe',
  },
  OFFLINE: {
    who: 'you',
    title: msg`Server unreachable`,
    body: msg`Check your connection.`,
    action: 'retry',
    retry: 'safe',
  },
  TIMEOUT: {
    who: 'network',
    title: msg`Timed out`,
    body: msg`Try again.`,
    action: 'retry',
    retry: 'safe',
  },
  BAD_RESPONSE: {
    who: 'operator',
    title: msg`Unreadable answer`,
    body: msg`Reload the page, or tell the operator.`,
    action: 'retry',
    retry: 'after_change',
  },
}

const unexpected: CodeRow = {
  who: 'us',
  title: msg`Page error`,
  unsent: true,
  body: msg`Reload it.`,
  action: 'retry',
  retry: 'safe',
}

type ErrorText = { title: string; body: string; action: CodeRow['action']; detail?: string }

/** What to tell of any error, in the reader's language, and the line to quote in a report. */
export function describeError(error: unknown): ErrorText {
  const row = error instanceof ApiError ? codes[error.code] : unexpected
  const words = { action: row.action, title: i18n._(row.title), body: formatBody(row) }
  if (!(error instanceof ApiError)) return words
  const detail = [error.code, error.requestId].filter(Boolean).join(' · ')
  if (error.code !== 'RATE_LIMIT' || !error.retryAfter) return { ...words, detail }
  const seconds = error.retryAfter
  return {
    ...words,
    body: t`Rate limit reached. Resuming in ${seconds} s.`,
    detail,
  }
}

/**
 * One sentence for any error: of the table, of an error made for the reader, or `otherwise`. A
 * library's own text is never shown.
 */
export function errorSentence(error: unknown, otherwise: string): string {
  if (error instanceof ApiError) return joinMessage(describeError(error))
  return error instanceof ReaderError ? error.message : otherwise
}
