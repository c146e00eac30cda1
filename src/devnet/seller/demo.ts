import type { QuotedOption } from './quote.ts'

/**
 * What a visitor may ask this shop to get wrong, in the query parameter `demo`, several with commas: to see what a client does then.
 *
 * error-after-payment  the page fails once after it was paid; the same payment gets it at the next try
 * price-rises          the price has doubled by the time the payment comes
 * hidden-headers       the 402 keeps its headers from pages of other origins, and says nothing in its body
 */
const DEMOS = ['error-after-payment', 'price-rises', 'hidden-headers'] as const
export type Demo = ReadonlySet<(typeof DEMOS)[number]>

export function readDemo(text: string | undefined): Demo {
  const asked = text?.split(',') ?? []
  return new Set(DEMOS.filter((demo) => asked.includes(demo)))
}

export function raise(offers: readonly QuotedOption[]): QuotedOption[] {
  return offers.map((offer) => ({ ...offer, amount: double(offer.amount) }))
}

/** Twice a decimal, digit by digit. */
function double(text: string): string {
  const [whole = '0', fraction = ''] = text.split('.')
  const digits = (BigInt(whole + fraction) * 2n).toString().padStart(fraction.length + 1, '0')
  const point = digits.length - fraction.length
  return fraction === ''
    ? digits
    : `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.?0+$/, '')
}
