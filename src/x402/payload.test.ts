import { PaymentPayloadSchema } from '@x402/core/schemas'
import { EVM_NETWORK_CHAIN_ID_MAP } from '@x402/evm/v1'
import { SOLANA_TESTNET_CAIP2 } from '@x402/svm'
import { describe, expect, test } from 'vitest'
import { createSigner, wrapFetchWithPayment } from 'x402-fetch'
import { encodeHeader } from './header.ts'
import { readNetwork, formatNetworkV1 } from './networks.ts'
import { decodePayload, methodOf, networkNameOf, schemeOf, encodeSettlement } from './payload.ts'
import { fromV1, toV1, writeChallenge, type Requirements } from './requirements.ts'

const REQUIREMENTS: Requirements = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '1000',
  asset: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
  payTo: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  maxTimeoutSeconds: 60,
  extra: { assetTransferMethod: 'txid' },
}
const RESOURCE = { url: 'https://shop.example/42', description: 'Article', mimeType: 'text/html' }

const V2 = { x402Version: 2, resource: RESOURCE, accepted: REQUIREMENTS, payload: { txRef: '0x1' } }
const V1 = { x402Version: 1, scheme: 'exact', network: 'base', payload: { txRef: '0x1' } }

describe('a payment', () => {
  test('of v2 says its scheme, network and method in what it accepted', () => {
    const decoded = decodePayload(encodeHeader(V2))
    if (!decoded.ok) throw new Error(decoded.problem.code)
    expect([
      schemeOf(decoded.payload),
      networkNameOf(decoded.payload),
      methodOf(decoded.payload),
    ]).toEqual(['exact', 'eip155:8453', 'txid'])
  })

  test('of v2 that names no method is told by its payload where that says it', () => {
    const told = (payload: object) => {
      const decoded = decodePayload(
        encodeHeader({ ...V2, accepted: { ...REQUIREMENTS, extra: {} }, payload }),
      )
      if (!decoded.ok) throw new Error(decoded.problem.code)
      return methodOf(decoded.payload)
    }
    expect(told({ authorization: {}, signature: '0x' })).toBe('eip3009')
    expect(told({ permit2Authorization: {}, signature: '0x' })).toBe('permit2')
    expect(told({ transaction: 'AQ==' })).toBeUndefined()
  })

  test.each<[string, object]>([
    ['no resource', { ...V2, resource: null }],
    ['no description', { ...V2, resource: { ...RESOURCE, description: null } }],
    ['no type', { ...V2, resource: { url: RESOURCE.url, mimeType: null } }],
    ['nothing extra', { ...V2, accepted: { ...REQUIREMENTS, extra: null } }],
    ['a week', { ...V2, accepted: { ...REQUIREMENTS, maxTimeoutSeconds: 604_800 } }],
  ])('of v2 with %s, as official clients may write it, is read', (_, payment) => {
    expect(PaymentPayloadSchema.safeParse(payment).success).toBe(true)
    expect(decodePayload(encodeHeader(payment))).toMatchObject({ ok: true })
  })

  test('whose null fields are read has none of them', () => {
    const resource = { url: RESOURCE.url, description: null, mimeType: null }
    const decoded = decodePayload(
      encodeHeader({ ...V2, resource, accepted: { ...REQUIREMENTS, extra: null } }),
    )
    expect(decoded).toMatchObject({
      payload: {
        resource: { url: RESOURCE.url, description: undefined, mimeType: undefined },
        accepted: { extra: {} },
      },
    })
  })

  test('whose seconds are spelled 300.0 has 300', () => {
    const text = JSON.stringify(V2).replace('"maxTimeoutSeconds":60', '"maxTimeoutSeconds":300.0')
    expect(decodePayload(btoa(text))).toMatchObject({
      payload: { accepted: { maxTimeoutSeconds: 300 } },
    })
  })

  test.each([
    [{ txRef: '0x1' }, 'txid'],
    [{ transaction: 'AQ==' }, 'native-transfer'],
    [{ signedTransaction: '0x02' }, 'signed-transaction'],
    [{ authorization: {} }, 'eip3009'],
    [{ permit2Authorization: {} }, 'permit2'],
    [{ other: {} }, undefined],
  ])('of v1 is told by its payload: %j', (payload, method) => {
    const decoded = decodePayload(encodeHeader({ ...V1, payload }))
    if (!decoded.ok) throw new Error(decoded.problem.code)
    expect([
      schemeOf(decoded.payload),
      networkNameOf(decoded.payload),
      methodOf(decoded.payload),
    ]).toEqual(['exact', 'base', method])
  })

  test.each([
    ['a version nobody knows', { ...V1, x402Version: 3 }],
    ['a version in text', { ...V1, x402Version: '1' }],
    ['no payload', { x402Version: 1, scheme: 'exact', network: 'base' }],
    ['a list', [V1]],
    ['null', null],
    ['an amount with a sign', { ...V2, accepted: { ...REQUIREMENTS, amount: '+1000' } }],
    ['an amount in hex', { ...V2, accepted: { ...REQUIREMENTS, amount: '0x3e8' } }],
    ['an amount as a number', { ...V2, accepted: { ...REQUIREMENTS, amount: 1000 } }],
    ['an amount with decimals', { ...V2, accepted: { ...REQUIREMENTS, amount: '1.5' } }],
    ['no requirements', { x402Version: 2, payload: {} }],
  ])('with %s is a problem, never an exception', (_, value) => {
    expect(decodePayload(encodeHeader(value))).toMatchObject({
      ok: false,
      problem: { code: 'payment_field' },
    })
  })

  test('that cannot be read names the field, what was expected and what was received', () => {
    expect(decodePayload(encodeHeader({ ...V1, x402Version: 3 }))).toMatchObject({
      problem: {
        code: 'payment_field',
        params: {
          field: 'x402Version',
          problem: { code: 'field_one_of', params: { values: ['1', '2'], received: '3' } },
        },
      },
    })
    expect(decodePayload(encodeHeader([]))).toMatchObject({
      problem: {
        code: 'payment_field',
        params: { problem: { code: 'field_one_of', params: { values: ['1', '2'] } } },
      },
    })
  })
})

