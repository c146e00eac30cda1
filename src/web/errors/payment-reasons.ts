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
import { i18n } from '../locales/i18n.ts'
import { cleanText } from '../local-data/clean-text.ts'
import { formatAmountText } from '../ui/format-amount.ts'
import { assetReasons } from './asset-reasons.ts'
import { balanceReasons } from './balance-reasons.ts'
import { recipientReasons } from './recipient-reasons.ts'
import type { ErrorRow } from './row.ts'
import { senderReasons } from './sender-reasons.ts'

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
