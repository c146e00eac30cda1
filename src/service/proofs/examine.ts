import { familyOf } from '#contract/network.ts'
import { EXACT_SCHEME, NATIVE_TRANSFER_METHOD, SIGNED_TRANSACTION_METHOD, TXID_METHOD } from '#x402/methods.ts'
import { readNetwork } from '#x402/networks.ts'
import { methodOf, networkNameOf, schemeOf } from '#x402/payload.ts'
import { checkEcho, type Examination } from './echo.ts'
import { examineMemo } from './examine-memo.ts'
import { examineNativeTransfer } from './examine-native-transfer.ts'
import { examineSignedTransaction } from './examine-signed-transaction.ts'
import { examineTxid } from './examine-txid.ts'
import type { Examined } from './terms.ts'

/**
 * Everything a proof can be held against without asking a chain: its scheme, network and method, the terms it names, its signatures.
 * @throws ProofRefused
 */
export async function examine(examination: Examination): Promise<Examined> {
  const { payment, terms, checklist } = examination
  const { network } = terms.network
  checklist.equal('unsupported_scheme', { name: 'scheme', source: 'proof', expected: EXACT_SCHEME, got: schemeOf(payment) })
  const name = networkNameOf(payment)
  checklist.equal('network_mismatch', { name: 'network', source: 'proof', expected: network, got: readNetwork(name, payment.x402Version) ?? name })
  const method = methodOf(payment)
  const supported = familyOf(network) === 'evm' ? [TXID_METHOD, SIGNED_TRANSACTION_METHOD] : [TXID_METHOD, NATIVE_TRANSFER_METHOD]
  const known = method !== undefined && supported.includes(method)
  checklist.check('unsupported_method', { name: 'method', source: 'proof', ok: known, expected: supported.join(' or '), got: method ?? 'none' })
  if (payment.x402Version === 2) checkEcho(examination, { requirements: payment.accepted, resource: payment.resource ?? null })
  if (method === NATIVE_TRANSFER_METHOD) return examineNativeTransfer(examination)
  if (method === SIGNED_TRANSACTION_METHOD) return examineSignedTransaction(examination)
  return familyOf(network) === 'evm' ? examineTxid(examination) : examineMemo(examination)
}
