import * as v from 'valibot'
import { publicText } from './fields.ts'

/**
 * Why a payment proof is permanently refused: `details.reason` of `INVALID_PAYMENT_PROOF`. The list
 * is closed; codes are never renamed.
 */
export const PROOF_REASONS = [
  /** Not readable as x402, or not as the payload of its method. */
  'malformed',
  'unsupported_scheme',
  'unsupported_method',
  'network_mismatch',
  'asset_mismatch',
  'amount_mismatch',
  'recipient_mismatch',
  'resource_mismatch',
  /** The transaction's payer is not the signer of the proof. */
  'payer_mismatch',
  /** The memo does not name the requested payment. */
  'memo_mismatch',
  /** The authorized spender is not the contract that pays the tokens on to the payee. */
  'spender_mismatch',
  'invalid_signature',
  'signature_missing',
  'fee_payer_mismatch',
  'too_many_signers',
  /** The transaction does more than pay. */
  'unexpected_instruction',
  'compute_limits',
  'sponsor_at_risk',
  /** The payer holds less of the token than it signed for. */
  'insufficient_funds',
  /**
   * The payer has not let Permit2 move the token yet: it must first send one approval transaction.
   */
  'permit2_allowance_required',
  /** The network would refuse the transaction. */
  'simulation_failed',
  /** It landed and moved nothing, or can no longer land. */
  'transaction_failed',
  /** It was made before it was requested, or too long ago. */
  'outside_window',
  'already_used',
  /** The payer's code made a settlement fail after a good simulation: none is settled for a day. */
  'payer_refused',
] as const
export type ProofReason = (typeof PROOF_REASONS)[number]

/**
 * A fact in the form any service version writes: `CheckFact` (facts.ts) lists the codes. A reader
 * that does not know a code shows the sentence.
 */
export const WireFact = v.object({ code: publicText, params: v.record(v.string(), v.unknown()) })
export type WireFact = v.InferOutput<typeof WireFact>

/** One check, in the order of checking; the first that fails ends the list. */
export const ProofCheck = v.object({
  name: publicText,
  /**
   * Where the result comes from: the proof itself, the chain, or the service's record of used
   * proofs.
   */
  source: v.picklist(['proof', 'chain', 'record', 'facilitator']),
  ok: v.boolean(),
  /** In English. */
  expected: v.string(),
  got: v.string(),
  /** The same as codes with parameters. Checks recorded by earlier versions have none. */
  expectedFact: v.optional(WireFact),
  gotFact: v.optional(WireFact),
})
export type ProofCheck = v.InferOutput<typeof ProofCheck>
