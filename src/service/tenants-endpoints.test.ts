import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { SCOPES, type Scope } from '#contract/api-key-body.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { endpoints } from '#contract/endpoints.ts'
import {
  ApiClient,
  at,
  classOf,
  listAt,
  succeed,
  textAt,
  type ApiReply,
  type ApiRequest,
} from '#testing/api-client.ts'
import { SocketClient } from '#testing/socket-client.ts'
import { Cells, MERCHANT_READS, readOwn, rightClass, type Class } from '#testing/tenant-matrix.ts'
import {
  buildOrder,
  payOrder,
  signRefundRequest,
  untilPaid,
  untilStatus,
  WALLET_FEES,
} from '#testing/tenant-orders.ts'
import { facilitatorBody, makeProof, receiveBody, type Presented } from '#testing/tenant-proofs.ts'
import { evmSigner, openTenants, provePayout, type Tenants } from '#testing/two-tenants.ts'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

/**
 * Who may do what: every endpoint, asked about what belongs to merchant A, by A, by another merchant, by an account that owns nothing,
 * without a key, with a wrong one, and with one that lacks the scope. A new endpoint needs a row here
 * that says what strangers get.
 */

type Cell = {
  about: string
  request: (facts: Facts) => Omit<ApiRequest, 'method'>
  /** For A, whose it is. */
  own: Class
  /** For B and C. */
  foreign: Class
  /** For callers without a key, where the operator lets them in. */
  keyless?: Class
}

/** What belongs to A. */
type Facts = {
  /** When all of it was there. */
  at: number
  order: string
  paid: string
  hash: string
  hosted: string
  keys: readonly [string, string]
  /** Who paid A. */
  customer: string
  /** Money that waits, and the order it is likely to be for. */
  waiting: { transferId: string; paymentId: string }
  spare: string
  /** What the customer has signed to get `paid` back, and what it became. */
  refundRequest: { body: object; id: string }
  refund: string
  webhook: string
  challenge: { challengeId: string; signature: string }
  proofs: { alone: Presented; received: Presented; settled: Presented }
}

const PAYEE = 'FORBIDDEN payee_not_owned'
const PAYEE_THERE = 'REFUSED payee_not_owned'
const NOT_OURS = ['NOT_FOUND', 'FORBIDDEN wallet_owned'] as const

let t: Tenants
let facts: Facts
let stranger: string

const order = (from: string) => ({
  walletAddress: from,
  recipientAddress: t.a.payout.evm.address,
  amount: 0.01,
})
const payout = () => t.a.payout.evm.address
const plain = (path: string, about = 'a list'): Cell => ({
  about,
  request: () => ({ path }),
  own: 'ALLOWED',
  foreign: 'ALLOWED',
})

const ofWebhook = (path: string, body?: object): Cell => ({
  about: 'a webhook',
  request: ({ webhook }) => ({
    path: `/webhooks/${webhook}${path}`,
    ...(body === undefined ? {} : { body }),
  }),
  own: 'ALLOWED',
  foreign: 'NOT_FOUND',
})

