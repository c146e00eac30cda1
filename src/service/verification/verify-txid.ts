import { hashTypedData, hexToBytes, type Hex } from 'viem'
import { recoverSigner } from '#chains/evm/token-authorization.ts'
import { parseAddress } from '#contract/address.ts'
import { addressFact, fact, textFact } from '#contract/facts.ts'
import { type ResourceInfo, fromV1 } from '#x402/requirements.ts'
import { offerProofTypedData, proofTypedData, TxidPayload, type ProofTerms } from '#x402/txid.ts'
import { readMethodPayload } from './read-signed.ts'
import { checkAcceptedTerms, type Verification, type VerifiedProof } from './terms.ts'

/**
 * A native transfer on EVM that the payer broadcast, with the payer's signature over it, the
 * resource and the terms.
 */
export async function verifyTxid(verification: Verification): Promise<VerifiedProof> {
  const { payment, report } = verification
  const proof = readMethodPayload(verification, TxidPayload)
  const from = parseAddress(proof.from)
  report.check('malformed', {
    name: 'payer',
    source: 'proof',
    ok: from.ok && from.family === 'evm',
    expected: fact('evm_address'),
    got: textFact(proof.from),
  })
  const payer = from.ok ? from.address : proof.from
  const { typedData, resource } =
    payment.x402Version === 2
      ? typedDataOf(verification, { proof, payer })
      : boundOfV1(verification, { proof, payer })
  const signer = recover(typedData, proof.signature as Hex)
  const got = signer === null ? fact('unrecoverable_signature') : addressFact(signer)
  report.check('invalid_signature', {
    name: 'signature',
    source: 'proof',
    ok: signer === payer,
    expected: addressFact(payer),
    got,
  })
  return {
    key: `txid:${proof.txRef}`,
    payer,
    signature: proof.txRef,
    resource: resource.url ?? null,
    bytes: null,
    memo: null,
  }
}

type Signed = { proof: TxidPayload; payer: string }
type Bound = { typedData: Parameters<typeof hashTypedData>[0]; resource: Partial<ResourceInfo> }

function typedDataOf({ payment, terms }: Verification, { proof, payer }: Signed): Bound {
  if (payment.x402Version !== 2) throw new TypeError('Expected a payment of version 2.')
  const resource = payment.resource ?? {}
  const { asset, maxTimeoutSeconds } = payment.accepted
  return {
    typedData: asTypedData(
      proofTypedData(proofTerms({ terms, payer, asset, maxTimeoutSeconds, resource }), proof.txRef),
    ),
    resource,
  }
}

/** v1 carries its terms in a separate offer. */
function boundOfV1(verification: Verification, { proof, payer }: Signed): Bound {
  const { terms, report } = verification
  const { offer } = proof
  report.check('malformed', {
    name: 'offer',
    source: 'proof',
    ok: offer !== undefined,
    expected: fact('signed_terms'),
    got: fact(offer ? 'offer' : 'nothing'),
  })
  if (!offer) throw new TypeError('The check above has refused this.')
  const { requirements, resource } = fromV1(offer)
  checkAcceptedTerms(verification, { requirements, resource })
  const { asset, maxTimeoutSeconds, network: networkName } = requirements
  return {
    typedData: asTypedData(
      offerProofTypedData(
        { ...proofTerms({ terms, payer, asset, maxTimeoutSeconds, resource }), networkName },
        proof.txRef,
      ),
    ),
    resource,
  }
}

type Spelled = {
  terms: Verification['terms']
  payer: string
  asset: string
  maxTimeoutSeconds: number
  resource: Partial<ResourceInfo>
}

/** Amount, payee and chain are ours; the asset is spelled as by the payer, and was read as ours. */
function proofTerms({ terms, payer, asset, maxTimeoutSeconds, resource }: Spelled): ProofTerms {
  return {
    network: terms.network.network,
    from: payer,
    payTo: terms.payTo,
    asset,
    amountAtomic: terms.amountAtomic,
    maxTimeoutSeconds,
    resource,
  }
}

/** Addresses are normalized by now, which viem's types cannot see. */
function asTypedData(
  data: ReturnType<typeof proofTypedData> | ReturnType<typeof offerProofTypedData>,
) {
  return data as unknown as Bound['typedData']
}

/**
 * Only a key signs here: the transaction's sender must be the same account, and a contract sends
 * none. Of its two signatures only the one with the low s counts, so that a proof has one form.
 */
function recover(typedData: Bound['typedData'], signature: Hex): string | null {
  try {
    return recoverSigner(hashTypedData(typedData), hexToBytes(signature)) ?? null
  } catch {
    return null
  }
}
