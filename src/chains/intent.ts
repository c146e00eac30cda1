import type { Asset, NetworkId } from '#contract/network.ts'

/** What a payer asked for: the only thing transactions are compared with. */
export type PaymentIntent = {
  paymentId: string
  network: NetworkId
  asset: Asset
  /**
   * The currency of the fee, when the asset is a token; without it, the family's own (ETH, SOL) is
   * named.
   */
  currency?: Asset
  /**
   * Normal form, like every address here. Without another one, the sender is also the fee payer and
   * the only signer.
   */
  sender: string
  /**
   * Solana: the account that pays the network fee for the sender, and signs too. It takes no other
   * part.
   */
  feePayer?: string
  recipient: string
  amountAtomic: bigint
  /**
   * The most the network may charge for the transaction, in atomic units of the native currency.
   */
  maxFeeAtomic: bigint
}
