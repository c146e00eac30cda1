import { expect, test } from 'vitest'
import { recoverTypedDataAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { PROOF_TYPES, proofTypedData, type ProofTerms } from './txid.ts'

const TERMS: ProofTerms = {
  network: 'eip155:31337',
  from: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  asset: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
  amountAtomic: 10n ** 16n,
  maxTimeoutSeconds: 60,
  resource: { url: 'https://shop.example/a' },
}

test('the types are those of the draft, letter by letter', () => {
  const spelled = Object.entries(PROOF_TYPES).map(
    ([name, fields]) =>
      `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`,
  )
  expect(spelled).toEqual([
    'PaymentProof(string txRef,address from,Resource resource,Accepted accepted)',
    'Resource(string url,string description,string mimeType)',
    'Accepted(string scheme,string assetTransferMethod,string network,string amount,string asset,address payTo,uint256 maxTimeoutSeconds)',
  ])
})

test('a proof recovers to its signer, and to another account when any term differs', async () => {
  const payer = privateKeyToAccount(generatePrivateKey())
  const typedData = (terms: ProofTerms, txRef = `0x${'12'.repeat(32)}`) =>
    proofTypedData(terms, txRef) as Parameters<typeof payer.signTypedData>[0]
  const signature = await payer.signTypedData(typedData(TERMS))
  expect(await recoverTypedDataAddress({ ...typedData(TERMS), signature })).toBe(payer.address)
  const others = [
    { ...TERMS, network: 'eip155:1' },
    { ...TERMS, from: TERMS.payTo },
    { ...TERMS, payTo: TERMS.from },
    { ...TERMS, asset: TERMS.from },
    { ...TERMS, amountAtomic: TERMS.amountAtomic + 1n },
    { ...TERMS, maxTimeoutSeconds: 61 },
    { ...TERMS, resource: { url: 'https://shop.example/b' } },
    { ...TERMS, resource: { ...TERMS.resource, description: 'x' } },
  ]
  for (const terms of others)
    expect(await recoverTypedDataAddress({ ...typedData(terms), signature })).not.toBe(
      payer.address,
    )
  expect(
    await recoverTypedDataAddress({ ...typedData(TERMS, `0x${'13'.repeat(32)}`), signature }),
  ).not.toBe(payer.address)
})

test('without a hash the message leaves it to the signer', () => {
  expect(proofTypedData(TERMS).message).not.toHaveProperty('txRef')
})
