import { checkNativeTransfer, type TransferRule } from '#chains/solana/native-transfer.ts'
import type { ProofReason } from '#contract/proof.ts'
import { identifySigned, readSigned } from './read-signed.ts'
import type { Verification, VerifiedProof } from './terms.ts'

const REASONS: Readonly<Record<TransferRule, ProofReason>> = {
  fee_payer: 'fee_payer_mismatch',
  signers: 'too_many_signers',
  signatures: 'invalid_signature',
  programs: 'unexpected_instruction',
  compute_units: 'compute_limits',
  compute_price: 'compute_limits',
  one_transfer: 'unexpected_instruction',
  destination: 'recipient_mismatch',
  lamports: 'amount_mismatch',
  source: 'payer_mismatch',
  sponsor_isolated: 'sponsor_at_risk',
  memo: 'memo_mismatch',
}

/** A transfer of SOL that the payer signed and others broadcast. */
export async function verifyNativeTransfer(verification: Verification): Promise<VerifiedProof> {
  const { terms, report } = verification
  const signed = readSigned(verification)
  const { facts, feePayer, memo } = signed
  // Without a memo that was asked for, the record of this account decides later whether it gave this one out.
  const rows = checkNativeTransfer(facts, {
    payTo: terms.payTo,
    lamports: terms.amountAtomic,
    memo: terms.memo ?? memo ?? 'a memo',
    feePayer,
  })
  for (const { rule, ...row } of rows)
    report.check(REASONS[rule], { name: rule, source: 'proof', ...row })
  const payer =
    facts.operations.find((operation) => operation.kind === 'transfer')?.from ?? facts.feePayer
  return { ...identifySigned(signed), payer }
}