const MATRIX: Record<string, readonly Cell[]> = {
  'POST /transaction/send': [
    {
      about: 'an order to the payee',
      request: () => ({ path: '/transaction/send', body: order(stranger) }),
      own: 'ALLOWED',
      foreign: 'ALLOWED',
    },
    {
      about: 'an order from the managed wallet',
      request: () => ({ path: '/transaction/send', body: order(t.a.managed.evm) }),
      own: 'ALLOWED',
      // An account may keep books of what others pay; it moves and proves nothing.
      foreign: ['ALLOWED', 'FORBIDDEN wallet_owned'],
    },
  ],
  'POST /transaction/submitted': [
    {
      about: 'a report on an order',
      request: ({ order: paymentId }) => ({
        path: '/transaction/submitted',
        body: { paymentId, signature: `0x${'12'.repeat(32)}` },
      }),
      own: 'ALLOWED',
      foreign: 'NOT_FOUND',
    },
  ],
  'POST /transaction/receive': [
    {
      about: 'a proof',
      request: ({ proofs }) => ({ path: '/transaction/receive', body: receiveBody(proofs.alone) }),
      own: 'ALLOWED',
      foreign: PAYEE,
    },
  ],
  'POST /payment/receive': [
    {
      about: 'a proof',
      request: ({ proofs }) => ({ path: '/payment/receive', body: receiveBody(proofs.received) }),
      own: 'ALLOWED',
      foreign: PAYEE,
    },
  ],
  'GET /facilitator/supported': [{ ...plain('/facilitator/supported'), keyless: 'ALLOWED' }],
  'POST /facilitator/verify': [
    {
      about: 'a proof',
      request: ({ proofs }) => ({
        path: '/facilitator/verify',
        body: facilitatorBody(proofs.settled),
      }),
      own: 'ALLOWED',
      foreign: PAYEE_THERE,
      keyless: PAYEE_THERE,
    },
  ],
  'POST /facilitator/settle': [
    {
      about: 'a proof',
      request: ({ proofs }) => ({
        path: '/facilitator/settle',
        body: facilitatorBody(proofs.settled),
      }),
      own: 'ALLOWED',
      foreign: PAYEE_THERE,
      keyless: PAYEE_THERE,
    },
  ],
  'POST /payment/send': [
    {
      about: 'a payment from the managed wallet',
      request: () => ({
        path: '/payment/send',
        body: { walletAddress: t.a.managed.evm, recipientAddress: stranger, amount: 0.01 },
        headers: { Prefer: 'respond-async' },
      }),
      own: 'ALLOWED',
      foreign: 'INVALID_PARAMETERS',
    },
  ],
  'GET /payment/status/:paymentId': (['order', 'paid', 'hosted'] as const).map((which) => ({
    about: which,
    request: (all: Facts) => ({ path: `/payment/status/${all[which]}` }),
    own: 'ALLOWED',
    foreign: 'NOT_FOUND',
  })),
  'GET /payment/history/:walletAddress': [
    { ...plain('', 'the payee'), request: () => ({ path: `/payment/history/${payout()}` }) },
  ],
  'GET /payments/statuses': [
    {
      ...plain('', 'an order, a paid one and a hosted one'),
      request: (all) => ({
        path: `/payments/statuses?paymentIds=${all.order},${all.paid},${all.hosted}`,
      }),
    },
  ],
  'GET /payments': [
    plain('/payments'),
    { ...plain('', 'the payee'), request: () => ({ path: `/payments?wallets=${payout()}` }) },
  ],
  'GET /payments/summary': [
    plain('/payments/summary'),
    {
      ...plain('', 'the payee'),
      request: () => ({ path: `/payments/summary?wallets=${payout()}` }),
    },
  ],
  'GET /customers': [
    plain('/customers'),
    {
      ...plain('', 'the payer of the payee'),
      request: ({ customer }) => ({ path: `/customers?wallets=${customer}` }),
    },
  ],
  'GET /token/info/:mintAddress': [
    { ...plain('', 'a token'), request: () => ({ path: `/token/info/${t.usdc.address}` }) },
  ],
  'GET /api-keys': [plain('/api-keys')],
  'POST /api-keys': [
    {
      about: 'a new key',
      request: () => ({
        path: '/api-keys',
        body: { name: 'mine', scopes: ['payment:read'], environment: 'test' },
      }),
      own: 'ALLOWED',
      foreign: 'ALLOWED',
    },
  ],
  'POST /api-keys/:id/rotate': [
    {
      about: 'a key',
      request: ({ keys }) => ({ path: `/api-keys/${keys[0]}/rotate`, body: { graceSeconds: 0 } }),
      own: 'ALLOWED',
      foreign: 'NOT_FOUND',
    },
  ],
  'DELETE /api-keys/:id': [
    {
      about: 'a key',
      request: ({ keys }) => ({ path: `/api-keys/${keys[1]}` }),
      own: 'ALLOWED',
      foreign: 'NOT_FOUND',
    },
  ],
  'GET /events': [plain('/events')],
  'GET /webhooks': [plain('/webhooks')],
  'POST /webhooks': [
    {
      about: 'a new webhook',
      request: () => ({ path: '/webhooks', body: { url: 'https://shop.example/', events: [] } }),
      own: 'ALLOWED',
      foreign: 'ALLOWED',
    },
  ],
  'POST /webhooks/:id': [ofWebhook('', { enabled: false })],
  'POST /webhooks/:id/secret': [ofWebhook('/secret', { graceSeconds: 0 })],
  'POST /webhooks/:id/test': [ofWebhook('/test', {})],
  'GET /webhooks/:id/deliveries': [ofWebhook('/deliveries')],
  'POST /webhooks/:id/redeliver': [ofWebhook('/redeliver', { from: '0', to: '1' })],
  'DELETE /webhooks/:id': [ofWebhook('')],
  'GET /usage': [
    plain('/usage'),
    {
      ...plain('', 'a key'),
      request: ({ keys }) => ({ path: `/usage?keyId=${keys[0]}` }),
      foreign: ['ALLOWED', 'NOT_FOUND'],
    },
  ],
  'GET /requests': [
    {
      // What strangers asked in this test names what belongs to A.
      ...plain('', 'the requests before this test'),
      request: ({ at: until }) => ({ path: `/requests?until=${until}` }),
    },
    {
      ...plain('', 'a key'),
      request: ({ keys }) => ({ path: `/requests?keyId=${keys[0]}` }),
    },
  ],
  'GET /wallets': [plain('/wallets')],
  'POST /wallets': [
    {
      about: 'a new wallet',
      request: () => ({ path: '/wallets', body: { family: 'evm', name: 'mine' } }),
      own: 'ALLOWED',
      foreign: 'ALLOWED',
    },
  ],
  'POST /wallets/payout/challenge': [
    {
      about: 'the payout wallet',
      request: () => ({ path: '/wallets/payout/challenge', body: { walletAddress: payout() } }),
      own: 'ALLOWED',
      foreign: ['ALLOWED', 'FORBIDDEN wallet_owned'],
    },
  ],
  'POST /wallets/payout': [
    {
      about: 'a challenge that the wallet has signed for A',
      request: ({ challenge }) => ({ path: '/wallets/payout', body: challenge }),
      own: 'ALLOWED',
      foreign: ['INVALID_PARAMETERS', ...NOT_OURS],
    },
  ],
  'GET /wallets/payout': [plain('/wallets/payout')],
  'DELETE /wallets/payout/:walletAddress': [
    {
      about: 'a payout wallet',
      request: ({ spare }) => ({ path: `/wallets/payout/${spare}` }),
      own: 'ALLOWED',
      foreign: NOT_OURS,
    },
  ],
  'POST /payment/refund': [
    {
      about: 'a payment that was received',
      request: ({ paid }) => ({
        path: '/payment/refund',
        body: { paymentId: paid, walletAddress: t.a.managed.evm, amount: 0.001 },
        headers: { Prefer: 'respond-async' },
      }),
      own: 'ALLOWED',
      foreign: 'NOT_FOUND',
    },
  ],
  'POST /transaction/refund': [
    {
      about: 'a payment that was received',
      request: ({ paid }) => ({
        path: '/transaction/refund',
        body: { paymentId: paid, amount: 0.001 },
      }),
      own: 'ALLOWED',
      foreign: 'NOT_FOUND',
    },
  ],
  'POST /transaction/release': [
    {
      about: 'a refund that nobody signed',
      request: ({ refund: paymentId }) => ({ path: '/transaction/release', body: { paymentId } }),
      own: 'ALLOWED',
      foreign: 'NOT_FOUND',
    },
  ],
  'GET /refund-requests': [plain('/refund-requests')],
  'GET /refund-requests/:paymentId': [
    {
      about: 'a payment that was received',
      request: ({ paid }) => ({ path: `/refund-requests/${paid}` }),
      own: 'ALLOWED',
      foreign: 'NOT_FOUND',
    },
  ],
  'POST /refund-requests': [
    {
      about: 'what the customer signed',
      request: ({ refundRequest: { body } }) => ({ path: '/refund-requests', body }),
      own: 'ALLOWED',
      foreign: 'NOT_FOUND',
    },
  ],
  'POST /refund-requests/:requestId/decline': [
    {
      about: 'the customer’s request',
      request: ({ refundRequest: { id } }) => ({
        path: `/refund-requests/${id}/decline`,
        body: {},
      }),
      own: 'ALLOWED',
      foreign: 'NOT_FOUND',
    },
  ],
  'POST /refund-requests/:requestId/reopen': [
    {
      about: 'the customer’s request',
      request: ({ refundRequest: { id } }) => ({ path: `/refund-requests/${id}/reopen`, body: {} }),
      own: 'ALLOWED',
      foreign: 'NOT_FOUND',
    },
  ],
  'GET /unmatched': [plain('/unmatched')],
  'POST /unmatched/:transferId/assign': [
    {
      about: 'money that waits',
      request: ({ waiting }) => ({
        path: `/unmatched/${waiting.transferId}/assign`,
        body: { paymentId: waiting.paymentId },
      }),
      own: 'ALLOWED',
      foreign: 'NOT_FOUND',
    },
  ],
  'GET /undelivered': [plain('/undelivered')],
  'POST /undelivered/:paymentId/close': [
    {
      about: 'a payment that a caller was told of',
      request: ({ paid }) => ({ path: `/undelivered/${paid}/close`, body: {} }),
      own: 'NOT_FOUND',
      foreign: 'NOT_FOUND',
    },
  ],
  'POST /undelivered/:paymentId/reopen': [
    {
      about: 'a payment that a caller was told of',
      request: ({ paid }) => ({ path: `/undelivered/${paid}/reopen`, body: {} }),
      own: 'NOT_FOUND',
      foreign: 'NOT_FOUND',
    },
  ],
  'POST /unmatched/:transferId/unassign': [
    {
      about: 'money that waits',
      request: ({ waiting }) => ({ path: `/unmatched/${waiting.transferId}/unassign`, body: {} }),
      own: 'ALLOWED',
      foreign: 'NOT_FOUND',
    },
  ],
}

