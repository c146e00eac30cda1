import type { Family } from '#contract/address.ts'
import type { ProofReason } from '#contract/proof.ts'
import { IN_SETTLEMENT } from './claim.ts'

/** x402's word for an outcome that is still open. */
export const SETTLEMENT_PENDING = 'settlement_pending'
/** x402's word for a settlement that another call was told of, or is about to be. */
export const DUPLICATE_SETTLEMENT = 'duplicate_settlement'

type Words = string | Readonly<Record<Family, string>>

/**
 * How `/facilitator/*` names our reasons: the words of x402 v2 section 9, else those of the official packages, else ours. Other endpoints keep ours.
 */
const WORDS: Readonly<Record<ProofReason, Words>> = {
  malformed: 'invalid_payload',
  unsupported_scheme: 'unsupported_scheme',
  unsupported_method: 'unsupported_asset_transfer_method',
  network_mismatch: 'invalid_network',
  asset_mismatch: { evm: 'asset_mismatch', solana: 'invalid_exact_svm_payload_mint_mismatch' },
  amount_mismatch: {
    evm: 'invalid_exact_evm_payload_authorization_value',
    solana: 'invalid_exact_svm_payload_amount_mismatch',
  },
  recipient_mismatch: {
    evm: 'invalid_exact_evm_payload_recipient_mismatch',
    solana: 'invalid_exact_svm_payload_recipient_mismatch',
  },
  resource_mismatch: 'resource_mismatch',
  payer_mismatch: 'payer_mismatch',
  memo_mismatch: { evm: 'memo_mismatch', solana: 'invalid_exact_svm_payload_memo_mismatch' },
  spender_mismatch: 'invalid_permit2_spender',
  invalid_signature: {
    evm: 'invalid_exact_evm_payload_signature',
    solana: 'invalid_exact_svm_payload_signature_invalid',
  },
  signature_missing: {
    evm: 'invalid_exact_evm_payload_signature',
    solana: 'invalid_exact_svm_payload_signature_invalid',
  },
  fee_payer_mismatch: { evm: 'fee_payer_mismatch', solana: 'invalid_exact_svm_fee_payer_mismatch' },
  too_many_signers: {
    evm: 'too_many_signers',
    solana: 'invalid_exact_svm_payload_excessive_signers',
  },
  unexpected_instruction: {
    evm: 'unexpected_instruction',
    solana: 'invalid_exact_svm_payload_transaction_instructions',
  },
  compute_limits: {
    evm: 'compute_limits',
    solana: 'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction',
  },
  sponsor_at_risk: {
    evm: 'sponsor_at_risk',
    solana: 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds',
  },
  insufficient_funds: 'insufficient_funds',
  permit2_allowance_required: 'permit2_allowance_required',
  simulation_failed: {
    evm: 'invalid_exact_evm_transaction_simulation_failed',
    solana: 'invalid_exact_svm_transaction_simulation_failed',
  },
  transaction_failed: 'invalid_transaction_state',
  outside_window: 'outside_window',
  already_used: 'already_used',
  payer_refused: 'payer_refused',
}

/** Where the check that failed says more than its reason. */
const WORDS_OF_CHECKS: Readonly<Record<string, Words>> = {
  valid_after: 'invalid_exact_evm_payload_authorization_valid_after',
  valid_before: 'invalid_exact_evm_payload_authorization_valid_before',
  compute_price: 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction',
  // Used on the chain, and nobody was told success here.
  fresh: { evm: 'invalid_exact_evm_nonce_already_used', solana: 'invalid_transaction_state' },
  [IN_SETTLEMENT]: DUPLICATE_SETTLEMENT,
}

/** The word that `/facilitator/*` answers with for a refusal. `check`: the name of the check that failed. */
export function nameReason(
  { reason, check }: { reason: ProofReason; check: string },
  family: Family,
): string {
  const words = WORDS_OF_CHECKS[check] ?? WORDS[reason]
  return typeof words === 'string' ? words : words[family]
}
