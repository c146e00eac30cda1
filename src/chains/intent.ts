import type { Asset, NetworkId } from '#contract/network.ts'

/** What a payer asked for: the only thing a transaction is ever compared with. */
export type PaymentIntent = {
  paymentId: string
  network: NetworkId
  asset: Asset
  /** The currency the fee is paid in, where the asset is a token; without it the family's own (ETH, SOL) is named. */
  currency?: Asset
  /** Normal form, like every address here. The sender is also the fee payer and the only signer, where no sponsor is named. */
  sender: string
  /** Solana: who pays the network in the sender's place, and signs beside it. It takes no other part. */
  sponsor?: string
  recipient: string
  amountAtomic: bigint
  /** The most the network may charge for the transaction, in atomic units of the native currency. */
  maxFeeAtomic: bigint
}
