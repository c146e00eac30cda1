import { familyOf, type Asset, type NetworkId } from '#contract/network.ts'

/** The words of x402 that all programs share. The scheme is always `exact`; the method says how value moves. */
export const EXACT_SCHEME = 'exact'

/** ERC-20 with EIP-3009: the payer signs an authorization, the facilitator submits it. */
export const EIP3009_METHOD = 'eip3009'
/** Any ERC-20: the payer signs a Permit2 transfer to the payee, the facilitator submits it. */
export const PERMIT2_METHOD = 'permit2'
/** Tokens of Solana have no name for their method on the wire: this one stands for it inside. */
export const TOKEN_TRANSFER_METHOD = 'default'
/** Native currency that the payer broadcast itself. */
export const TXID_METHOD = 'txid'
/** Native SOL: the payer signs a transfer, the service broadcasts it. */
export const NATIVE_TRANSFER_METHOD = 'native-transfer'
/** Native ETH: the payer signs a whole transaction, the service broadcasts it. */
export const SIGNED_TRANSACTION_METHOD = 'signed-transaction'

/** Settled before the resource is served; the native methods know no other flow. */
export const UPFRONT_FLOW = 'upfront'
/** Verified, served, then settled: the flow of tokens where nothing else is said. */
export const AUTHORIZATION_FLOW = 'authorization'

/** How long a proof may be claimed after its payment, in milliseconds. */
export const MAX_PROOF_AGE_MS = 24 * 60 * 60 * 1000

/** The methods that move an asset of a network; the first is meant where none is named. */
export function methodsOf(
  network: NetworkId,
  asset: Pick<Asset, 'native'>,
): readonly [string, ...string[]] {
  if (familyOf(network) === 'evm')
    return asset.native
      ? [TXID_METHOD, SIGNED_TRANSACTION_METHOD]
      : [EIP3009_METHOD, PERMIT2_METHOD]
  return asset.native ? [NATIVE_TRANSFER_METHOD, TXID_METHOD] : [TOKEN_TRANSFER_METHOD]
}
