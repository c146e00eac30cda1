import { toHex } from 'viem'
import type { Authorization } from '#chains/evm/authorization.ts'
import { addressFact, amountFact, fact } from '#contract/facts.ts'
import { Eip3009Payload, EXACT_PERMIT2_PROXY, Permit2Payload } from '#x402/authorization.ts'
import { PERMIT2_METHOD } from '#x402/methods.ts'
import { readMethodPayload } from './read-signed.ts'
import type { Verification, VerifiedProof } from './terms.ts'

/**
 * A token payment on EVM that the payer signed and anybody may execute, by EIP-3009 or Permit2. Its
 * signature is checked with the chain, later.
 */
export async function verifyAuthorization(
  verification: Verification,
  method: string,
): Promise<VerifiedProof> {
  const { payment, terms, report } = verification
  const authorization =
    method === PERMIT2_METHOD ? readPermit(verification) : readEip3009(verification)
  const { from, to, token, amountAtomic, nonce } = authorization
  report.equal('asset_mismatch', {
    name: 'signed_asset',
    source: 'proof',
    expected: terms.asset.address,
    got: token,
  })
  report.equal('recipient_mismatch', {
    name: 'signed_recipient',
    source: 'proof',
    expected: terms.payTo,
    got: to,
  })
  report.equal(
    'amount_mismatch',
    {
      name: 'signed_amount',
      source: 'proof',
      expected: terms.amountAtomic.toString(),
      got: amountAtomic.toString(),
    },
    (atomic) => amountFact(atomic, terms.asset),
  )
  report.check('payer_mismatch', {
    name: 'source',
    source: 'proof',
    ok: from !== terms.payTo,
    expected: fact('payer_not_payee'),
    got: addressFact(from),
  })
  const key =
    authorization.method === 'permit2' ? `permit2:${from}:${nonce}` : `${token}:${from}:${nonce}`
  const resource = payment.x402Version === 2 ? (payment.resource?.url ?? null) : null
  return { key, payer: from, signature: null, resource, bytes: null, memo: null, authorization }
}

function readEip3009(verification: Verification): Authorization {
  const { authorization, signature } = readMethodPayload(verification, Eip3009Payload)
  const { value: amountAtomic, ...signed } = authorization
  // The token is part of the signed domain: it is the one that was asked for, or the signature is
  // invalid.
  return {
    method: 'eip3009',
    token: verification.terms.asset.address as `0x${string}`,
    amountAtomic,
    ...signed,
    signature,
  }
}

function readPermit(verification: Verification): Authorization {
  const { permit2Authorization: permit, signature } = readMethodPayload(
    verification,
    Permit2Payload,
  )
  const { from, permitted, spender, nonce, deadline, witness } = permit
  verification.report.equal('spender_mismatch', {
    name: 'spender',
    source: 'proof',
    expected: EXACT_PERMIT2_PROXY,
    got: spender,
  })
  return {
    method: 'permit2',
    token: permitted.token,
    from,
    to: witness.to,
    amountAtomic: permitted.amount,
    nonce: toHex(nonce, { size: 32 }),
    validAfter: witness.validAfter,
    validBefore: deadline,
    signature,
  }
}
