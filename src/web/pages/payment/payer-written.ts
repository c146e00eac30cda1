import type { ShortTerms } from '#contract/payment-link.ts'

type Terms = Pick<ShortTerms, 'description' | 'reference'>

/**
 * Whether an entry of a payment's metadata may be words of its payer. Only the proxy writes `paymentLink`, and beside it nothing
 * but what follows from the link and from its price. The payer writes the description and the reference that the link leaves open.
 * @param terms of the link; undefined where they are not known: then both may be the payer's
 */
export function isPayerWritten(
  [key, value]: [string, unknown],
  { metadata, terms }: { metadata: Record<string, unknown>; terms: Terms | undefined },
): boolean {
  if (typeof metadata['paymentLink'] !== 'string') return true
  if (key === 'description') return value !== terms?.description
  return key === 'referenceId' && value !== terms?.reference
}
