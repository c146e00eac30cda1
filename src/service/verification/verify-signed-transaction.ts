import { hexToBytes, type Hex } from 'viem'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { formatFingerprint } from '#chains/evm/fee.ts'
import { addressFact, amountFact, fact, type CheckFact } from '#contract/facts.ts'
import { chainIdOf } from '#contract/network.ts'
import { SignedTransactionPayload } from '#x402/payload.ts'
import { readMethodPayload } from './read-signed.ts'
import type { Verification, VerifiedProof } from './terms.ts'

/** A native transfer on EVM, signed by the payer and broadcast by the service. */
export async function verifySignedTransaction(verification: Verification): Promise<VerifiedProof> {
  const { payment, terms, report } = verification
  const bytes = hexToBytes(
    readMethodPayload(verification, SignedTransactionPayload).signedTransaction as Hex,
  )
  const facts = decodeTransaction(bytes, terms.asset)
  const got: CheckFact = facts.ok
    ? fact('such_transaction')
    : { code: 'unreadable', params: { problem: facts.problem } }
  report.check('malformed', {
    name: 'transaction',
    source: 'proof',
    ok: facts.ok,
    expected: fact('plain_eip1559'),
    got,
  })
  if (!facts.ok) throw new TypeError('The check above has refused this.')

  const { sender, hash, chainId, to, valueAtomic, data, nonce } = facts
  report.check('signature_missing', {
    name: 'signatures',
    source: 'proof',
    ok: sender !== null,
    expected: fact('payer_signature'),
    got: sender === null ? fact('none') : addressFact(sender),
  })
  if (sender === null || hash === null) throw new TypeError('The check above has refused this.')
  const expectedId = chainIdOf(terms.network.network)
  report.check('network_mismatch', {
    name: 'chain_id',
    source: 'proof',
    ok: chainId === expectedId,
    expected: chainIdFact(expectedId),
    got: chainIdFact(chainId),
  })
  report.equal('recipient_mismatch', {
    name: 'destination',
    source: 'proof',
    expected: terms.payTo,
    got: to,
  })
  report.equal(
    'amount_mismatch',
    {
      name: 'value',
      source: 'proof',
      expected: terms.amountAtomic.toString(),
      got: valueAtomic.toString(),
    },
    (atomic) => amountFact(atomic, terms.asset),
  )
  report.check('payer_mismatch', {
    name: 'source',
    source: 'proof',
    ok: sender !== terms.payTo,
    expected: fact('payer_not_payee'),
    got: addressFact(sender),
  })
  report.equal(
    'unexpected_instruction',
    { name: 'data', source: 'proof', expected: '0x', got: data.slice(0, 12) },
    dataFact,
  )
  const resource = payment.x402Version === 2 ? (payment.resource?.url ?? null) : null
  return {
    key: `txid:${hash}`,
    payer: sender,
    signature: hash,
    resource,
    bytes,
    memo: null,
    nonce,
    fingerprint: formatFingerprint(facts),
  }
}

function chainIdFact(chainId: number): CheckFact {
  return { code: 'chain_id', params: { chainId } }
}

function dataFact(data: string): CheckFact {
  return { code: 'data', params: { data } }
}
