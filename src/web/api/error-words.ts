import { ApiError, type ApiErrorCode } from './errors.ts'

export type ErrorWords = {
  /** Who can put it right. */
  who: 'you' | 'payer' | 'operator' | 'network' | 'time' | 'us'
  title: string
  body: string
  /** What the button does; none where pressing anything would not help. */
  action: 'retry' | 'sign_in' | 'none'
}

/** Every way a reading can fail, in the reader's terms. A missing code does not compile. */
export const errorWords: Readonly<Record<ApiErrorCode, ErrorWords>> = {
  INVALID_PARAMETERS: { who: 'you', title: 'That request does not add up', body: 'Check what you entered or filtered by, then try again.', action: 'none' },
  INVALID_RECIPIENT: { who: 'you', title: 'This recipient cannot be paid', body: 'Check the address with its owner. Nothing was sent.', action: 'none' },
  INSUFFICIENT_BALANCE: { who: 'you', title: 'Not enough in this wallet', body: 'Add funds or choose a smaller amount. Nothing was sent.', action: 'retry' },
  INVALID_PAYMENT_PROOF: {
    who: 'payer',
    title: 'This proof is not valid',
    body: 'It may have expired or been used before. Ask the payer for a fresh one.',
    action: 'none',
  },
  UNAUTHORIZED: { who: 'you', title: 'You are signed out', body: 'Sign in with your wallet to go on.', action: 'sign_in' },
  FORBIDDEN: { who: 'you', title: 'This is not yours to see', body: 'Sign in with the wallet that paid or got paid.', action: 'sign_in' },
  NOT_FOUND: { who: 'you', title: 'Nothing here under this name', body: 'Check the link, or sign in with the wallet the payment belongs to.', action: 'none' },
  METHOD_NOT_ALLOWED: {
    who: 'us',
    title: 'This page and the service do not fit together',
    body: 'Reload the page. If it stays, tell the operator.',
    action: 'retry',
  },
  IDEMPOTENCY_CONFLICT: { who: 'us', title: 'This payment was already begun differently', body: 'Start it anew. Nothing was sent twice.', action: 'none' },
  IDEMPOTENCY_IN_PROGRESS: { who: 'time', title: 'The same request is still running', body: 'Wait a moment. It is not sent twice.', action: 'retry' },
  PAYLOAD_TOO_LARGE: { who: 'you', title: 'That is too much text', body: 'Shorten the description or the extra data.', action: 'none' },
  UNSUPPORTED_MEDIA_TYPE: {
    who: 'us',
    title: 'This page and the service do not fit together',
    body: 'Reload the page. If it stays, tell the operator.',
    action: 'retry',
  },
  RATE_LIMIT: { who: 'time', title: 'Paused for a moment', body: 'The service limits how often it is asked. It goes on by itself.', action: 'retry' },
  PAYMENT_VERIFICATION_FAILED: { who: 'network', title: 'Could not be verified', body: 'Nothing is decided: the payment may still be good.', action: 'retry' },
  CHAIN_UNAVAILABLE: {
    who: 'network',
    title: 'The network cannot be reached',
    body: 'The service gets no answer from the chain. Payments already made are safe.',
    action: 'retry',
  },
  SERVICE_UNAVAILABLE: {
    who: 'operator',
    title: 'The payment service cannot be reached',
    body: 'The desk is here, the service behind it is not. Payments already made are safe; the operator has to look.',
    action: 'retry',
  },
  INTERNAL: { who: 'us', title: 'Something failed on our side', body: 'Try again. If it stays, give the operator the number below.', action: 'retry' },
  OFFLINE: { who: 'you', title: 'The payment desk cannot be reached', body: 'Check your connection. What is on screen may be old.', action: 'retry' },
  TIMEOUT: { who: 'network', title: 'No answer in time', body: 'The payment desk took too long. Try again.', action: 'retry' },
  BAD_RESPONSE: {
    who: 'operator',
    title: 'The answer could not be read',
    body: 'This page and the service may be of different versions. Reload; if it stays, tell the operator.',
    action: 'retry',
  },
}

const unexpected: ErrorWords = { who: 'us', title: 'Something went wrong in this page', body: 'Reload it. Nothing was sent.', action: 'retry' }

/** What to tell of any error, and the line to quote in a report. */
export function describeError(error: unknown): ErrorWords & { detail?: string } {
  if (!(error instanceof ApiError)) return unexpected
  const words = errorWords[error.code]
  const detail = [error.code, error.requestId].filter(Boolean).join(' · ')
  if (error.code === 'RATE_LIMIT' && error.retryAfter)
    return { ...words, body: `The service limits how often it is asked. It goes on in ${error.retryAfter} s.`, detail }
  return { ...words, detail }
}
