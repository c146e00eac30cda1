import { formatNumber, formatPrice } from '../locales/formats.ts'
import type { PaymentQuantity } from '../payment-intent/intent.ts'

/** `3 × €12.50`: how many, and the price of one. A single piece is not counted: its price is what is paid. */
export function formatQuantity(quantity: PaymentQuantity | undefined): string | undefined {
  if (!quantity || quantity.pieces === 1) return undefined
  const { pieces, price } = quantity
  return `${formatNumber(pieces)} × ${formatPrice(price.amount, price.currency)}`
}
