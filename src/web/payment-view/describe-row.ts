import type { PaymentRow } from '#contract/payment-body.ts'
import { quoteOf } from '#contract/quote.ts'
import type { Preferences } from '../local-data/preferences.ts'
import { formatPrice } from '../locales/formats.ts'

/**
 * What a payment is for, in the words its maker gave: the resource, else the description, else the reference.
 * Of a resource the path is first, because a merchant's rows share their host: `/issues/autumn · journal.example`.
 */
export function purposeOf({
  resource,
  metadata,
}: Pick<PaymentRow, 'resource' | 'metadata'>): string | null {
  if (resource === null) return descriptionOf({ metadata }) ?? referenceOf({ metadata })
  const [, host = resource, path = ''] = /^https?:\/\/([^/?#]+)(.*)$/s.exec(resource) ?? []
  return path === '' || path === '/' ? host : `${path} · ${host}`
}

export function descriptionOf({ metadata }: Pick<PaymentRow, 'metadata'>): string | null {
  return textOf(metadata?.['description'])
}

export function referenceOf({ metadata }: Pick<PaymentRow, 'metadata'>): string | null {
  return textOf(metadata?.['referenceId'])
}

/** By which a merchant recognizes an order: its description and its reference. */
export function orderTexts(row: Pick<PaymentRow, 'metadata'>): string[] {
  const texts = [descriptionOf(row), referenceOf(row)]
  return [...new Set(texts.filter((text) => text !== null))]
}

/** The same on one line; a payment without either is named by its resource. */
export function orderLine(row: Pick<PaymentRow, 'resource' | 'metadata'>): string | null {
  return orderTexts(row).join(' · ') || purposeOf(row)
}

/** The price at which a payment was quoted. It tells the amount, so it is hidden with the amounts. */
export function quotedPriceOf(
  { metadata }: Pick<PaymentRow, 'metadata'>,
  { hideAmounts }: Pick<Preferences, 'hideAmounts'>,
): string | undefined {
  const quote = hideAmounts ? undefined : quoteOf(metadata)
  return quote && formatPrice(quote.amount, quote.currency)
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null
}
