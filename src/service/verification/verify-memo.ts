import bs58 from 'bs58'
import { fact, textFact } from '#contract/facts.ts'
import { MemoPayload } from '#x402/txid.ts'
import { readMethodPayload } from './read-signed.ts'
import type { Verification, VerifiedProof } from './terms.ts'

/** A transfer of SOL that the payer broadcast: its memo binds it, and is read from the chain. */
export async function verifyMemo(verification: Verification): Promise<VerifiedProof> {
  const { payment } = verification
  const proof = readMethodPayload(verification, MemoPayload)
  const ok = bs58.decodeUnsafe(proof.txRef)?.length === 64
  verification.report.check('malformed', {
    name: 'reference',
    source: 'proof',
    ok,
    expected: fact('base58_signature'),
    got: textFact(proof.txRef),
  })
  // One payment may land under several signatures' names only by its message, which the chain tells.
  return {
    key: null,
    payer: proof.from ?? null,
    signature: proof.txRef,
    resource: payment.x402Version === 2 ? (payment.resource?.url ?? null) : null,
    bytes: null,
    memo: null,
  }
}
