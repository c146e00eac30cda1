/** `managed`: the service holds its key. `payout`: somebody pays it, and its owner holds the key. */
export const WALLET_KINDS = ['managed', 'payout'] as const
export type WalletKind = (typeof WALLET_KINDS)[number]

/** How an account is known to own a wallet: its key is held here, the wallet signed for it, or the operator registered it. */
export const OWNERSHIP_PROOFS = ['managed', 'signature', 'operator'] as const
export type OwnershipProof = (typeof OWNERSHIP_PROOFS)[number]
