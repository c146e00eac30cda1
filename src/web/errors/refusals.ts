import { msg } from '@lingui/core/macro'
import { reasonCodeOf, type RefusalCode } from '#contract/reasons.ts'
import { i18n } from '../locales/i18n.ts'
import { describeError } from './codes.ts'
import { ApiError } from '../api/errors.ts'
import { formatBody, type ErrorRow } from './row.ts'

const link = { who: 'payer', action: 'none', retry: 'never' } as const
const hosted = { who: 'you', action: 'change', retry: 'after_change' } as const
const role = { who: 'you', action: 'sign_in', retry: 'after_change' } as const
const approval = { who: 'you', action: 'sign_again', retry: 'after_change' } as const

const quoteOver = {
  who: 'time',
  action: 'change',
  retry: 'after_change',
  title: msg`Price expired`,
  unsent: true,
  body: msg`Refresh it.`,
} as const
const noRate = {
  who: 'time',
  action: 'retry',
  retry: 'safe',
  title: msg`No current rate`,
  unsent: true,
  body: msg`Try again in two minutes.`,
} as const

/** What the keys page finds out by itself. */
type OwnRefusal = 'key_answer_lost' | 'key_not_given'

/** The table's part for what the service or the proxy refuses with a reason, told by that reason and not by its code alone. A missing code does not compile. */
export const refusals = {
  link_changed: {
    ...link,
    title: msg`Link changed or incomplete`,
    unsent: true,
    body: msg`Ask for a new link.`,
  },
  link_other_terms: {
    ...link,
    who: 'operator',
    title: msg`Link terms were changed`,
    unsent: true,
    body: msg`Do not pay. Tell the merchant.`,
  },
  link_expired: {
    ...link,
    title: msg`Payment link expired`,
    unsent: true,
    body: msg`Ask for a new link.`,
  },
  /** By whom is not known here: perhaps by this payer, on another device. */
  link_used: {
    ...link,
    title: msg`Payment link already paid`,
    body: msg`Not paid by you? Ask for a new link.`,
  },
  link_busy: {
    who: 'time',
    action: 'retry',
    retry: 'safe',
    title: msg`Link is being paid`,
    body: msg`Try again in two minutes.`,
  },
  link_withdrawn: {
    ...link,
    title: msg`Payment link deactivated`,
    unsent: true,
    body: msg`Ask for a new link.`,
  },
  link_wallet: {
    ...link,
    title: msg`Link wallet is outdated`,
    unsent: true,
    body: msg`Ask for a new link.`,
  },
  link_network: {
    ...link,
    title: msg`Network no longer accepted`,
    unsent: true,
    body: msg`Ask for a new link.`,
  },
  link_unknown: {
    ...link,
    title: msg`Payment link not found`,
    unsent: true,
    body: msg`Ask for a new link.`,
  },

  source_unavailable: {
    who: 'time',
    action: 'retry',
    retry: 'safe',
    title: msg`File not available`,
    unsent: true,
    body: msg`Try again later.`,
  },

  link_option: {
    ...link,
    title: msg`Currency no longer accepted`,
    unsent: true,
    body: msg`Choose another currency.`,
  },
  link_quote: quoteOver,
  quote_expired: quoteOver,
  quote_outrun: { ...quoteOver, title: msg`Price changed` },
  rate_unknown: {
    ...link,
    title: msg`No current rate`,
    unsent: true,
    body: msg`Choose another currency.`,
  },
  rate_stale: noRate,
  rate_disputed: noRate,

  hosted_off: {
    ...hosted,
    who: 'operator',
    title: msg`Managed payments are off`,
    unsent: true,
    body: msg`Ask the operator.`,
  },
  hosted_wallet: {
    ...hosted,
    title: msg`Wallet cannot use this currency`,
    unsent: true,
    body: msg`Choose another currency.`,
  },
  hosted_signer: {
    ...hosted,
    action: 'sign_in',
    title: msg`Wallet is not an operator`,
    unsent: true,
    body: msg`Use an operator wallet.`,
  },
  hosted_intent: {
    who: 'you',
    action: 'wait',
    retry: 'look_first',
    title: msg`Payment unknown to this session`,
    body: msg`Check Payments before paying again.`,
  },
  hosted_expired: {
    ...hosted,
    who: 'time',
    action: 'prepare_again',
    retry: 'safe',
    title: msg`Signing time expired`,
    unsent: true,
    body: msg`Prepare it again.`,
  },
  hosted_used: {
    who: 'you',
    action: 'wait',
    retry: 'look_first',
    title: msg`Payment already signed`,
    body: msg`Check Payments before paying again.`,
  },
  hosted_signature: {
    ...hosted,
    action: 'prepare_again',
    title: msg`Wrong signature`,
    unsent: true,
    body: msg`Use the named wallet.`,
  },
  hosted_not_sent: {
    ...hosted,
    who: 'network',
    action: 'prepare_again',
    retry: 'safe',
    title: msg`Payment service unreachable`,
    unsent: true,
    body: msg`Prepare it again.`,
  },

  approval_required: {
    ...approval,
    title: msg`Signature missing`,
    unchanged: true,
    body: msg`Sign the text.`,
  },
  approval_signer: {
    ...approval,
    action: 'connect',
    title: msg`Wrong signature`,
    unchanged: true,
    body: msg`Use an owner’s wallet.`,
  },
  approval_over: {
    ...approval,
    who: 'time',
    retry: 'safe',
    title: msg`Signature expired or used`,
    unchanged: true,
    body: msg`Sign within five minutes.`,
  },
  approval_signature: {
    ...approval,
    title: msg`Wrong signature`,
    unchanged: true,
    body: msg`Sign the text unchanged.`,
  },
  /** No answer of the proxy: whether there is a key now, only the list tells. */
  key_answer_lost: {
    who: 'network',
    action: 'wait',
    retry: 'look_first',
    title: msg`Key creation unconfirmed`,
    body: msg`Delete any key whose secret was not shown.`,
  },
  key_not_given: {
    who: 'operator',
    action: 'change',
    retry: 'after_change',
    title: msg`Permissions unavailable`,
    unchanged: true,
    body: msg`Ask the operator.`,
  },
  own_key: {
    who: 'operator',
    action: 'none',
    retry: 'never',
    title: msg`Dashboard key in use`,
    unchanged: true,
    body: msg`First replace it in SERVICE_API_KEY.`,
  },
  scope_missing: {
    who: 'operator',
    action: 'none',
    retry: 'after_change',
    title: msg`Dashboard key lacks a permission`,
    unchanged: true,
    body: msg`Ask the operator.`,
  },
  owner_required: {
    ...role,
    title: msg`Owners only`,
    unchanged: true,
    body: msg`Use an owner’s wallet.`,
  },
  operator_required: {
    ...role,
    title: msg`Operators only`,
    unchanged: true,
    body: msg`Use an operator wallet.`,
  },
  viewer_required: {
    ...role,
    title: msg`People of this account only`,
    unchanged: true,
    body: msg`Ask an owner to invite you.`,
  },
  role_held: {
    ...role,
    action: 'none',
    title: msg`You have this role already`,
    unchanged: true,
    body: msg`The invitation is still unused.`,
  },
  role_configured: {
    ...role,
    who: 'operator',
    action: 'none',
    title: msg`Configured owner`,
    unchanged: true,
    body: msg`Ask the operator.`,
  },
  invoice_state: {
    who: 'you',
    action: 'none',
    retry: 'after_change',
    title: msg`Invoice changed meanwhile`,
    unchanged: true,
    body: msg`Reload the page.`,
  },
  invoice_draft: {
    who: 'you',
    action: 'none',
    retry: 'after_change',
    title: msg`Draft cannot be issued`,
    unchanged: true,
    body: msg`Check due date and total.`,
  },
  invoice_paid: {
    who: 'you',
    action: 'none',
    retry: 'never',
    title: msg`Payment received`,
    unchanged: true,
    body: msg`Refund it instead.`,
  },
  invitation_over: {
    ...role,
    action: 'none',
    title: msg`Invitation no longer valid`,
    unchanged: true,
    body: msg`Ask an owner to invite you.`,
  },
  file_not_paid: {
    ...role,
    title: msg`Not bought with this wallet`,
    unchanged: true,
    body: msg`Use the wallet that paid.`,
  },
  file_sold_lately: {
    ...role,
    who: 'time',
    action: 'wait',
    title: msg`Stop selling the file first`,
    unchanged: true,
    body: msg`Delete it a day later.`,
  },
  file_bought: {
    ...role,
    action: 'none',
    title: msg`File has buyers`,
    unchanged: true,
    body: msg`Buyers can still download it.`,
  },
  files_off: {
    ...role,
    who: 'operator',
    action: 'none',
    title: msg`Files are turned off`,
    unchanged: true,
    body: msg`Ask the operator.`,
  },
  transfer_refunded: {
    who: 'you',
    action: 'none',
    retry: 'after_change',
    title: msg`Already refunded, or a refund is under way`,
    unsent: true,
    body: msg`Check the unmatched payments.`,
  },
  payee_required: {
    who: 'you',
    action: 'sign_in',
    retry: 'after_change',
    title: msg`Recipient only`,
    unsent: true,
    body: msg`Use the recipient’s wallet.`,
  },
} as const satisfies Record<RefusalCode | OwnRefusal, ErrorRow>
export type RefusalReason = keyof typeof refusals

/** The reason of a refusal, where the proxy names one that this page knows. */
export function refusalOf(error: unknown): RefusalReason | undefined {
  const reason = error instanceof ApiError ? reasonCodeOf(error.details) : undefined
  return reason !== undefined && Object.hasOwn(refusals, reason)
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
  const row: ErrorRow = refusals[reason]
  return { title: i18n._(row.title), body: formatBody(row), action: row.action }
}
