import { formatNumber, formatPrice } from '../locales/formats.ts'
import type { PaymentQuantity } from '../payment-intent/intent.ts'

/** `3 × €12.50`: how many, and the price of one. */
export function formatQuantity({ pieces, price }: PaymentQuantity): string {
  return `${formatNumber(pieces)} × ${formatPrice(price.amount, price.currency)}`
}
