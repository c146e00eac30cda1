import { msg } from '@lingui/core/macro'
import type { ProofReason } from '#contract/proof.ts'
import type { ErrorRow } from './row.ts'

/** Why a proof was not accepted: the closed list of the service, and what others say beside it. */
export type KnownReason = ProofReason | 'insufficient_funds' | 'settlement_pending' | 'unexpected'

/** The same proof will never be good. */
const bad = { who: 'payer', action: 'none', retry: 'never' } as const

/** The table's part for proofs. A missing reason does not compile. */
export const proofReasons: Readonly<Record<KnownReason, ErrorRow>> = {
  malformed: {
    ...bad,
    title: msg`Unreadable payment`,
    body: msg`Request the whole proof again.`,
  },
  unsupported_scheme: {
    ...bad,
    title: msg`Unknown payment scheme`,
    body: msg`Use the scheme “exact”.`,
  },
  unsupported_method: {
    ...bad,
    title: msg`Transfer method not accepted`,
    body: msg`Use another method.`,
  },
  network_mismatch: {
    ...bad,
    title: msg`Wrong network`,
    body: msg`Check the network.`,
  },
  asset_mismatch: {
    ...bad,
    title: msg`Wrong currency`,
    body: msg`Check the currency.`,
  },
  amount_mismatch: {
    ...bad,
    title: msg`Wrong amount`,
    body: msg`If it was paid, the merchant can refund it.`,
  },
  recipient_mismatch: {
    ...bad,
    title: msg`Wrong recipient`,
    body: msg`Check the recipient.`,
  },
  resource_mismatch: {
    ...bad,
    title: msg`Wrong resource`,
    body: msg`It is for another page.`,
  },
  payer_mismatch: {
    ...bad,
    title: msg`Wrong payer`,
    body: msg`Sign with the wallet that paid.`,
  },
  memo_mismatch: {
    ...bad,
    title: msg`Wrong memo`,
    body: msg`It names another request.`,
  },
  spender_mismatch: {
    ...bad,
    title: msg`A third party may move the tokens`,
    body: msg`Contract not allowed.`,
  },
  permit2_allowance_required: {
    ...bad,
    retry: 'after_change',
    title: msg`Payer’s approval missing`,
    body: msg`Approve Permit2, then use the same proof.`,
  },
  invalid_signature: {
    ...bad,
    title: msg`Invalid signature`,
    body: msg`Sign again with the paying wallet.`,
  },
  signature_missing: {
    ...bad,
    title: msg`Not signed`,
    body: msg`Sign again with the paying wallet.`,
  },
  fee_payer_mismatch: {
    ...bad,
    title: msg`Wrong fee payer`,
    body: msg`Another fee payer was agreed.`,
  },
  too_many_signers: {
    ...bad,
    title: msg`Too many signatures`,
    body: msg`Use at most two.`,
  },
  unexpected_instruction: {
    ...bad,
    title: msg`Unexpected instruction`,
    body: msg`Request a new payment.`,
  },
  compute_limits: {
    ...bad,
    title: msg`Compute limits too high`,
    body: msg`Request a new payment.`,
  },
  sponsor_at_risk: {
    ...bad,
    title: msg`Fee payer’s account at risk`,
    body: msg`The payment moves or uses that account.`,
  },
  simulation_failed: {
    ...bad,
    title: msg`Simulation failed`,
    body: msg`Request a new payment.`,
  },
  transaction_failed: {
    ...bad,
    title: msg`Failed on the chain`,
    body: msg`Nothing was paid, except perhaps the network fee.`,
  },
  outside_window: {
    ...bad,
    title: msg`Outside the valid time`,
    body: msg`Too early or too old.`,
  },
  already_used: {
    ...bad,
    title: msg`Already used`,
    body: msg`Each proof is valid once.`,
  },
  payer_refused: {
    ...bad,
    retry: 'after_change',
    title: msg`Payer refused for one day`,
    body: msg`The payer’s contract made a simulated payment fail. Nothing was paid.`,
  },
  insufficient_funds: {
    ...bad,
    retry: 'after_change',
    title: msg`Payer’s balance too low`,
    body: msg`Nothing was paid. Add funds, then use the same proof.`,
  },
  settlement_pending: {
    who: 'time',
    action: 'wait',
    retry: 'safe',
    title: msg`Payment pending`,
    body: msg`Check the same proof again.`,
  },
  unexpected: {
    ...bad,
    retry: 'safe',
    title: msg`Not accepted`,
    body: msg`Unknown reason.`,
  },
}

