import type { PayerEvidenceRequest } from '#contract/payer-evidence.ts'
import type { Match, Step } from '#chains/match.ts'
import type {
  CheckedTransaction,
  WalletPaymentIntent,
  Reading,
  Sent,
  Simulation,
  TransactionOwner,
  UnnamedTransaction,
  UserError,
} from './intent.ts'

/** What a payment needs from outside: the service, the wallet, the chain and the clock. `src/web/payment-flow` drives them; wallets implement them. */

/** `evidence`: whether the service put random digits into the fees, and what the payer signs where their wallet replaces them. */
export type BuiltReply = {
  paymentId: string
  bytes: Uint8Array
  lastValidBlockHeight: number
  expiresAt: number
  evidence?: { fingerprint: boolean; request: PayerEvidenceRequest | null }
}

export interface PaymentService {
  /** Asks for an unsigned transaction. Repeating it with the same key answers the same. Throws what `explain` understands. */
  build(order: WalletPaymentIntent, key: string): Promise<BuiltReply>
  /** Tells the service what was broadcast. Not needed for the payment, only for a quicker answer. */
  report(paymentId: string, signature: string): Promise<void>
  /** Gives up a refund on EVM that was surely never signed: it holds its amount until then. Absent where no refund is built. */
  release?(order: WalletPaymentIntent, paymentId: string): Promise<void>
  /** An error of `build` in words. */
  explain(error: unknown): UserError
}

/** What a wallet did with a request. Only `sent` and `lost` mean that bytes may be outside. */
export type WalletResponse =
  | { kind: 'signed'; bytes: Uint8Array }
  | { kind: 'sent'; signature: string }
  | { kind: 'refused'; userError: UserError }
  | { kind: 'signer_changed' }
  | { kind: 'lost' }

export interface PaymentWallet {
  /** I5: the address the wallet would sign with now, read from the wallet and not from memory; null while none is connected. */
  signer(order: WalletPaymentIntent): Promise<string | null>
  /** Brings the wallet to the order's network before anything is built; what went wrong, in words. Never throws. Absent where a wallet has no network. */
  prepare?(order: WalletPaymentIntent): Promise<UserError | null>
  /**
   * Whether the wallet declares that it sends with the nonce it is asked with and never chooses
   * another. Never throws; false where it cannot be told. Absent where the page broadcasts.
   */
  keepsNonce?(order: WalletPaymentIntent): Promise<boolean>
  /** Never throws: every way a wallet can fail is an answer. */
  pay(order: WalletPaymentIntent, built: CheckedTransaction): Promise<WalletResponse>
}

/** The user's own RPC. Calls throw when it cannot be reached, except `read` and `simulate`, for which that is an answer. */
export interface PaymentChain {
  /** Mean time between blocks, for estimates only. */
  blockTimeMs(order: WalletPaymentIntent): number
  /** `slot`, Solana: that of the block at `height`. */
  head(
    order: WalletPaymentIntent,
  ): Promise<{ height: number; finalizedHeight: number; slot?: number }>
  feeCap(order: WalletPaymentIntent): Promise<bigint>
  /** Whether the chain that `bytes` are bound to (chain id, blockhash) is the one this RPC reads; null when it could not be asked. */
  knows(order: WalletPaymentIntent, bytes: Uint8Array): Promise<boolean | null>
  simulate(order: WalletPaymentIntent, bytes: Uint8Array): Promise<Simulation>
  /** Sends signed bytes; the same bytes any number of times. Not offered where the wallet sends. */
  broadcast(order: WalletPaymentIntent, bytes: Uint8Array): Promise<void>
  /** `ownerOf`, EVM: asked before a transaction is taken for the payment by what it pays alone. */
  read(
    order: WalletPaymentIntent,
    built: CheckedTransaction,
    sent: Sent & { ownerOf?: (found: UnnamedTransaction) => Promise<TransactionOwner> },
  ): Promise<Reading>
}

/** What belongs to one attempt of an order. */
type Attempt = { paymentId: string; maxFeeAtomic: bigint }

/** Reads transactions from their bytes in this browser; pure, but loaded late. */
export interface TransactionReader {
  match(
    order: WalletPaymentIntent,
    attempt: Attempt & { chainKnown: boolean | null },
    bytes: Uint8Array,
  ): Match
  describe(order: WalletPaymentIntent, attempt: Attempt, bytes: Uint8Array): readonly Step[]
  /** EVM only. */
  nonce(order: WalletPaymentIntent, bytes: Uint8Array): number | null
  /** I6: whether what the wallet signed means what was shown, and the signature it will be known by. */
  compareSigned(
    order: WalletPaymentIntent,
    built: CheckedTransaction,
    signed: Uint8Array,
  ): { ok: true; signature: string } | { ok: false; difference: string }
}

export interface Clock {
  /** Unix milliseconds on the service's clock. */
  now(): number
  /** Resolves after `ms`, or at once when `signal` is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}