const TABLE: readonly Endpoint[] = Object.values(endpoints)
const nameOf = ({ method, path }: Endpoint) => `${method} ${path}`
const CELLS = Object.entries(MATRIX).flatMap(([endpoint, cells]) =>
  cells.map((cell) => ({ endpoint, ...cell })),
)

beforeAll(async () => {
  t = await openTenants()
  stranger = (await t.payer()).address
  const customer = await t.payer()
  const open = await buildOrder(t.a, {
    from: customer.address,
    to: payout(),
    amount: 0.01,
    reference: 'A’s own reference',
  })
  const paid = await buildOrder(t.a, { from: customer.address, to: payout(), amount: 0.02 })
  const hash = await payOrder(t, customer, paid)
  const other = await t.payer()
  const late = await buildOrder(t.a, { from: other.address, to: payout(), amount: 0.03 })
  const bare = await payOrder(t, other, late, WALLET_FEES)
  const sent = await t.a.api.post(
    '/payment/send',
    { walletAddress: t.a.managed.evm, recipientAddress: (await t.payer()).address, amount: 0.01 },
    { Prefer: 'respond-async' },
  )
  const spare = evmSigner(privateKeyToAccount(generatePrivateKey()))
  await provePayout(t.a, spare)
  const wallet = evmSigner(privateKeyToAccount(generatePrivateKey()))
  const asked = await t.a.api.post('/wallets/payout/challenge', { walletAddress: wallet.address })
  const challenge =
    asked.status === 200
      ? {
          challengeId: textAt(asked.body, 'challengeId'),
          signature: await wallet.sign(textAt(asked.body, 'message')),
        }
      : { challengeId: 'none', signature: '0x' }
  const hook = await t.a.api.post('/webhooks', { url: 'https://shop.example/webhooks' })
  const prove = (method: 'evm txid' | 'evm eip3009') => makeProof(t, { method, payTo: payout() })
  facts = {
    at: Date.now(),
    order: open.paymentId,
    paid: paid.paymentId,
    hash,
    hosted: textAt(succeed(sent).body, 'paymentId'),
    customer: customer.address,
    keys: [(await t.keyOf(t.a, ['payment:read'])).id, (await t.keyOf(t.a, ['payment:read'])).id],
    waiting: { transferId: 'none', paymentId: late.paymentId },
    spare: spare.address,
    refundRequest: { body: {}, id: 'none' },
    refund: 'none',
    webhook: textAt(succeed(hook).body, 'id'),
    challenge,
    proofs: {
      alone: await prove('evm eip3009'),
      received: await prove('evm txid'),
      settled: await prove('evm txid'),
    },
  }
  await untilPaid(t, t.a, paid)
  await untilStatus(t, { tenant: t.a, paymentId: facts.hosted }, ['finalized'])
  await untilStatus(t, { tenant: t.a, paymentId: facts.paid }, ['finalized'])
  const { body: reading } = await t.a.api.get(`/refund-requests/${facts.paid}`)
  const asking = await signRefundRequest(t, customer, reading)
  const made = succeed(await t.a.api.post('/refund-requests', asking))
  facts.refundRequest = { body: asking, id: textAt(made.body, 'request.requestId') }
  const refund = await t.a.api.post('/transaction/refund', {
    paymentId: facts.paid,
    amount: 0.0001,
  })
  facts.refund = textAt(succeed(refund).body, 'paymentId')
  const waiting = listAt((await t.a.api.get('/unmatched')).body, 'transfers').find(
    (transfer) => at(transfer, 'signature') === bare,
  )
  if (waiting !== undefined) facts.waiting.transferId = textAt(waiting, 'transferId')
})

