import { msg } from '@lingui/core/macro'
import * as v from 'valibot'
import {
  AssetReason,
  BalanceReason,
  isAmount,
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
import type { ErrorRow } from './row.ts'

const operator = { who: 'operator', action: 'change', retry: 'after_change' } as const

/** The table's part for tokens that cannot be paid exactly. A missing code does not compile. */
export const assetReasons: Readonly<Record<AssetReason['code'], ErrorRow>> = {
  asset_missing: {
    ...operator,
    title: msg({ message: '{symbol} does not exist on this network' }),
    body: msg`Choose another currency, or tell the merchant. Nothing was sent.`,
  },
  asset_decimals_differ: {
    ...operator,
    title: msg({ message: '{symbol} is configured incorrectly' }),
    body: msg({
      message:
        'The token has {onChain} decimals, not {configured}. Choose another currency, or tell the merchant. Nothing was sent.',
    }),
  },
  asset_not_transferable: {
    ...operator,
    title: msg({ message: '{symbol} cannot be transferred' }),
    body: msg`Its issuer does not allow transfers. Choose another currency. Nothing was sent.`,
  },
  asset_calls_program: {
    ...operator,
    title: msg({ message: '{symbol} runs another program with every transfer' }),
    body: msg`That program is not known here. Choose another currency. Nothing was sent.`,
  },
  asset_keeps_part: {
    ...operator,
    title: msg({ message: '{symbol} keeps a part of every transfer' }),
    body: msg({
      message: 'Of {sent}, only {arrives} would arrive. Choose another currency. Nothing was sent.',
    }),
  },
  asset_gas_too_high: {
    ...operator,
    title: msg({ message: '{symbol} needs too much gas' }),
    body: msg({
      message:
        'A transfer of it needs more than {maxGas} gas. Choose another currency. Nothing was sent.',
    }),
  },
}

const addFunds = { who: 'you', action: 'retry', retry: 'safe' } as const

/** The table's part for balances that do not cover the payment. A missing code does not compile. Beside the parameters of the reason: `missing`, `symbol`. */
export const balanceReasons: Readonly<Record<BalanceReason['code'], ErrorRow>> = {
  amount_and_fee: {
    ...addFunds,
    title: msg`Not enough in this wallet`,
    body: msg({
      message:
        'The wallet holds {available}. The payment needs up to {required}, network fee included. It lacks {missing}: add funds or pay less. Nothing was sent.',
    }),
  },
  amount_fee_and_rent: {
    ...addFunds,
    title: msg`Not enough in this wallet`,
    body: msg({
      message:
        'The wallet holds {available} and must keep {rent}. With the network fee, the payment needs {required}. It lacks {missing}: add funds or pay less. Nothing was sent.',
    }),
  },
  network_fee: {
    ...addFunds,
    title: msg({ message: 'Not enough {symbol} for the network fee' }),
    body: msg({
      message:
        'The wallet holds {available}. The network fee is up to {required}. It lacks {missing}: add funds. Nothing was sent.',
    }),
  },
  network_fee_and_rent: {
    ...addFunds,
    title: msg({ message: 'Not enough {symbol} for the network fee' }),
    body: msg({
      message:
        'The wallet holds {available} and must keep {rent}. The network fee is up to {fee}. It lacks {missing}: add funds. Nothing was sent.',
    }),
  },
  token_amount: {
    ...addFunds,
    title: msg({ message: 'Not enough {symbol} in this wallet' }),
    body: msg({
      message:
        'The wallet holds {available}. The payment needs {required}. It lacks {missing}: add funds or pay less. Nothing was sent.',
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
}: Pick<ApiError, 'code' | 'details'>): { title: string; body: string } | undefined {
  const { reason } = details
  if (code === 'INVALID_RECIPIENT')
    return render(v.safeParse(RecipientReason, reason), recipientReasons)
  if (code === 'INSUFFICIENT_BALANCE')
    return render(v.safeParse(BalanceReason, reason), balanceReasons)
  if (code === 'INVALID_PARAMETERS')
    return (
      render(v.safeParse(SenderReason, reason), senderReasons) ??
      render(v.safeParse(AssetReason, reason), assetReasons)
    )
  return undefined
}

type Parsed<Known extends Reason> = { success: true; output: Known } | { success: false }

function render<Known extends Reason>(
  parsed: Parsed<Known>,
  table: Readonly<Record<Known['code'], ErrorRow>>,
): { title: string; body: string } | undefined {
  if (!parsed.success) return undefined
  const code: Known['code'] = parsed.output.code
  const { title, body } = table[code]
  const values = valuesOf(parsed.output)
  return { title: i18n._({ ...title, values }), body: i18n._({ ...body, values }) }
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

/**
 * The table's part for wallets that cannot pay, regardless of their balance. A missing code does
 * not compile.
 */
export const senderReasons: Readonly<Record<SenderReason['code'], ErrorRow>> = {
  sender_is_contract: {
    ...change,
    title: msg`The wallet that pays is a contract`,
    body: msg`No key can sign for it. Pay with another wallet. Nothing was sent.`,
  },
  sender_is_program_account: {
    ...change,
    title: msg`The account that pays is not a wallet`,
    body: msg`It belongs to a program. Pay with another wallet. Nothing was sent.`,
  },
  sender_token_account_frozen: {
    ...change,
    title: msg({ message: 'The {symbol} account that pays is frozen' }),
    body: msg({
      message: 'The issuer of {symbol} froze it. Pay with another wallet. Nothing was sent.',
    }),
  },
}
