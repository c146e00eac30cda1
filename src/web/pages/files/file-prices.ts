import { formatAmount } from '#contract/amount.ts'
import type { Asset } from '#contract/network.ts'
import { checkAmount, readAmount } from '../../payment-flow/form/fields.ts'

/** A price, with its amount as it is typed. */
export type TypedPrice = { asset: Asset; amount: string }

type ReadPrices =
  | { ok: true; prices: { currency: string; amount: string }[] }
  /** By the names that the proxy has for the fields: `prices.0.amount`. */
  | { ok: false; errors: Readonly<Record<string, string>> }

/** Reads prices in the reader's number format. The proxy takes plain decimals only. */
export function readPrices(typed: readonly TypedPrice[]): ReadPrices {
  const errors: Record<string, string> = {}
  const prices = typed.flatMap(({ asset, amount }, index) => {
    const read = readAmount(amount, asset)
    if (read.ok)
      return [{ currency: asset.symbol, amount: formatAmount(read.atomic, asset.decimals) }]
    errors[`prices.${index}.amount`] = String(checkAmount(amount, asset))
    return []
  })
  return prices.length === typed.length ? { ok: true, prices } : { ok: false, errors }
}
