import { formatAmount, parseAmount } from '#contract/amount.ts'
import type { Asset } from '#contract/network.ts'
import { readDecimal, separators } from '../../locales/decimal.ts'
import { numberLocale } from '../../locales/formats.ts'

type Decimals = Pick<Asset, 'decimals'>

/** A limit in atomic units as its field shows it: without groups, because the field is read again. */
export function writeCap(saved: string | undefined, { decimals }: Decimals): string {
  if (saved === undefined) return ''
  return formatAmount(BigInt(saved), decimals).replace('.', separators(numberLocale()).point)
}

type ReadCap =
  | { ok: true; atomic: string | undefined }
  | { ok: false; problem: 'ambiguous' | 'not_a_number' }

export function readCap(typed: string, asset: Decimals): ReadCap {
  if (typed.trim() === '') return { ok: true, atomic: undefined }
  const decimal = readDecimal(typed, numberLocale())
  if (!decimal.ok) return decimal
  // A limit of zero is one: it lets nothing out.
  if (/^0*\.?0*$/.test(decimal.plain)) return { ok: true, atomic: '0' }
  const parsed = parseAmount(decimal.plain, asset.decimals)
  return parsed.ok
    ? { ok: true, atomic: String(parsed.atomic) }
    : { ok: false, problem: 'not_a_number' }
}