describe('networks', () => {
  test('v1 names are those of their chains, and CAIP-2 counts in v1 too', () => {
    expect(readNetwork('base', 1)).toBe('eip155:8453')
    expect(readNetwork('solana-devnet', 1)).toBe('solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1')
    expect(readNetwork('eip155:31337', 1)).toBe('eip155:31337')
  })

  test.each(Object.entries(EVM_NETWORK_CHAIN_ID_MAP))('v1 knows the official %s', (name, id) => {
    expect(readNetwork(name, 1)).toBe(`eip155:${id}`)
  })

  test('v1 knows the official solana-testnet', () => {
    expect(readNetwork('solana-testnet', 1)).toBe(SOLANA_TESTNET_CAIP2)
  })

  test('v2 knows no names, and no version knows a property of an object', () => {
    expect(readNetwork('base', 2)).toBeUndefined()
    expect(readNetwork('toString', 1)).toBeUndefined()
    expect(readNetwork('nowhere', 1)).toBeUndefined()
  })

  test('a network without a v1 name is spelled by CAIP-2', () => {
    expect(formatNetworkV1('eip155:8453')).toBe('base')
    expect(formatNetworkV1('eip155:31337')).toBe('eip155:31337')
  })
})

test('a 402 says the same in the header of v2 and in the body of v1', () => {
  const { header, body } = writeChallenge({
    error: 'Payment required',
    resource: RESOURCE,
    accepts: [REQUIREMENTS],
  })
  expect(JSON.parse(Buffer.from(header, 'base64').toString())).toEqual({
    x402Version: 2,
    error: 'Payment required',
    resource: RESOURCE,
    accepts: [REQUIREMENTS],
  })
  expect(body.accepts[0]).toMatchObject({
    network: 'base',
    maxAmountRequired: '1000',
    resource: RESOURCE.url,
  })
  expect(fromV1(toV1(REQUIREMENTS, RESOURCE))).toEqual({
    requirements: { ...REQUIREMENTS, network: 'base' },
    resource: RESOURCE,
  })
})

test('a client of version 1 pays an offer that it knows, beside others that it does not', async () => {
  const usdc = {
    asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    extra: { name: 'USD Coin', version: '2' },
  }
  const { body } = writeChallenge({
    error: 'Payment required',
    resource: RESOURCE,
    accepts: [
      { ...REQUIREMENTS, network: 'eip155:1' },
      { ...REQUIREMENTS, network: 'eip155:10' },
      { ...REQUIREMENTS, ...usdc },
    ],
  })
  const presented: string[] = []
  const shop: typeof fetch = async (_, init) => {
    const payment = new Headers(init?.headers).get('x-payment')
    if (payment === null) return Response.json(body, { status: 402 })
    presented.push(payment)
    return new Response('The article.')
  }
  const pay = wrapFetchWithPayment(shop, await createSigner('base', `0x${'11'.repeat(32)}`))
  expect((await pay(RESOURCE.url)).status).toBe(200)
  expect(decodePayload(presented[0] ?? '')).toMatchObject({
    ok: true,
    payload: { network: 'base' },
  })
})

test('a settlement is base64 of its JSON', () => {
  const response = { success: true, transaction: '0x1', network: 'eip155:1', payer: '0x2' }
  expect(JSON.parse(Buffer.from(encodeSettlement(response), 'base64').toString())).toEqual(response)
})
