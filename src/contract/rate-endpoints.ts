import * as v from 'valibot'
import type { Call } from './endpoint.ts'
import { decimalText } from './quote.ts'

export const CurrentRates = v.object({
  /** ISO 4217: the currency of the first pair that is configured; null without one. */
  currency: v.nullable(v.string()),
  /** Fiat for one whole unit of each asset, by its symbol. An asset without a usable rate is missing. */
  rates: v.record(v.string(), decimalText),
})
export type CurrentRates = v.InferOutput<typeof CurrentRates>

export const rateEndpoints = {
  /** For anybody: what the assets are worth now, for people to read. What a payment must pay never depends on it. */
  rateList: { method: 'GET', path: '/rates', response: CurrentRates },
} as const satisfies Record<string, Call>
