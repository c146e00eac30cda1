import { describe, expect, test } from 'vitest'
import { payerEvidenceRequest, type PayerEvidenceRequest } from '#contract/payer-evidence.ts'
import { evidenceText, findGap, type EvidenceIntent } from './evidence.ts'

const fees = { maxFeePerGas: 30n, maxPriorityFeePerGas: 2n }

describe('findGap', () => {
  test('finds none where the wallet kept the fees that were built', () => {
    expect(findGap({ fees, fingerprint: true }, { nonce: 4, ...fees })).toBeNull()
  })

  test.each([
    ['the fee', { ...fees, maxFeePerGas: 31n }],
    ['the priority fee', { ...fees, maxPriorityFeePerGas: 3n }],
    ['the kind of fee', { maxFeePerGas: null, maxPriorityFeePerGas: null }],
  ])('finds that the wallet replaced %s', (_, sent) => {
    expect(findGap({ fees, fingerprint: true }, { nonce: 4, ...sent })).toBe('fees_replaced')
  })

  test('finds that the order never had a fingerprint, whatever the wallet did', () => {
    expect(findGap({ fees, fingerprint: false }, { nonce: 4, ...fees })).toBe('no_fingerprint')
  })
})

describe('evidenceText', () => {
  const intent: EvidenceIntent = {
    paymentId: 'pay_1111111111111111111111',
    network: 'eip155:31337',
    sender: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    nonce: 7,
    recipient: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    asset: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
    amountAtomic: 10n ** 16n,
  }
  const asked = (changes: Partial<EvidenceIntent> = {}, deployment = `0x${'ab'.repeat(32)}`) =>
    payerEvidenceRequest({ ...intent, ...changes, deployment })

  test('is what the page showed, with the nonce that the page read and the salt of the deployment', () => {
    const text = evidenceText(intent, asked({ nonce: 3 }))
    expect(text).toEqual({ ok: true, data: asked() })
  })

  const other: readonly (readonly [string, PayerEvidenceRequest])[] = [
    ['paymentId', asked({ paymentId: 'pay_2222222222222222222222' })],
    ['sender', asked({ sender: intent.recipient })],
    ['recipient', asked({ recipient: intent.sender })],
    ['asset', asked({ asset: intent.recipient })],
    ['amount', asked({ amountAtomic: 2n })],
    ['chainId', asked({ network: 'eip155:1' })],
    ['salt', asked({}, '0x12')],
    ['name', { ...asked(), domain: { ...asked().domain, name: 'Permit2' } }],
    ['version', { ...asked(), domain: { ...asked().domain, version: '2' } }],
    ['types', { ...asked(), types: { PaymentEvidence: [{ name: 'spender', type: 'address' }] } }],
  ]
  test.each(other)('is refused where the service asks for another %s', (field, request) => {
    expect(evidenceText(intent, request)).toEqual({ ok: false, fields: [field] })
  })
})
