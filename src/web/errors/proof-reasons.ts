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
    title: msg`It cannot be read as a payment`,
    body: msg`Something is missing or misspelt in it. Ask for it again, as a whole.`,
  },
  unsupported_scheme: {
    ...bad,
    title: msg`It pays by an unknown scheme`,
    body: msg`Only the scheme “exact” is understood here.`,
  },
  unsupported_method: {
    ...bad,
    title: msg`It moves money in a way that is not accepted here`,
    body: msg`The method is not one of this network and currency.`,
  },
  network_mismatch: {
    ...bad,
    title: msg`It pays on another network`,
    body: msg`Money on one network is not money on another.`,
  },
  asset_mismatch: {
    ...bad,
    title: msg`It pays in another currency`,
    body: msg`Not the one that was asked for.`,
  },
  amount_mismatch: {
    ...bad,
    title: msg`It pays another amount`,
    body: msg`The amount must be exact. What was really sent can be sent back.`,
  },
  recipient_mismatch: {
    ...bad,
    title: msg`It pays another account`,
    body: msg`The payee is not the wallet that was asked for.`,
  },
  resource_mismatch: {
    ...bad,
    title: msg`It pays for something else`,
    body: msg`A payment for one page buys no other.`,
  },
  payer_mismatch: {
    ...bad,
    title: msg`It was paid by another account`,
    body: msg`The signer is not the payer, so it may be a third party’s payment.`,
  },
  memo_mismatch: {
    ...bad,
    title: msg`Its memo is another one`,
    body: msg`The memo binds a payment to what was asked; this one is bound to something else.`,
  },
  spender_mismatch: {
    ...bad,
    title: msg`It lets a stranger move the tokens`,
    body: msg`Only the contract that pays them on to the payee may be named.`,
  },
  permit2_allowance_required: {
    ...bad,
    retry: 'after_change',
    title: msg`The payer has not allowed the transfer yet`,
    body: msg`Permit2 has to be approved once for this token. After that, the same proof can be good.`,
  },
  invalid_signature: {
    ...bad,
    title: msg`Its signature is not valid`,
    body: msg`It does not belong to the account it names, or something in it was changed afterwards.`,
  },
  signature_missing: {
    ...bad,
    title: msg`It is not signed`,
    body: msg`A signature that is needed is missing.`,
  },
  fee_payer_mismatch: {
    ...bad,
    title: msg`Another account would pay the network fee`,
    body: msg`The account that pays the fee is not the one that was agreed on.`,
  },
  too_many_signers: {
    ...bad,
    title: msg`It needs too many signatures`,
    body: msg`A plain payment needs two at most.`,
  },
  unexpected_instruction: {
    ...bad,
    title: msg`It does more than pay`,
    body: msg`It would do something else beside the payment, so it is not touched.`,
  },
  compute_limits: {
    ...bad,
    title: msg`It asks for too much work of the network`,
    body: msg`Its compute limits are above what a payment needs.`,
  },
  sponsor_at_risk: {
    ...bad,
    title: msg`It reaches for the account that pays the fee`,
    body: msg`It names the fee payer’s account where no payment has to.`,
  },
  simulation_failed: {
    ...bad,
    title: msg`The network would refuse it`,
    body: msg`Tried out, it does not go through.`,
  },
  transaction_failed: {
    ...bad,
    title: msg`It failed on the chain`,
    body: msg`It moved nothing but the fee, or it can no longer land.`,
  },
  outside_window: {
    ...bad,
    title: msg`It is not from the right time`,
    body: msg`It was made before it was asked for, or it is too old.`,
  },
  already_used: {
    ...bad,
    title: msg`It was used before`,
    body: msg`A proof buys one thing, once.`,
  },
  insufficient_funds: {
    ...bad,
    retry: 'after_change',
    title: msg`The payer’s account holds too little`,
    body: msg`Nothing was paid. With more in the account the same proof may still be good.`,
  },
  settlement_pending: {
    who: 'time',
    action: 'wait',
    retry: 'safe',
    title: msg`It is on its way`,
    body: msg`Nothing is decided yet. Ask again with the same proof.`,
  },
  unexpected: {
    ...bad,
    retry: 'safe',
    title: msg`It was not accepted`,
    body: msg`The reason given is not one of x402’s own words.`,
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
