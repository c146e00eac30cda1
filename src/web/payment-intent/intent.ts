import type { Match, Step } from '#chains/match.ts'
import type { Asset, NetworkId } from '#contract/network.ts'
import type { PayerEvidenceRequest } from '#contract/payer-evidence.ts'
import type { ItemPrice, LinkItem } from '#contract/payment-link.ts'
import type { RateQuote } from '#contract/quote.ts'

/** What an order does if it is not a payment from its sender to its recipient. */
export type PaymentOperation =
  /** Allows `recipient` to take this amount of a token from `sender` later. EVM. */
  | { kind: 'approve' }
  /**
   * Collects for `recipient`, whose wallet is `sender`, what a payer's proof grants; with
   * `broadcast`, no signature is needed.
   */
  | ({ kind: 'settle'; way: 'execute' | 'co_sign' | 'broadcast' } & ProofTask)
  /** Records on the chain that `sender` received what a proof paid. It moves nothing. */
  | ({ kind: 'acknowledge' } & ProofTask)

/**
 * A payer's proof and the terms it is checked against. The proof is as good as money until it is
 * used: it is kept only while the order is open.
 */
export type ProofTask = {
  proof: string
  /** The asset's address. */
  asset: string
  amountAtomic: bigint
  resource: string | null
  memo: string | null
}

/**
 * The payment a person requested. Created before the first request; `id` is the intent's id and the
 * idempotency key of its first attempt.
 */
export type WalletPaymentIntent = {
  id: string
  /** Unix milliseconds. */
  createdAt: number
  network: NetworkId
  asset: Asset
  sender: string
  recipient: string
  amountAtomic: bigint
  /** The total priority fee that the payer gives the validator; automatic if undefined. */
  priorityFeeAtomic?: bigint
  resource?: string
  description?: string
  reference?: string
  /** The payment that this one refunds, as recorded in its metadata. */
  refundOf?: string
  walletName: string
  /** A wallet elsewhere reads the payment as a code, builds its own transaction and sends it. */
  byCode?: true
  /** The wallet only signs, on EVM too: the payee sends the message. */
  signedOnly?: true
  /** Solana: the account that pays the network fee for the sender, and signs and sends last. */
  feePayer?: string
  operation?: PaymentOperation
  /**
   * The merchant's link that set the terms, its whole text; `setBy` names the merchant to the
   * payer.
   */
  link?: {
    text: string
    setBy: string
    returnUrl: string | null
    choice?: LinkChoice
    email?: string
  }
  /** Of a price in fiat. */
  quote?: RateQuote
  /** The product that the link sells. */
  item?: PaymentItem
  /** Of a link without a product whose payer chooses how many pieces. */
  quantity?: PaymentQuantity
}

/** `price`: of one piece. */
export type PaymentQuantity = { price: ItemPrice; pieces: number }
export type PaymentItem = Omit<LinkItem, 'product'> & PaymentQuantity

/** How a short link is paid: what the proxy is asked for, and what it leaves open. */
export type LinkChoice = {
  token: string | null
  pieces: number
  open: { amount: boolean; description: boolean; reference: boolean; asset: boolean }
}

/**
 * Whether a wallet connected here signs: a transaction that others have fully signed is only
 * broadcast, and a code is read by a wallet elsewhere.
 */
export function needsWallet({
  operation,
  byCode,
}: Pick<WalletPaymentIntent, 'operation' | 'byCode'>): boolean {
  return !byCode && (operation?.kind !== 'settle' || operation.way !== 'broadcast')
}

