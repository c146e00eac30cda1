import { msg } from '@lingui/core/macro'
import * as v from 'valibot'
import {
  AssetReason,
  BalanceReason,
  isAmount,
  LimitReason,
  RecipientReason,
  SenderReason,
  type Reason,
  type ReasonAmount,
} from '#contract/reasons.ts'
import type { ApiError } from '../api/errors.ts'
import { cleanText } from '../local-data/clean-text.ts'
import { i18n } from '../locales/i18n.ts'
import { formatAmountText } from '../ui/format-amount.ts'
import { recipientReasons } from './recipient-reasons.ts'
import { formatBody, type ErrorRow } from './row.ts'

const operator = { who: 'operator', action: 'change', retry: 'after_change' } as const

/** The table's part for tokens that cannot be paid exactly. A missing code does not compile. */
export const assetReasons: Readonly<Record<AssetReason['code'], ErrorRow>> = {
  asset_missing: {
    ...operator,
    title: msg({ message: '{symbol} missing on this network' }),
    unsent: true,
    body: msg`Choose another currency.`,
  },
  asset_decimals_differ: {
    ...operator,
    title: msg({ message: '{symbol} has {onChain} decimals, not {configured}' }),
    unsent: true,
    body: msg({ message: 'Tell the merchant.' }),
  },
  asset_not_transferable: {
    ...operator,
    title: msg({ message: '{symbol} cannot be transferred' }),
    unsent: true,
    body: msg`Choose another currency.`,
  },
  asset_calls_program: {
    ...operator,
    title: msg({ message: '{symbol} calls an unknown program' }),
    unsent: true,
    body: msg`Choose another currency.`,
  },
  asset_keeps_part: {
    ...operator,
    title: msg({ message: 'Only {arrives} of {sent} would arrive' }),
    unsent: true,
    body: msg`Choose another currency.`,
  },
  asset_gas_too_high: {
    ...operator,
    title: msg({ message: '{symbol} needs over {maxGas} gas' }),
    unsent: true,
    body: msg`Choose another currency.`,
  },
}

const addFunds = { who: 'you', action: 'retry', retry: 'safe' } as const

/** The table's part for balances that do not cover the payment. A missing code does not compile. Beside the parameters of the reason: `missing`, `symbol`. */
export const balanceReasons: Readonly<Record<BalanceReason['code'], ErrorRow>> = {
  amount_and_fee: {
    ...addFunds,
    title: msg`Balance too low`,
    unsent: true,
    body: msg({
      message: 'Balance: {available}. Needed with fee: {required}. Missing: {missing}.',
    }),
  },
  amount_fee_and_rent: {
    ...addFunds,
    title: msg`Balance too low`,
    unsent: true,
    body: msg({
      message:
        'Balance: {available}. Minimum: {rent}. Needed with fee: {required}. Missing: {missing}.',
    }),
  },
  network_fee: {
    ...addFunds,
    title: msg({ message: '{symbol} missing for the fee' }),
    unsent: true,
    body: msg({
      message: 'Balance: {available}. Needed: {required}. Missing: {missing}.',
    }),
  },
  network_fee_and_rent: {
    ...addFunds,
    title: msg({ message: '{symbol} missing for the fee' }),
    unsent: true,
    body: msg({
      message:
        'Balance: {available}. Minimum: {rent}. Needed with fee: {required}. Missing: {missing}.',
    }),
  },
  token_amount: {
    ...addFunds,
    title: msg({ message: 'Not enough {symbol}' }),
    unsent: true,
    body: msg({
      message: 'Balance: {available}. Needed: {required}. Missing: {missing}.',
    }),
  },
}

/**
 * Why a payment was refused before it was built, with its figures, in the reader's language. Undefined where the refusal names no reason that this page
 * knows: then its code alone is told, never the service's own sentence.
 */
export function renderReason({
  code,
  details,
}: Pick<ApiError, 'code' | 'details'>): RenderedReason | undefined {
  const { reason } = details
  if (code === 'INVALID_RECIPIENT')
    return render(v.safeParse(RecipientReason, reason), recipientReasons)
  if (code === 'INSUFFICIENT_BALANCE')
    return render(v.safeParse(BalanceReason, reason), balanceReasons)
  if (code === 'INVALID_PARAMETERS')
    return (
      render(v.safeParse(SenderReason, reason), senderReasons) ??
      render(v.safeParse(AssetReason, reason), assetReasons) ??
      renderLimit(v.safeParse(LimitReason, reason))
    )
  return undefined
}

