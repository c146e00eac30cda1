import { expect, test } from 'vitest'
import * as v from 'valibot'
import { examples } from '#service/openapi/examples.ts'
import { endpoints, type EndpointName } from './endpoints.ts'
import type { Endpoint } from './endpoint.ts'
import { parseJson, stringifyJson } from './json.ts'
import { cutText, excerptOf, MOST_EXCERPT_BYTES, redact, redactError } from './redact.ts'

/** Fields that hold secrets, what a payer signed, or the words of people. A second list beside the marks of the schemas. */
const NEVER_SHOWN = [
  'key',
  'secret',
  'paymentProof',
  'payerSignature',
  'proofRequest',
  'payload',
  'challengeId',
  'metadata',
  'resource',
  'url',
  'note',
  'reason',
  'refundReason',
  'refundNote',
  'description',
  'memo',
  'message',
  'by',
  'failure',
  'unsignedTransaction',
  'decoded',
  'facilitatorUrl',
]

type Texts = { hidden: Set<string>; shown: Set<string> }

/** The texts of a value, by whether they stand below a field of one of these names. */
function textsOf(value: unknown, texts: Texts, within = false): Texts {
  if (typeof value === 'string') (within ? texts.hidden : texts.shown).add(value)
  if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value))
      textsOf(inner, texts, within || NEVER_SHOWN.includes(name))
  return texts
}

test.each(Object.keys(endpoints) as EndpointName[])(
  'no secret, proof or personal field of %s is in an excerpt',
  (name) => {
    const { query, body, response }: Endpoint = endpoints[name]
    const example: { request: { query?: unknown; body?: unknown }; reply: unknown } = examples[name]
    const reply = parseJson(stringifyJson(example.reply))
    const excerpts = [
      excerptOf(query, example.request.query),
      excerptOf(body, example.request.body),
      // Without the cut at the end.
      stringifyJson(redact(response, reply)),
    ].join('\n')
    const { hidden, shown } = textsOf(example, { hidden: new Set(), shown: new Set() })
    // An address below a hidden field may be shown elsewhere.
    const secrets = [...hidden].filter((text) => text.length > 8 && !shown.has(text))
    for (const secret of secrets) expect(excerpts).not.toContain(secret)
  },
)

test('an excerpt shows who pays whom, how much and where', () => {
  const { body }: Endpoint = endpoints.transactionSend
  const excerpt = excerptOf(body, {
    walletAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    recipientAddress: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    amount: 0.01,
    resource: 'https://shop.example/?mail=ada@example.org',
    metadata: { mail: 'ada@example.org' },
    apiKey: 'pk_live_x',
  })
  expect(excerpt).toBe(
    '{"walletAddress":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","recipientAddress":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","amount":0.01,"resource":"[hidden]","metadata":"[hidden]","…":"1 more fields"}',
  )
})

test('a facilitator’s excerpt shows the terms and nothing that the payer signed', () => {
  const { body }: Endpoint = endpoints.facilitatorVerify
  const excerpt = excerptOf(body, {
    x402Version: 1,
    paymentPayload: {
      x402Version: 1,
      scheme: 'exact',
      network: 'base',
      payload: { signature: '0xsigned', authorization: { nonce: '0xnonce' } },
    },
    paymentRequirements: {
      scheme: 'exact',
      payTo: '0xpayee',
      description: 'for Ada',
      extra: { name: 'USDC' },
    },
  })
  expect(excerpt).toBe(
    '{"x402Version":1,"paymentPayload":{"x402Version":1,"scheme":"exact","network":"base","…":"1 more fields"},"paymentRequirements":{"scheme":"exact","payTo":"0xpayee","…":"2 more fields"}}',
  )
})

test('a value that does not fit its schema is hidden, also in the place of a figure', () => {
  const { body }: Endpoint = endpoints.paymentSend
  expect(
    redact(body, { amount: 'pk_live_secret', walletAddress: 'my seed phrase', network: ['x'] }),
  ).toEqual({ amount: '[hidden]', walletAddress: '[hidden]', network: '[hidden]' })
})

test('an excerpt has at most 2 KiB, whole characters and the first rows of a list', () => {
  const { response }: Endpoint = endpoints.apiKeyList
  const rows = Array.from({ length: 500 }, () => ({ id: 'ключ', name: 'x' }))
  expect(redact(response, { keys: rows })).toMatchObject({ keys: { length: 11, 10: '490 more' } })
  const cut = cutText('я'.repeat(5_000))
  expect(new TextEncoder().encode(cut).length).toBeLessThanOrEqual(MOST_EXCERPT_BYTES)
  expect(cut).toMatch(/^я+…$/)
})

test('a refusal shows what was expected and never what was received', () => {
  const { body }: Endpoint = endpoints.paymentReceive
  const error = {
    code: 'INVALID_PARAMETERS',
    message: '3 fields',
    details: {
      expectedAmount: 'Expected a number, received "x".',
      paymentProof: 'Expected a string, received 4111.',
      pk_live_secret: 'Unknown field. Did you mean paymentProof?',
      body: 'The key "pk_live_secret" stands twice in one object.',
    },
    requestId: 'r',
  }
  expect(redactError(error, [body])).toEqual({
    code: 'INVALID_PARAMETERS',
    details: {
      expectedAmount: 'Expected a number.',
      paymentProof: 'Expected a string.',
      '…': 'The key "…" stands twice in one object.',
    },
  })
})

test('the sentence of another problem is shown without what it quotes', () => {
  const error = {
    code: 'INVALID_PAYMENT_PROOF',
    message: 'It pays for https://shop.example/?mail=a, not for "https://shop.example/b".',
    details: { reason: 'resource_mismatch', got: { code: 'x', url: 'https://shop.example/' } },
  }
  expect(redactError(error, [])).toEqual({
    code: 'INVALID_PAYMENT_PROOF',
    message: 'It pays for … not for "…".',
    details: { reason: 'resource_mismatch', got: { code: 'x', url: '…' } },
  })
})

test('a schema without a mark hides text', () => {
  expect(redact(v.object({ a: v.string(), b: v.unknown() }), { a: 'x', b: 1 })).toEqual({
    a: '[hidden]',
    b: '[hidden]',
  })
})
