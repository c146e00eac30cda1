import { msg, t } from '@lingui/core/macro'
import { i18n } from '../locales/i18n.ts'
import { ApiError, type ApiErrorCode } from '../api/errors.ts'
import type { ErrorRow } from './row.ts'

/** What a page that only reads can offer. */
type CodeRow = ErrorRow & { action: 'retry' | 'sign_in' | 'none' }

const misfit: CodeRow = {
  who: 'us',
  title: msg`This page and the service do not fit together`,
  body: msg`Reload the page. If it stays, tell the operator.`,
  action: 'retry',
  retry: 'after_change',
}

/** The table's part for codes of the service, the proxy and the connection. A missing code does not compile. */
export const codes: Readonly<Record<ApiErrorCode, CodeRow>> = {
  INVALID_PARAMETERS: {
    who: 'you',
    title: msg`That request does not add up`,
    body: msg`Check what you entered or filtered by, then try again.`,
    action: 'none',
    retry: 'after_change',
  },
  INVALID_RECIPIENT: {
    who: 'you',
    title: msg`This recipient cannot be paid`,
    body: msg`Check the address with its owner. Nothing was sent.`,
    action: 'none',
    retry: 'after_change',
  },
  INSUFFICIENT_BALANCE: {
    who: 'you',
    title: msg`Not enough in this wallet`,
    body: msg`Add funds or choose a smaller amount. Nothing was sent.`,
    action: 'retry',
    retry: 'safe',
  },
  INVALID_PAYMENT_PROOF: {
    who: 'payer',
    title: msg`This proof is not valid`,
    body: msg`It may have expired or been used before. Ask the payer for a fresh one.`,
    action: 'none',
    retry: 'never',
  },
  UNAUTHORIZED: {
    who: 'you',
    title: msg`You are signed out`,
    body: msg`Sign in with your wallet to go on.`,
    action: 'sign_in',
    retry: 'after_change',
  },
  FORBIDDEN: {
    who: 'you',
    title: msg`This is not yours to see`,
    body: msg`Sign in with the wallet that paid or got paid.`,
    action: 'sign_in',
    retry: 'after_change',
  },
  NOT_FOUND: {
    who: 'you',
    title: msg`Nothing here under this name`,
    body: msg`Check the link, or sign in with the wallet the payment belongs to.`,
    action: 'none',
    retry: 'after_change',
  },
  METHOD_NOT_ALLOWED: misfit,
  IDEMPOTENCY_CONFLICT: {
    who: 'us',
    title: msg`This payment was already begun differently`,
    body: msg`Start again. Nothing was sent twice.`,
    action: 'none',
    retry: 'never',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    who: 'time',
    title: msg`The same request is still running`,
    body: msg`Wait a moment. It is not sent twice.`,
    action: 'retry',
    retry: 'safe',
  },
  PAYLOAD_TOO_LARGE: {
    who: 'you',
    title: msg`That is too much text`,
    body: msg`Shorten the description or the extra data.`,
    action: 'none',
    retry: 'after_change',
  },
  UNSUPPORTED_MEDIA_TYPE: misfit,
  RATE_LIMIT: {
    who: 'time',
    title: msg`Paused for a moment`,
    body: msg`The service limits how often it is asked. It goes on by itself.`,
    action: 'retry',
    retry: 'by_itself',
  },
  PAYMENT_VERIFICATION_FAILED: {
    who: 'network',
    title: msg`Could not be verified`,
    body: msg`Nothing is decided: the payment may still be good.`,
    action: 'retry',
    retry: 'safe',
  },
  CHAIN_UNAVAILABLE: {
    who: 'network',
    title: msg`The network cannot be reached`,
    body: msg`The service gets no answer from the chain. Payments already made are safe.`,
    action: 'retry',
    retry: 'safe',
  },
  SERVICE_UNAVAILABLE: {
    who: 'operator',
    title: msg`The payment service cannot be reached`,
    body: msg`The payment service does not answer. Payments already made are safe. Tell the operator.`,
    action: 'retry',
    retry: 'safe',
  },
  INTERNAL: {
    who: 'us',
    title: msg`Something failed on our side`,
    body: msg`Try again. If it stays, give the operator the number below.`,
    action: 'retry',
    retry: 'safe',
  },
  OFFLINE: {
    who: 'you',
    title: msg`The server cannot be reached`,
    body: msg`Check your connection. What is on screen may be old.`,
    action: 'retry',
    retry: 'safe',
  },
  TIMEOUT: {
    who: 'network',
    title: msg`No answer in time`,
    body: msg`The server took too long. Try again.`,
    action: 'retry',
    retry: 'safe',
  },
  BAD_RESPONSE: {
    who: 'operator',
    title: msg`The answer could not be read`,
    body: msg`This page and the service may be of different versions. Reload; if it stays, tell the operator.`,
    action: 'retry',
    retry: 'after_change',
  },
}

const unexpected: CodeRow = {
  who: 'us',
  title: msg`Something went wrong in this page`,
  body: msg`Reload it. Nothing was sent.`,
  action: 'retry',
  retry: 'safe',
}

type ToldWords = { title: string; body: string; action: CodeRow['action']; detail?: string }

/** What to tell of any error, in the reader's language, and the line to quote in a report. */
export function describeError(error: unknown): ToldWords {
  const { action, title, body } = error instanceof ApiError ? codes[error.code] : unexpected
  const words = { action, title: i18n._(title), body: i18n._(body) }
  if (!(error instanceof ApiError)) return words
  const detail = [error.code, error.requestId].filter(Boolean).join(' · ')
  if (error.code !== 'RATE_LIMIT' || !error.retryAfter) return { ...words, detail }
  const seconds = error.retryAfter
  return {
    ...words,
    body: t`The service limits how often it is asked. It goes on in ${seconds} s.`,
    detail,
  }
}
