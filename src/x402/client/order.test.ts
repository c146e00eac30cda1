import { PaymentPayloadSchema } from '@x402/core/schemas'
import { expect, test } from 'vitest'
import { encodeHeader } from '../header.ts'
import { decodePayload } from '../payload.ts'
import { readPaymentOption } from './order.ts'

const accepted = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '1000',
  asset: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
  payTo: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  maxTimeoutSeconds: 60,
  extra: { assetTransferMethod: 'txid' },
}

const described = (resource: object) => ({ url: 'https://shop.example/42', ...resource })

test.each([
  ['a description of 3,000 characters', described({ description: 'x'.repeat(3_000) })],
  ['a URL of 3,000 characters', described({ url: `https://shop.example/?q=${'x'.repeat(3_000)}` })],
  ['a type with parameters', described({ mimeType: `text/html; ${'profile="x";'.repeat(20)}` })],
  ['no description', described({ description: null })],
])(
  'what a payer is asked to pay for with %s is paid, and read by the facilitator',
  (_, resource) => {
    const payment = { x402Version: 2, accepted, payload: {}, resource }
    expect(PaymentPayloadSchema.safeParse(payment).success).toBe(true)
    expect(decodePayload(encodeHeader(payment))).toMatchObject({ ok: true })
    expect(readPaymentOption(2, accepted, resource)).toMatchObject({ ok: true })
  },
)

test('a resource that no facilitator reads is refused before anything is paid', () => {
  for (const resource of [
    described({ description: 'x'.repeat(20_000) }),
    described({ url: `https://shop.example/?q=${'x'.repeat(9_000)}` }),
    described({ url: 7 }),
  ])
    expect(readPaymentOption(2, accepted, resource)).toMatchObject({
      ok: false,
      problem: { code: 'offer_field' },
    })
})

test('a resource without a description is signed as one with an empty one', () => {
  const reading = readPaymentOption(2, accepted, described({ description: null }))
  expect(reading.ok && reading.payment.resource.description).toBeUndefined()
})
