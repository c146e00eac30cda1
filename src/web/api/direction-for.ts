import type { PaymentStatusBody } from '#contract/payment-body.ts'
import type { Direction } from '#contract/payment.ts'
import type { Viewer } from './queries.ts'

/** As the service's list says it: for the account where all of it is read, otherwise by the wallets that are looked from. */
export function directionFor(payment: Pick<PaymentStatusBody, 'direction' | 'sender' | 'recipient'>, { wallets }: Viewer): Direction {
  if (wallets === 'all') return payment.direction
  const [sent, received] = [wallets.includes(payment.sender), wallets.includes(payment.recipient)]
  if (sent) return received ? 'internal' : 'sent'
  return received ? 'received' : 'external'
}