/** An unsigned transaction as the service built it and as this browser decoded it. */
export type CheckedTransaction = {
  paymentId: string
  bytes: Uint8Array
  lastValidBlockHeight: number
  /**
   * Unix milliseconds on the service's clock: the earlier of the service's own deadline and the
   * estimate from our RPC's block height.
   */
  deadlineAt: number
  /** Our own RPC's height when the transaction arrived, at or below the block it can land in. */
  builtHeight: number
  /** Solana: the slot of that block. */
  builtSlot?: number
  /** EVM only, decoded from the bytes. */
  nonce: number | null
  /** The fee cap that the transaction was checked against. */
  maxFeeAtomic: bigint
  /**
   * EVM: whether the fees carry random digits, so that a wallet which keeps them ties its
   * transaction to this payment.
   */
  fingerprint?: boolean
  /**
   * EVM: what the service asks the payer to sign if the wallet replaces the fees. Checked before it
   * is used.
   */
  evidenceRequest?: PayerEvidenceRequest | null
  /**
   * Digest of the meaning of `bytes`: what the person reviews and what is signed must have the
   * same.
   */
  digest: string
}

/**
 * What left the wallet. On EVM the wallet sends by itself, so there are no bytes; no signature
 * means that the wallet's answer was lost. `nonce`, EVM: the one it certainly has, because a node
 * showed it or the wallet keeps nonces. A wallet may choose another than the one that was built.
 */
export type Sent = { bytes: Uint8Array | null; signature: string | null; nonce?: number }

/** A transaction that a search found by what it pays: its wallet did not name it. */
export type UnnamedTransaction = { signature: string; nonce: number }

/** Whose that is. `free`: no other payment of this browser has it. `open`: another one may still learn that it is its own. */
export type TransactionOwner = 'free' | 'other' | 'open'

export type Severity = 'info' | 'warn' | 'critical'

/**
 * One finding of the review. The payer must tick a warning; a critical one blocks, without an
 * override.
 */
export type Finding = { code: string; severity: Severity; text: string }

/** A token payment changes the payer's token balance and, through the fee, their native balance. */
export type BalanceChange = {
  who: 'you' | 'recipient'
  address: string
  asset: Asset
  beforeAtomic: bigint
  afterAtomic: bigint
}

/** `unavailable` is not `passed`: it becomes a warning. */
export type Simulation =
  | { state: 'running' }
  | { state: 'passed'; changes: readonly BalanceChange[] }
  | { state: 'failed'; reason: string }
  | { state: 'unavailable'; reason: string }

export type Review = {
  match: Match
  steps: readonly Step[]
  simulation: Simulation
  findings: readonly Finding[]
  verdict: 'ok' | 'warn' | 'blocked'
}

/** The transaction as our own RPC shows it. */
export type LandedPayment = {
  signature: string
  /** Block (EVM) or slot (Solana). */
  height: number
  blockHash: string | null
  confirmations: number
  requiredConfirmations: number
  feeAtomic: bigint
  /** Unix milliseconds. Read for a payment with a quote, which may land late; undefined where the node does not say. */
  blockTime?: number | undefined
}

/** One reading of the chain through the user's RPC. */
export type Reading =
  | { kind: 'unavailable'; at: number }
  /**
   * Not seen; `finalizedHeight` is the height that can no longer be reorganized (Solana: block
   * height). `over`: what the payer signed as a message was unused in a finalized block after its
   * expiry.
   */
  | { kind: 'absent'; at: number; finalizedHeight: number; over?: true }
  /** `nonce`, EVM: the one that the wallet gave it. */
  | { kind: 'pending'; at: number; signature: string; nonce?: number }
  | {
      kind: 'landed'
      at: number
      nonce?: number
      landed: LandedPayment
      outcome: 'paid' | 'reverted' | 'other'
      failure: string | null
      commitment: 'processed' | 'confirmed' | 'finalized'
    }
  /** EVM: another transaction took the nonce. `guessed`: the wallet may have chosen another one for the payment, and no node shows it. */
  | { kind: 'superseded'; at: number; by: string | null; finalized: boolean; guessed?: true }

/** A problem that blocks the person, in words for them; `fields` names the inputs it is about. */
export type UserError = {
  code: string
  title: string
  body: string
  detail?: string
  fields?: Readonly<Record<string, string>>
}
