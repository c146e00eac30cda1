import { formatAmount, parseAmount } from '#contract/amount.ts'
import { fiatDecimals } from '#contract/invoice.ts'
import type { Session } from '#contract/dashboard-endpoints.ts'
import { findAsset, type Asset } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { isPaid } from '#contract/payment.ts'
import { RATE_DECIMALS, type RateQuote } from '#contract/quote.ts'
import { hasRole } from '#contract/role.ts'
import { directionFor } from '../../api/merge-payment.ts'
import { useSession, viewerOf } from '../../api/session.ts'
import { useNetwork } from '../../api/use-config.ts'

type RefundRights = {
  /** Whether the reader was paid, and sees what went back. */
  isPayee: boolean
  /** Whether the reader sees the payments of the whole account. */
  all: boolean
  mayRefund: boolean
}

/** What the reader may do about a refund of a payment. */
export function refundRights(
  payment: Pick<PaymentStatusBody, 'refundOf' | 'status' | 'direction' | 'sender' | 'recipient'>,
  session: Session | null,
): RefundRights {
  const viewer = viewerOf(session)
  const direction = viewer && directionFor(payment, viewer)
  const all = viewer?.wallets === 'all'
  const isPayee =
    payment.refundOf === null &&
    isPaid(payment.status) &&
    // `external`: to a wallet that the account uses and has not registered.
    (direction === 'received' || (direction === 'external' && all))
  // Who only looks at the account refunds nothing.
  const decides =
    session !== null &&
    (hasRole(session.role, 'operator') || session.wallets.includes(payment.recipient))
  return { isPayee, all, mayRefund: isPayee && decides }
}

/** `asset`: what the payment is refunded in; undefined where it is not configured any more. */
export function useRefund(payment: PaymentStatusBody): RefundRights & { asset: Asset | undefined } {
  const state = useSession()
  const network = useNetwork(payment.network)
  return {
    ...refundRights(payment, state.kind === 'known' ? state.session : null),
    asset: network && findAsset(network, payment.asset),
  }
}

/** What a part of a payment was quoted at, rounded down to the digits of the currency. */
export function quotedShare(
  { amount, currency }: Pick<RateQuote, 'amount' | 'currency'>,
  partAtomic: bigint,
  wholeAtomic: bigint,
): string {
  const price = parseAmount(amount, RATE_DECIMALS)
  if (!price.ok) return '0'
  const step = 10n ** BigInt(RATE_DECIMALS - fiatDecimals(currency))
  return formatAmount(((price.atomic * partAtomic) / (wholeAtomic * step)) * step, RATE_DECIMALS)
}
