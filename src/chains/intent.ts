import type { Asset, NetworkId } from '#contract/network.ts'

/** What a payer asked for: the only thing a transaction is ever compared with. */
export type PaymentIntent = {
  paymentId: string
  network: NetworkId
  asset: Asset
  /** Normal form, like every address here. The sender is also the fee payer and the only signer. */
  sender: string
  recipient: string
  amountAtomic: bigint
  /** The most the transaction may cost beside the amount, in atomic units of the native currency. */
  maxFeeAtomic: bigint
}
