import { expect, test } from 'vitest'
import { PROOF_REASONS } from '#contract/proof.ts'
import { readReason } from './proof-reasons.ts'

test.each(PROOF_REASONS)('%s is read as itself', (reason) => {
  expect(readReason(reason)).toBe(reason)
})

/** As the specification and the official packages (2.27.0) spell them. */
test.each([
  ['insufficient_funds', 'insufficient_funds'],
  ['invalid_exact_evm_insufficient_balance', 'insufficient_funds'],
  ['invalid_network', 'network_mismatch'],
  ['invalid_scheme', 'unsupported_scheme'],
  ['invalid_payload', 'malformed'],
  ['invalid_x402_version', 'malformed'],
  ['invalid_payment_requirements', 'malformed'],
  ['invalid_transaction_state', 'transaction_failed'],
  ['invalid_exact_evm_payload_signature', 'invalid_signature'],
  ['invalid_exact_evm_missing_eip712_domain', 'invalid_signature'],
  ['invalid_exact_evm_payload_recipient_mismatch', 'recipient_mismatch'],
  ['invalid_exact_evm_payload_authorization_value', 'amount_mismatch'],
  ['invalid_exact_evm_payload_authorization_valid_before', 'outside_window'],
  ['invalid_exact_evm_nonce_already_used', 'already_used'],
  ['invalid_exact_evm_transaction_failed', 'transaction_failed'],
  ['invalid_exact_svm_payload_amount_mismatch', 'amount_mismatch'],
  ['invalid_exact_svm_payload_mint_mismatch', 'asset_mismatch'],
  ['invalid_exact_svm_payload_memo_mismatch', 'memo_mismatch'],
  ['invalid_exact_svm_payload_unknown_fifth_instruction', 'unexpected_instruction'],
  [
    'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high',
    'compute_limits',
  ],
  ['invalid_exact_svm_payload_transaction_fee_payer_transferring_funds', 'sponsor_at_risk'],
  ['invalid_exact_svm_fee_payer_not_managed_by_facilitator', 'fee_payer_mismatch'],
  ['invalid_exact_svm_payload_excessive_signers', 'too_many_signers'],
  ['transaction_simulation_failed', 'simulation_failed'],
  ['duplicate_settlement', 'already_used'],
  ['unsupported_asset_transfer_method', 'unsupported_method'],
  ['permit2_deadline_expired', 'outside_window'],
  ['invalid_permit2_spender', 'spender_mismatch'],
  ['permit2_invalid_nonce', 'already_used'],
  ['unexpected_verify_error', 'unexpected'],
  ['settlement_pending', 'settlement_pending'],
  ['constructor', 'unexpected'],
])('%s is read as %s', (text, reason) => {
  expect(readReason(text)).toBe(reason)
})