afterAll(() => t?.[Symbol.asyncDispose]())

test('no endpoint is left out', () => {
  expect(TABLE.map(nameOf).filter((name) => MATRIX[name] === undefined)).toEqual([])
})

test('every row is an endpoint', () => {
  expect(
    Object.keys(MATRIX).filter((name) => !TABLE.some((endpoint) => nameOf(endpoint) === name)),
  ).toEqual([])
})

test('strangers change and learn nothing', async () => {
  const socket = new SocketClient({ port: t.service.port })
  onTestFinished(() => socket.ws.terminate())
  await socket.enter(t.a.key, ['payments', 'verifications', 'settlements', 'refundRequests'])
  const before = await snapshot()
  const wrong = new ApiClient(
    t.url,
    t.b.key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
  )
  const callers = { B: t.b.api, C: t.c.api, 'no key': t.keyless, 'a wrong key': wrong }
  const cells = new Cells()
  for (const { endpoint, about, request, foreign, keyless } of CELLS) {
    const asked = { method: endpoint.split(' ')[0] ?? '', ...request(facts) }
    for (const [caller, client] of Object.entries(callers)) {
      // Each address has so many requests without a valid key in a minute.
      const from = caller === 'a wrong key' ? '192.0.2.1' : '192.0.2.2'
      const headers = { ...asked.headers, 'X-Forwarded-For': from }
      const reply = await client.send({ ...asked, headers })
      const wanted =
        caller === 'no key'
          ? (keyless ?? 'UNAUTHORIZED')
          : caller === 'a wrong key'
            ? 'UNAUTHORIZED'
            : foreign
      const cell = `${endpoint}, ${about}, by ${caller}`
      cells.add(cell, wanted, classOf(reply))
      if (reply.status < 300) expect(secretsIn(reply), cell).toEqual([])
    }
  }
  expect.soft(cells.answers).toEqual(cells.right)
  expect.soft(await snapshot(), 'what A reads of A').toEqual(before)
  expect
    .soft(
      socket.messages
        .filter(({ type }) =>
          ['payment', 'verification', 'settlement', 'refund_request'].includes(type),
        )
        .map(({ type, status }) => `${type} ${status}`),
    )
    .toEqual([])
})

