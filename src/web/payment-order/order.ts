import type { Match, Step } from '#chains/match.ts'
import type { Asset, NetworkId } from '#contract/network.ts'
import type { PayerEvidenceRequest } from '#contract/payer-evidence.ts'

/** What an order does where it is no payment from its sender to its recipient. */
export type Deed =
  /** Lets `recipient` take so much of a token from `sender` later. EVM. */
  | { kind: 'allow' }
  /** Collects for `recipient`, whose wallet `sender` is, what a payer's proof gives; where it is only broadcast, nobody signs. */
  | ({ kind: 'settle'; way: 'carry_out' | 'co_sign' | 'broadcast' } & Asked)
  /** Writes on the chain that `sender` has what a proof paid. It moves nothing. */
  | ({ kind: 'acknowledge' } & Asked)

/** A payer's proof and what it is held against. The proof is as good as money until it is used: it is kept while the order is open, and no longer. */
export type Asked = {
  proof: string
  /** The asset's address. */
  asset: string
  amountAtomic: bigint
  resource: string | null
  memo: string | null
}

/** What a person asked to pay. Made before the first request; `id` is the intent's id and the idempotency key of its first attempt. */
export type PaymentOrder = {
  id: string
  /** Unix milliseconds. */
  createdAt: number
  network: NetworkId
  asset: Asset
  sender: string
  recipient: string
  amountAtomic: bigint
  /** The total the payer gives the validator; automatic without it. */
  priorityFeeAtomic?: bigint
  resource?: string
  description?: string
  reference?: string
  /** The payment that this one sends back, of which its metadata tells. */
  refundOf?: string
  walletName: string
  /** The wallet only signs, on EVM too: a message that the payee sends. */
  signedOnly?: true
  /** Solana: who pays the network in the sender's place, and signs and sends last. */
  sponsor?: string
  deed?: Deed
  /** The seller's link that set the terms, its whole text; `setBy` names the seller to the payer. */
  link?: { text: string; setBy: string; returnUrl: string | null }
}

/** Whether somebody has to sign at all: what others have signed wholly is only sent. */
export function needsWallet({ deed }: Pick<PaymentOrder, 'deed'>): boolean {
  return deed?.kind !== 'settle' || deed.way !== 'broadcast'
}

/** An unsigned transaction as the service built it and as this browser read it. */
export type Built = {
  paymentId: string
  bytes: Uint8Array
  lastValidBlockHeight: number
  /** Unix milliseconds on the service's clock: the sooner of the service's own deadline and the estimate from our RPC's block height. */
  deadlineAt: number
  /** Height of our own RPC when the transaction came, at or below the block it can land in. */
  builtHeight: number
  /** EVM only, decoded from the bytes. */
  nonce: number | null
  /** The cap that the transaction was compared with. */
  maxFeeAtomic: bigint
  /** EVM: whether the fees carry random digits, so that a wallet which keeps them ties its transaction to this payment. */
  fingerprint?: boolean
  /** EVM: what the service would have the payer sign where the wallet replaces the fees. Compared before it is used. */
  evidenceRequest?: PayerEvidenceRequest | null
  /** Of the meaning of `bytes`: what the person reviews and what is signed must have the same. */
  digest: string
}

/** What left the wallet. On EVM the wallet sends by itself, so there are no bytes; without a signature the wallet's answer was lost. */
export type Sent = { bytes: Uint8Array | null; signature: string | null }

export type Severity = 'info' | 'warn' | 'critical'

/** One thing the review says about the payment. A warning needs the payer's tick; a critical one blocks, without an override. */
export type Finding = { code: string; severity: Severity; text: string }

/** A token payment changes the payer's token and, by the fee, their native currency. */
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
export type Landed = {
  signature: string
  /** Block (EVM) or slot (Solana). */
  height: number
  blockHash: string | null
  confirmations: number
  requiredConfirmations: number
  feeAtomic: bigint
}

/** One look at the chain through the user's RPC. */
export type Reading =
  | { kind: 'unavailable'; at: number }
  /** Not seen; `finalizedHeight` is the height the chain can no longer take back (Solana: block height). */
  | { kind: 'absent'; at: number; finalizedHeight: number }
  | { kind: 'pending'; at: number; signature: string }
  | {
      kind: 'landed'
      at: number
      landed: Landed
      outcome: 'paid' | 'reverted' | 'other'
      failure: string | null
      commitment: 'processed' | 'confirmed' | 'finalized'
    }
  /** EVM: another transaction took the nonce. */
  | { kind: 'superseded'; at: number; by: string | null; finalized: boolean }

/** Something that stands in the way, in words for the person; `fields` names the inputs it is about. */
export type Trouble = {
  code: string
  title: string
  body: string
  detail?: string
  fields?: Readonly<Record<string, string>>
}
