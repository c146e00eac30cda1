import { msg } from '@lingui/core/macro'
import { i18n } from '../locales/i18n.ts'
import { describeError } from './codes.ts'
import { ApiError } from '../api/errors.ts'
import type { ErrorRow } from './row.ts'

const link = { who: 'payer', action: 'none', retry: 'never' } as const
const hosted = { who: 'you', action: 'change', retry: 'after_change' } as const
const key = { who: 'you', action: 'sign_again', retry: 'after_change' } as const

/** The table's part for what the proxy refuses with a reason, told by that reason and not by its code alone. */
export const refusals = {
  link_changed: {
    ...link,
    title: msg`This payment link is not as its seller made it`,
    body: msg`It was changed on its way, or not copied whole. Nothing was sent. Ask the seller for the link again.`,
  },
  link_other_terms: {
    ...link,
    who: 'operator',
    title: msg`The link does not match the merchant’s terms`,
    body: msg`The link asks for something else than the merchant does. Nothing was sent. Do not pay; tell the merchant.`,
  },
  link_expired: {
    ...link,
    title: msg`This payment link has expired`,
    body: msg`Nothing was sent. Ask the seller for a new one.`,
  },
  link_used: {
    ...link,
    title: msg`This payment link is already paid`,
    body: msg`It was made for a set number of payments, and they were made. Nothing was sent now.`,
  },
  link_busy: {
    who: 'time',
    action: 'retry',
    retry: 'safe',
    title: msg`Someone is paying this link right now`,
    body: msg`It takes one more payment, and another wallet is about to make it. If it does not, you can pay in two minutes. Nothing was sent.`,
  },
  link_withdrawn: {
    ...link,
    title: msg`The seller withdrew this payment link`,
    body: msg`Nothing was sent. Ask the seller whether there is a new one.`,
  },
  link_wallet: {
    ...link,
    title: msg`This payment link pays a wallet the seller no longer uses`,
    body: msg`Nothing was sent. Ask the seller for a new link.`,
  },
  link_network: {
    ...link,
    title: msg`Payments on this network are no longer accepted`,
    body: msg`Nothing was sent. Ask the seller for a new link.`,
  },
  link_unknown: {
    ...link,
    title: msg`This payment link does not exist`,
    body: msg`Nothing was sent. Ask the seller for a new one.`,
  },

  hosted_off: {
    ...hosted,
    who: 'operator',
    title: msg`Payments from managed wallets are turned off`,
    body: msg`Nothing was sent. The operator can turn them on.`,
  },
  hosted_wallet: {
    ...hosted,
    title: msg`Payments from this wallet in this currency are not enabled`,
    body: msg`Nothing was sent. Choose another wallet or currency.`,
  },
  hosted_signer: {
    ...hosted,
    action: 'sign_in',
    title: msg`The connected wallet is not an operator`,
    body: msg`Nothing was sent. Sign in with an operator wallet, and connect it.`,
  },
  hosted_over_payment: {
    ...hosted,
    title: msg`The amount is above what one payment may be`,
    body: msg`Nothing was sent. Enter less, or ask the operator.`,
  },
  hosted_over_day: {
    ...hosted,
    title: msg`The amount is above what is left within 24 hours`,
    body: msg`Nothing was sent. Enter less, or wait until some of it is free again.`,
  },
  hosted_intent: {
    ...hosted,
    action: 'prepare_again',
    title: msg`This session has no such payment to sign`,
    body: msg`Nothing was sent now. Look at the payments before you prepare it again.`,
  },
  hosted_expired: {
    ...hosted,
    who: 'time',
    action: 'prepare_again',
    retry: 'safe',
    title: msg`Too much time passed before it was signed`,
    body: msg`Nothing was sent. Prepare it again: everything you entered is kept.`,
  },
  hosted_used: {
    who: 'you',
    action: 'wait',
    retry: 'look_first',
    title: msg`This payment was signed before`,
    body: msg`The first signature was used; this one had no effect. Check the payments before you pay again.`,
  },
  hosted_signature: {
    ...hosted,
    action: 'prepare_again',
    title: msg`The signature is not over this payment`,
    body: msg`Nothing was sent. Prepare it again and sign with the wallet it is made for.`,
  },
  hosted_not_sent: {
    ...hosted,
    who: 'network',
    action: 'prepare_again',
    retry: 'safe',
    title: msg`It never reached the payment service`,
    body: msg`Nothing was sent. Prepare it again.`,
  },

  approval_required: {
    ...key,
    title: msg`Your wallet has to sign for this key`,
    body: msg`No key was made. Ask for the text again and sign it.`,
  },
  approval_signer: {
    ...key,
    action: 'connect',
    title: msg`This wallet is not an operator`,
    body: msg`No key was made. Connect the operator wallet that you signed in with.`,
  },
  approval_over: {
    ...key,
    who: 'time',
    retry: 'safe',
    title: msg`The signature came too late, or was used before`,
    body: msg`No key was made by it now. Ask for the text again and sign it within five minutes.`,
  },
  approval_signature: {
    ...key,
    title: msg`The signature is not over this key`,
    body: msg`No key was made. Ask for the text again and sign it as it stands.`,
  },
  /** No answer of the proxy: whether there is a key now, only the list tells. */
  key_answer_lost: {
    who: 'network',
    action: 'wait',
    retry: 'look_first',
    title: msg`It is not known whether the key was made`,
    body: msg`Look at the list: a key that you never saw is of no use, so delete it and make another.`,
  },
  key_not_given: {
    who: 'operator',
    action: 'change',
    retry: 'after_change',
    title: msg`The dashboard cannot grant these scopes`,
    body: msg`No key was made. It would have more scopes than the dashboard’s own key.`,
  },
  own_key: {
    who: 'operator',
    action: 'none',
    retry: 'never',
    title: msg`The dashboard itself uses this key`,
    body: msg`Nothing was changed. Create another key, set SERVICE_API_KEY to it, and then delete this one.`,
  },
  scope_missing: {
    who: 'operator',
    action: 'none',
    retry: 'after_change',
    title: msg`The dashboard’s own key lacks a scope`,
    body: msg`Nothing was changed. The operator has to give this key more scopes.`,
  },
  operator_required: {
    who: 'you',
    action: 'sign_in',
    retry: 'after_change',
    title: msg`Only operators can do this`,
    body: msg`Nothing was changed. Sign in with an operator wallet.`,
  },
  payee_required: {
    who: 'you',
    action: 'sign_in',
    retry: 'after_change',
    title: msg`Only the wallet that is to be paid may do that`,
    body: msg`Nothing was sent. Sign in with it.`,
  },
} as const satisfies Record<string, ErrorRow>
export type RefusalReason = keyof typeof refusals

/** The reason of a refusal, where the proxy names one that this page knows. */
export function refusalOf(error: unknown): RefusalReason | undefined {
  const reason = error instanceof ApiError ? error.details['reason'] : undefined
  return typeof reason === 'string' && Object.hasOwn(refusals, reason)
    ? (reason as RefusalReason)
    : undefined
}

export type RefusalMessage = {
  code: string
  title: string
  body: string
  action: ErrorRow['action']
  detail?: string | undefined
}

/** What to tell of any error: its reason's words where it has some, its code's otherwise. */
export function describeRefusal(error: unknown): RefusalMessage {
  const { title, body, action, detail } = describeError(error)
  const code = error instanceof ApiError ? error.code : 'UNEXPECTED'
  const reason = refusalOf(error)
  return reason ? { code, ...formatRefusal(reason), detail } : { code, title, body, action, detail }
}

export function formatRefusal(
  reason: RefusalReason,
): Pick<RefusalMessage, 'title' | 'body' | 'action'> {
  const { title, body, action } = refusals[reason]
  return { title: i18n._(title), body: i18n._(body), action }
}