describe('a key without the scope', () => {
  test.each(
    TABLE.map((endpoint) => ({
      name: nameOf(endpoint),
      scope: endpoint.scope,
      method: endpoint.method,
    })),
  )('is refused at $name', async ({ name, scope, method }) => {
    const { api } = await lacking(scope)
    const cell = MATRIX[name]?.[0]
    const reply = await api.send({ method, path: '/', ...cell?.request(facts) })
    expect(
      [reply.status, JSON.stringify(at(reply.body, 'error')).includes(scope)],
      reply.text,
    ).toEqual([403, true])
  })
})

describe('A itself', () => {
  test.each(CELLS)('$endpoint, $about', async ({ endpoint, request, own }) => {
    const asked = { method: endpoint.split(' ')[0] ?? '', ...request(facts) }
    const reply = await withBlocks(() => t.a.api.send(asked))
    expect(classOf(reply), reply.text).toBe(rightClass(own, classOf(reply)))
  })
})

const keys = new Map<Scope, Promise<{ api: ApiClient }>>()

/** A key of A's for everything but this. */
function lacking(scope: Scope): Promise<{ api: ApiClient }> {
  const key =
    keys.get(scope) ??
    t.keyOf(
      t.a,
      SCOPES.filter((each) => each !== scope),
    )
  keys.set(scope, key)
  return key
}

/** Makes blocks while the service waits for them. */
async function withBlocks<T>(ask: () => Promise<T>): Promise<T> {
  const mining = setInterval(() => void t.evm.mine().catch(() => undefined), 50)
  return ask().finally(() => clearInterval(mining))
}

/** What an answer to a stranger holds of A's. */
function secretsIn({ text }: ApiReply): string[] {
  const { order: open, paid, hash, hosted, keys: ids, waiting } = facts
  const secrets = [open, paid, hosted, ...ids, 'A’s own reference', waiting.paymentId, hash]
  return secrets.filter((secret) => text.includes(secret))
}

const snapshot = () =>
  readOwn((path) => t.a.api.get(path), [...MERCHANT_READS, `/payment/status/${facts.order}`])
