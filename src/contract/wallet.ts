import * as v from 'valibot'
import {
  address,
  boundedText,
  decimal,
  networkName,
  noNul,
  publicText,
  timestamp,
  wellFormed,
} from './fields.ts'
import { PaymentStatusBody } from './payment-body.ts'

/** `managed`: the service holds its key. `payout`: somebody pays it, and its owner holds the key. */
const WALLET_KINDS = ['managed', 'payout'] as const
export type WalletKind = (typeof WALLET_KINDS)[number]

/** How an account is known to own a wallet: its key is held here, the wallet signed for it, or the operator registered it. */
const OWNERSHIP_PROOFS = ['managed', 'signature', 'operator'] as const
export type OwnershipProof = (typeof OWNERSHIP_PROOFS)[number]

/** An account has at most so many managed wallets. */
export const MOST_WALLETS = 50

/** A wallet of the account whose key the service holds. */
const wallet = {
  walletId: publicText,
  walletAddress: publicText,
  family: v.picklist(['evm', 'solana']),
  name: v.string(),
  /** When the service took it. */
  timestamp,
  /** The networks on which it sends nothing until an operator has looked: the chain shows something of it that the service did not sign. */
  stopped: v.array(v.object({ network: publicText, reason: v.string(), timestamp })),
}

export const WalletList = v.object({ success: v.literal(true), wallets: v.array(v.object(wallet)) })
export const WalletBody = v.object({ success: v.literal(true), ...wallet })

/** A key is made by the service and never leaves it; an existing one is brought in by the operator alone, on the service's machine. */
export const NewWallet = v.strictObject({
  family: v.picklist(['evm', 'solana']),
  name: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'Expected a name.'),
    v.maxLength(100, 'Expected at most 100 characters.'),
    noNul(),
    wellFormed(),
  ),
})

/** For the proxy. `threshold`: of the native currency; null for no alert. */
export const BalanceAlertInput = v.strictObject({
  walletAddress: address,
  network: networkName,
  threshold: v.nullable(decimal),
})

/** A wallet that the account owns. `network`: the chain of a contract; null where a key controls the address, on every chain of its family. */
export const OwnedWallet = v.object({
  walletAddress: publicText,
  family: v.picklist(['evm', 'solana']),
  network: v.nullable(publicText),
  kind: v.picklist(WALLET_KINDS),
  proof: v.picklist(OWNERSHIP_PROOFS),
  createdAt: timestamp,
})

/** `network`: for a contract wallet (EIP-1271, ERC-6492), the chain that is asked whether it signed. */
export const PayoutChallenge = v.strictObject({
  walletAddress: address,
  network: v.optional(boundedText(60)),
})

export const PayoutChallengeBody = v.object({
  success: v.literal(true),
  challengeId: v.string(),
  /** Signed byte for byte: EIP-191 (`personal_sign`) on EVM, `signMessage` on Solana. */
  message: v.string(),
  expiresAt: timestamp,
})

/** Room for a signature that deploys its wallet (ERC-6492). */
export const MAX_SIGNATURE = 32_768

export const PayoutSignature = v.strictObject({
  challengeId: v.pipe(
    v.string(),
    v.regex(/^wch_[1-9A-HJ-NP-Za-km-z]{22}$/, 'Expected wch_ and 22 base58 characters.'),
  ),
  /** Hex (EVM) or base58 (Solana). */
  signature: v.pipe(boundedText(MAX_SIGNATURE), v.minLength(1, 'Expected a signature.')),
})

/** What is told of a payment from a managed wallet; `estimatedConfirmation` in words, for people. */
export const SentPayment = v.object({
  ...PaymentStatusBody.entries,
  estimatedConfirmation: v.string(),
})
