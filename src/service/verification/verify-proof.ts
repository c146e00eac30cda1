import { fact, networkFact, textFact } from '#contract/facts.ts'
import { familyOf } from '#contract/network.ts'
import {
  EIP3009_METHOD,
  EXACT_SCHEME,
  methodsOf,
  NATIVE_TRANSFER_METHOD,
  PERMIT2_METHOD,
  SIGNED_TRANSACTION_METHOD,
  TOKEN_TRANSFER_METHOD,
} from '#x402/methods.ts'
import { readNetwork } from '#x402/networks.ts'
import { methodOf, networkNameOf, schemeOf } from '#x402/payload.ts'
import { verifyAuthorization } from './verify-authorization.ts'
import { verifyMemo } from './verify-memo.ts'
import { verifyNativeTransfer } from './verify-native-transfer.ts'
import { verifySignedTransaction } from './verify-signed-transaction.ts'
import { verifyTokenTransfer } from './verify-token-transfer.ts'
import { verifyTxid } from './verify-txid.ts'
import { checkAcceptedTerms, type Verification, type VerifiedProof } from './terms.ts'

/**
 * Everything a proof can be checked against without asking a chain: its scheme, network and method,
 * the terms it names, its signatures.
 * @throws ProofRefusedError
 */
export async function verifyProof(verification: Verification): Promise<VerifiedProof> {
  const { payment, terms, report } = verification
  const { network } = terms.network
  report.equal(
    'unsupported_scheme',
    { name: 'scheme', source: 'proof', expected: EXACT_SCHEME, got: schemeOf(payment) },
    textFact,
  )
  const name = networkNameOf(payment)
  report.equal(
    'network_mismatch',
    {
      name: 'network',
      source: 'proof',
      expected: network,
      got: readNetwork(name, payment.x402Version) ?? name,
    },
    networkFact,
  )
  const supported = methodsOf(network, terms.asset)
  const namedMethod = methodOf(payment)
  // A token transfer on Solana has no separate name; in version 1 its payload looks like one of
  // SOL.
  const unnamed =
    !terms.asset.native &&
    (namedMethod === undefined ||
      (payment.x402Version === 1 && namedMethod === NATIVE_TRANSFER_METHOD))
  const method = unnamed ? supported[0] : namedMethod
  const accepted = terms.method === null ? supported : [terms.method]
  const known = method !== undefined && accepted.includes(method)
  report.check('unsupported_method', {
    name: 'method',
    source: 'proof',
    ok: known,
    expected: { code: 'one_of', params: { values: [...accepted] } },
    got: method === undefined ? fact('none') : textFact(method),
  })
  if (payment.x402Version === 2)
    checkAcceptedTerms(verification, {
      requirements: payment.accepted,
      resource: payment.resource ?? null,
    })
  if (method === NATIVE_TRANSFER_METHOD) return verifyNativeTransfer(verification)
  if (method === TOKEN_TRANSFER_METHOD) return verifyTokenTransfer(verification)
  if (method === SIGNED_TRANSACTION_METHOD) return verifySignedTransaction(verification)
  if (method === EIP3009_METHOD || method === PERMIT2_METHOD)
    return verifyAuthorization(verification, method)
  return familyOf(network) === 'evm' ? verifyTxid(verification) : verifyMemo(verification)
}