/** `fields`: the text for the input that it is about, by its name in the form. */
export type RenderedReason = { title: string; body: string; fields?: Record<string, string> }

function renderLimit(parsed: Parsed<LimitReason>): RenderedReason | undefined {
  const rendered = render(parsed, limitReasons)
  if (!parsed.success || !rendered) return undefined
  const input = parsed.output.code.startsWith('priority_fee') ? 'priorityFee' : 'amount'
  return { ...rendered, fields: { [input]: formatLimit(parsed.output) } }
}

/** The limit alone, as a field says it. */
export function formatLimit(reason: LimitReason): string {
  return i18n._({ ...limitReasons[reason.code].body, values: valuesOf(reason) })
}

type Parsed<Known extends Reason> = { success: true; output: Known } | { success: false }

function render<Known extends Reason>(
  parsed: Parsed<Known>,
  table: Readonly<Record<Known['code'], ErrorRow>>,
): { title: string; body: string } | undefined {
  if (!parsed.success) return undefined
  const code: Known['code'] = parsed.output.code
  const row = table[code]
  const values = valuesOf(parsed.output)
  return { title: i18n._({ ...row.title, values }), body: formatBody(row, values) }
}

/** The parameters as text, by name. Of a balance also what is missing, and of which asset. */
function valuesOf({ params }: Reason): Record<string, string> {
  const values = Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, textOf(value)]),
  )
  if (!('required' in params)) return values
  const { required, available } = params
  const missing = { ...required, amountAtomic: required.amountAtomic - available.amountAtomic }
  return { ...values, missing: amountText(missing), symbol: cleanText(required.symbol).text }
}

function textOf(value: unknown): string {
  if (isAmount(value)) return amountText(value)
  return typeof value === 'number'
    ? formatAmountText(BigInt(value), 0).text
    : cleanText(String(value)).text
}

/** Every digit, as the reader writes figures. */
function amountText({ amountAtomic, symbol, decimals }: ReasonAmount): string {
  return `${formatAmountText(amountAtomic, decimals, { exact: true }).text} ${cleanText(symbol).text}`
}

const change = { who: 'you', action: 'change', retry: 'after_change' } as const

/** The table's part for amounts and fees beyond a limit. A missing code does not compile. */
export const limitReasons: Readonly<Record<LimitReason['code'], ErrorRow>> = {
  amount_below_minimum: {
    ...change,
    title: msg`Amount too small`,
    unsent: true,
    body: msg({ message: 'Enter at least {minimum}.' }),
  },
  amount_above_maximum: {
    ...change,
    title: msg`Amount too large`,
    unsent: true,
    body: msg({ message: 'Enter at most {maximum}.' }),
  },
  priority_fee_below_minimum: {
    ...change,
    title: msg`Priority fee too small`,
    unsent: true,
    body: msg({ message: 'Enter at least {minimum}.' }),
  },
  priority_fee_above_maximum: {
    ...change,
    title: msg`Priority fee too large`,
    unsent: true,
    body: msg({ message: 'Enter at most {maximum}.' }),
  },
  hosted_over_payment: {
    ...change,
    title: msg`Above the payment limit`,
    unsent: true,
    body: msg({ message: 'Enter at most {maximum}.' }),
  },
  hosted_over_day: {
    ...change,
    title: msg`Above the 24-hour limit`,
    unsent: true,
    body: msg({ message: 'Enter at most {maximum}, or try later.' }),
  },
}

/**
 * The table's part for wallets that cannot pay, regardless of their balance. A missing code does
 * not compile.
 */
export const senderReasons: Readonly<Record<SenderReason['code'], ErrorRow>> = {
  sender_is_contract: {
    ...change,
    title: msg`Paying wallet is a contract`,
    unsent: true,
    body: msg`Pay with another wallet.`,
  },
  sender_is_program_account: {
    ...change,
    title: msg`Paying account is not a wallet`,
    unsent: true,
    body: msg`Pay with another wallet.`,
  },
  sender_token_account_frozen: {
    ...change,
    title: msg({ message: 'Paying {symbol} account is frozen' }),
    unsent: true,
    body: msg({
      message: 'Pay with another wallet.',
    }),
  },
}
