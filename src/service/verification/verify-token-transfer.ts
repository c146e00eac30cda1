import { checkTokenPayment, type TokenRule } from '#chains/solana/token-payment.ts'
import type { ProofReason } from '#contract/proof.ts'
import { identifySigned, readSigned } from './read-signed.ts'
import type { Verification, VerifiedProof } from './terms.ts'

const REASONS: Readonly<Record<TokenRule, ProofReason>> = {
  fee_payer: 'fee_payer_mismatch',
  signers: 'too_many_signers',
  signatures: 'invalid_signature',
  programs: 'unexpected_instruction',
  compute_units: 'compute_limits',
  compute_price: 'compute_limits',
  order: 'unexpected_instruction',
  one_transfer: 'unexpected_instruction',
  mint: 'asset_mismatch',
  destination: 'recipient_mismatch',
  amount: 'amount_mismatch',
  source: 'payer_mismatch',
  sponsor_isolated: 'sponsor_at_risk',
  memo: 'memo_mismatch',
}

/** A transfer of an SPL or Token-2022 token that the payer signed and others broadcast. */
export async function verifyTokenTransfer(verification: Verification): Promise<VerifiedProof> {
  const { terms, report } = verification
  const signed = readSigned(verification)
  const { facts, feePayer } = signed
  const rows = checkTokenPayment(facts, {
    payTo: terms.payTo,
    mint: terms.asset.address,
    symbol: terms.asset.symbol,
    decimals: terms.asset.decimals,
    amountAtomic: terms.amountAtomic,
    memo: terms.memo,
    feePayer,
  })
  for (const { rule, ...row } of rows)
    report.check(REASONS[rule], { name: rule, source: 'proof', ...row })
  const payer =
    facts.operations.find((operation) => operation.kind === 'token_transfer')?.authority ??
    facts.feePayer
  return { ...identifySigned(signed), payer }
}