/** What other facilitators call the same things: the names of the specifications and of the official packages. */
const ALIASES: Readonly<Record<string, KnownReason>> = {
  invalid_payload: 'malformed',
  invalid_payment: 'malformed',
  invalid_payment_requirements: 'malformed',
  invalid_x402_version: 'malformed',
  invalid_scheme: 'unsupported_scheme',
  invalid_network: 'network_mismatch',
  invalid_transaction_state: 'transaction_failed',
  invalid_exact_evm_payload_signature: 'invalid_signature',
  invalid_exact_evm_failed_to_parse_signature: 'invalid_signature',
  invalid_exact_evm_payload_recipient_mismatch: 'recipient_mismatch',
  invalid_exact_evm_payload_authorization_value: 'amount_mismatch',
  invalid_exact_evm_payload_authorization_value_mismatch: 'amount_mismatch',
  invalid_exact_evm_payload_authorization_valid_after: 'outside_window',
  invalid_exact_evm_payload_authorization_valid_before: 'outside_window',
  invalid_exact_svm_payload_transaction: 'malformed',
  invalid_exact_svm_payload_mint_mismatch: 'asset_mismatch',
  duplicate_settlement: 'already_used',
  unsupported_asset_transfer_method: 'unsupported_method',
  undeployed_smart_wallet: 'invalid_signature',
  unexpected_verify_error: 'unexpected',
  unexpected_settle_error: 'unexpected',
}

/** Endings and middles of the longer names, the more telling first. */
const PATTERNS: readonly (readonly [RegExp, KnownReason])[] = [
  [/insufficient_(funds|balance)/, 'insufficient_funds'],
  [/nonce_already|already_used|invalid_nonce/, 'already_used'],
  [/signature|eip712_domain|token_(name|version)/, 'invalid_signature'],
  [/simulation/, 'simulation_failed'],
  [/transaction_failed|event_mismatch/, 'transaction_failed'],
  [/fee_payer_(transferring|not_isolated)/, 'sponsor_at_risk'],
  [/fee_payer/, 'fee_payer_mismatch'],
  [/signers/, 'too_many_signers'],
  [/compute/, 'compute_limits'],
  [/memo/, 'memo_mismatch'],
  [/instruction|program/, 'unexpected_instruction'],
  [/spender/, 'spender_mismatch'],
  [/recipient|destination|pay_?to/, 'recipient_mismatch'],
  [/amount|value/, 'amount_mismatch'],
  [/asset|mint|token_mismatch/, 'asset_mismatch'],
  [/valid_(after|before)|expired|deadline|too_early|not_yet/, 'outside_window'],
  [/network/, 'network_mismatch'],
  [/scheme/, 'unsupported_scheme'],
  [/resource/, 'resource_mismatch'],
  [/payload|decoded|format|version/, 'malformed'],
]

/** The reason a service or a facilitator means; what nobody knows is `unexpected`. */
export function readReason(text: string): KnownReason {
  const word = text.toLowerCase()
  if (Object.hasOwn(proofReasons, word)) return word as KnownReason
  if (Object.hasOwn(ALIASES, word)) return ALIASES[word] ?? 'unexpected'
  return PATTERNS.find(([pattern]) => pattern.test(word))?.[1] ?? 'unexpected'
}
