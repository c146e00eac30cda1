import type { HostedWallet } from '#contract/hosted-endpoints.ts'
import { findAsset, type Network } from '#contract/network.ts'
import { localDecimal } from '../../../payment-flow/form/fields.ts'
import type { CheckoutPrefill, RefundedPayment } from '../../../payment-flow/form/start-values.ts'

/** As typed. */
export type HostedFields = {
  /** The managed wallet that pays: its place among all of them. */
  source: string
  recipient: string
  amount: string
  priorityFee: string
  resource: string
  description: string
  reference: string
}

/** A payment that goes back to its payer. */
export type HostedRefund = {
  payment: RefundedPayment & { sender: string }
  amount: string
  reason: string | undefined
}

/** What the page's address asks for: `from` is the managed wallet to begin with. */
export type HostedPrefill = Omit<CheckoutPrefill, 'refund'>

/** The first values of the form. An amount is a figure in one asset: without a wallet of that asset it is left out. */
export function startFields(
  wallets: readonly HostedWallet[],
  networks: readonly Network[],
  { prefill, refund }: { prefill: HostedPrefill; refund: HostedRefund | undefined },
): HostedFields {
  const network = networks.find((each) => each.network === prefill.network)
  const asset = network && findAsset(network, prefill.asset)?.address
  const isNamed = (each: HostedWallet) =>
    (prefill.from === undefined || each.wallet === prefill.from) &&
    (network === undefined || each.network === network.network)
  const isFitting = (each: HostedWallet) => isNamed(each) && each.asset === asset
  const fitting = wallets.findIndex(isFitting)
  const source = fitting < 0 ? wallets.findIndex(isNamed) : fitting
  return {
    source: String(Math.max(0, source)),
    recipient: refund?.payment.sender ?? prefill.to ?? '',
    amount: localDecimal(refund?.amount ?? (fitting < 0 ? '' : (prefill.amount ?? ''))),
    priorityFee: '',
    resource: prefill.resource ?? '',
    description: refund?.reason ?? prefill.description ?? '',
    reference: prefill.reference ?? '',
  }
}
