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
import { checkEcho, type Examination } from './echo.ts'
import { examineAuthorization } from './examine-authorization.ts'
import { examineMemo } from './examine-memo.ts'
import { examineNativeTransfer } from './examine-native-transfer.ts'
import { examineSignedTransaction } from './examine-signed-transaction.ts'
import { examineTokenTransfer } from './examine-token-transfer.ts'
import { examineTxid } from './examine-txid.ts'
import type { Examined } from './terms.ts'

/**
 * Everything a proof can be checked against without asking a chain: its scheme, network and method,
 * the terms it names, its signatures.
 * @throws ProofRefused
 */
export async function examine(examination: Examination): Promise<Examined> {
  const { payment, terms, checklist } = examination
  const { network } = terms.network
  checklist.equal(
    'unsupported_scheme',
    { name: 'scheme', source: 'proof', expected: EXACT_SCHEME, got: schemeOf(payment) },
    textFact,
  )
  const name = networkNameOf(payment)
  checklist.equal(
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
  const told = methodOf(payment)
  // A token transfer on Solana has no separate name; in version 1 its payload looks like one of
  // SOL.
  const unnamed =
    !terms.asset.native &&
    (told === undefined || (payment.x402Version === 1 && told === NATIVE_TRANSFER_METHOD))
  const method = unnamed ? supported[0] : told
  const known = method !== undefined && supported.includes(method)
  checklist.check('unsupported_method', {
    name: 'method',
    source: 'proof',
    ok: known,
    expected: { code: 'one_of', params: { values: [...supported] } },
    got: method === undefined ? fact('none') : textFact(method),
  })
  if (payment.x402Version === 2)
    checkEcho(examination, { requirements: payment.accepted, resource: payment.resource ?? null })
  if (method === NATIVE_TRANSFER_METHOD) return examineNativeTransfer(examination)
  if (method === TOKEN_TRANSFER_METHOD) return examineTokenTransfer(examination)
  if (method === SIGNED_TRANSACTION_METHOD) return examineSignedTransaction(examination)
  if (method === EIP3009_METHOD || method === PERMIT2_METHOD)
    return examineAuthorization(examination, method)
  return familyOf(network) === 'evm' ? examineTxid(examination) : examineMemo(examination)
}
