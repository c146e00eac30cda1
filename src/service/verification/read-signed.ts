import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import * as v from 'valibot'
import { decodeTransaction, type SolanaFacts } from '#chains/solana/decode.ts'
import { fieldProblemOf } from '#contract/explain-issue.ts'
import { fact, type CheckFact } from '#contract/facts.ts'
import { NativeTransferPayload, methodOf } from '#x402/payload.ts'
import type { Verification, VerifiedProof } from './terms.ts'

/**
 * A Solana transaction that the payer signed; `feePayer`: the wallet that pays the network fee for
 * the payer and signs last.
 */
export type SignedTransaction = {
  bytes: Uint8Array
  facts: SolanaFacts
  feePayer: string | null
  memo: string | null
  resource: string | null
}

/** @throws ProofRefusedError `malformed` */
export function readSigned(verification: Verification): SignedTransaction {
  const { payment, terms, report } = verification
  const { transaction } = readMethodPayload(verification, NativeTransferPayload)
  const facts = decodeTransaction(transaction)
  report.check('malformed', {
    name: 'transaction',
    source: 'proof',
    ok: facts.ok,
    expected: fact('solana_transaction_without_tables'),
    got: facts.ok
      ? fact('solana_transaction')
      : { code: 'unreadable', params: { problem: facts.problem } },
  })
  if (!facts.ok) throw new TypeError('The check above has refused this.')
  const memo = facts.operations.find((operation) => operation.kind === 'memo')?.text ?? null
  const feePayer = terms.feePayers.includes(facts.feePayer) ? facts.feePayer : null
  const resource = payment.x402Version === 2 ? (payment.resource?.url ?? null) : null
  return { bytes: transaction, facts, feePayer, memo, resource }
}

/** The message is the payment, not the bytes: a signature can be replaced by another valid one. */
export function identifySigned({
  bytes,
  facts,
  feePayer,
  memo,
  resource,
}: SignedTransaction): Omit<VerifiedProof, 'payer'> {
  // A transaction that the fee payer has not signed yet has no name on the chain.
  return {
    key: messageKey(bytesToHex(sha256(facts.message))),
    signature: feePayer === null ? facts.signature : null,
    resource,
    bytes,
    memo,
    feePayer,
  }
}

export function messageKey(sha256Hex: string): string {
  return `message:${sha256Hex}`
}

/** The payload of the method that the payment names. @throws ProofRefusedError `malformed` */
export function readMethodPayload<S extends v.GenericSchema>(
  { payment, report }: Verification,
  schema: S,
): v.InferOutput<S> {
  const result = v.safeParse(schema, payment.payload)
  const got: CheckFact = result.success
    ? fact('such_payload')
    : {
        code: 'unreadable_field',
        params: {
          field: v.getDotPath(result.issues[0]) ?? 'payload',
          problem: fieldProblemOf(result.issues[0]),
        },
      }
  report.check('malformed', {
    name: 'payload',
    source: 'proof',
    ok: result.success,
    expected: { code: 'payload_of', params: { method: methodOf(payment) ?? null } },
    got,
  })
  return result.output
}
