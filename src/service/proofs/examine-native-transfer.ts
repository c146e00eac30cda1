import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import bs58 from 'bs58'
import { decodeTransaction } from '#chains/solana/decode.ts'
import { checkNativeTransfer, type TransferRule } from '#chains/solana/native-transfer.ts'
import type { ProofReason } from '#contract/proof.ts'
import { NativeTransferPayload } from '#x402/native-transfer.ts'
import type { Examination } from './echo.ts'
import { readMethodPayload } from './read-method-payload.ts'
import type { Examined } from './terms.ts'

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
export async function examineNativeTransfer(examination: Examination): Promise<Examined> {
  const { terms, checklist } = examination
  const { transaction } = readMethodPayload(examination, NativeTransferPayload)
  const facts = decodeTransaction(transaction)
  const problem = facts.ok ? 'a v0 or legacy transaction' : facts.problem
  checklist.check('malformed', {
    name: 'transaction',
    source: 'proof',
    ok: facts.ok,
    expected: 'a v0 or legacy transaction without lookup tables',
    got: problem,
  })
  if (!facts.ok) throw new TypeError('The check above has refused this.')

  const memo = facts.operations.find((operation) => operation.kind === 'memo')?.text ?? null
  // Without a memo that was asked for, the record of this account decides later whether it gave this one out.
  const rows = checkNativeTransfer(facts, { payTo: terms.payTo, lamports: terms.amountAtomic, memo: terms.memo ?? memo ?? 'a memo', sponsor: terms.feePayer })
  for (const { rule, ...row } of rows) checklist.check(REASONS[rule], { name: rule, source: 'proof', ...row })
  const payer = facts.operations.find((operation) => operation.kind === 'transfer')?.from ?? facts.feePayer
  // The message, not the bytes: a signature can be replaced by another that is as good.
  const key = messageKey(bytesToHex(sha256(facts.message)))
  return { key, payer, signature: facts.signature ?? bs58.encode(facts.signatures[0] ?? new Uint8Array(64)), resource: null, bytes: transaction, memo }
}

export function messageKey(sha256Hex: string): string {
  return `message:${sha256Hex}`
}
