import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserEndpoints } from '#contract/browser-endpoints.ts'
import type { Endpoint } from '#contract/endpoint.ts'
import { endpoints } from '#contract/endpoints.ts'
import { at, classOf, listAt, succeed, textAt, type ApiReply } from '#testing/api-client.ts'
import {
  ANYBODY,
  CONFIRMED,
  type Cell,
  type Facts,
  INVOICE,
  MERCHANT_CELLS,
  OPERATOR,
  OWNER_CONFIRMED,
  OWN_WALLETS,
  PARTIES,
  PAYEE,
  PRODUCT,
  READER,
  WALLETS,
  fileTerms,
  ofWebhook,
  plain,
} from '#testing/proxy-cells.ts'
import type { TestBrowser } from '#testing/test-browser.ts'
import { Cells, madeBy, MERCHANT_READS, readOwn, rightClass } from '#testing/tenant-matrix.ts'
import {
  payOrder,
  signRefundRequest,
  toOrder,
  untilStatus,
  untilUnmatched,
  WALLET_FEES,
} from '#testing/tenant-orders.ts'
import { facilitatorBody, makeProof, receiveBody } from '#testing/tenant-proofs.ts'
import { asReply, openProxy, type TenantProxy } from '#testing/tenant-proxy.ts'
import {
  evmSigner,
  openTenants,
  type Tenants,
  type WalletOwnerSigner,
} from '#testing/two-tenants.ts'

/**
 * Who may do what at the proxy: every endpoint that browsers are offered, asked about what belongs to a buyer and to the seller, without a
 * session, by an anonymous visitor who made another payment, by a visitor signed in with another wallet, and by the operator. A new endpoint
 * needs a row here that says what strangers get.
 */

let t: Tenants
let proxy: TenantProxy
let facts: Facts
let buyer: TestBrowser
let operator: TestBrowser
let viewer: TestBrowser
let invited: TestBrowser
const strangerSigner = evmSigner(privateKeyToAccount(generatePrivateKey()))
const viewerSigner = evmSigner(privateKeyToAccount(generatePrivateKey()))
const invitedSigner = evmSigner(privateKeyToAccount(generatePrivateKey()))
const buyerAccount = privateKeyToAccount(generatePrivateKey())

const seller = () => t.a.payout.evm.address
const keyTerms = { name: 'theirs', scopes: ['payment:read'], environment: 'test' }

const MATRIX: Record<string, readonly Cell[]> = {
  // First: a refund, which others below build, answers the request.
  'GET /refund-requests': [{ ...READER, ...plain('/refund-requests') }],
  'GET /refund-requests/:paymentId': [
    { ...PARTIES, request: ({ paid }) => ({ path: `/refund-requests/${paid}` }) },
    { ...PARTIES, request: ({ open }) => ({ path: `/refund-requests/${open}` }) },
  ],
  'POST /refund-requests': [
    // What the buyer signed, again: it is the request that is there.
    { ...PARTIES, request: ({ refundRequest: { body } }) => ({ path: '/refund-requests', body }) },
    {
      ...PARTIES,
      viewer: 'INVALID_PARAMETERS',
      operator: 'INVALID_PARAMETERS',
      request: ({ refundRequest: { body } }) => ({
        path: '/refund-requests',
        body: { ...body, signature: `0x${'5b'.repeat(64)}1b` },
      }),
    },
  ],
  'POST /refund-requests/:requestId/decline': [
    {
      ...OPERATOR,
      request: ({ refundRequest: { id } }) => ({
        path: `/refund-requests/${id}/decline`,
        body: { note: 'Send it back first.' },
      }),
    },
  ],
  'POST /refund-requests/:requestId/reopen': [
    {
      ...OPERATOR,
      request: ({ refundRequest: { id } }) => ({ path: `/refund-requests/${id}/reopen`, body: {} }),
    },
  ],
  'POST /transaction/send': [
    {
      ...ANYBODY,
      request: () => ({
        path: '/transaction/send',
        body: { walletAddress: buyerAccount.address, recipientAddress: seller(), amount: 0.01 },
      }),
    },
    {
      // To anybody but the seller: for the operator alone.
      ...ANYBODY,
      nobody: 'FORBIDDEN',
      anonymous: 'FORBIDDEN',
      stranger: 'FORBIDDEN',
      viewer: 'FORBIDDEN',
      request: () => ({
        path: '/transaction/send',
        body: {
          walletAddress: buyerAccount.address,
          recipientAddress: t.b.payout.evm.address,
          amount: 0.01,
        },
      }),
    },
    {
      // A refund of what a buyer paid.
      ...WALLETS,
      viewer: 'INVALID_PARAMETERS',
      request: ({ paid }) => ({
        path: '/transaction/send',
        body: {
          walletAddress: seller(),
          recipientAddress: buyerAccount.address,
          // Each role may refund that much: an unsigned refund holds its amount.
          amount: 0.001,
          metadata: { refundOf: paid },
        },
      }),
    },
  ],
  'POST /transaction/submitted': [
    {
      ...PARTIES,
      viewer: 'NOT_FOUND',
      request: ({ paid, hash }) => ({
        path: '/transaction/submitted',
        body: { paymentId: paid, signature: hash },
      }),
    },
    {
      ...PARTIES,
      viewer: 'NOT_FOUND',
      request: ({ open }) => ({
        path: '/transaction/submitted',
        body: { paymentId: open, signature: `0x${'12'.repeat(32)}` },
      }),
    },
  ],
  'POST /transaction/release': [
    {
      ...WALLETS,
      viewer: 'INVALID_PARAMETERS',
      request: ({ refund }) => ({ path: '/transaction/release', body: { paymentId: refund } }),
    },
  ],
  'POST /transaction/receive': [
    {
      ...PAYEE,
      request: ({ proof }) => ({ path: '/transaction/receive', body: receiveBody(proof) }),
    },
  ],
  'POST /payment/receive': [
    {
      ...OPERATOR,
      request: ({ spent }) => ({ path: '/payment/receive', body: receiveBody(spent) }),
    },
  ],
  'POST /facilitator/verify': [
    {
      ...PAYEE,
      request: ({ proof }) => ({ path: '/facilitator/verify', body: facilitatorBody(proof) }),
    },
  ],
  'GET /payment/status/:paymentId': [
    { ...PARTIES, request: ({ paid }) => ({ path: `/payment/status/${paid}` }) },
    { ...PARTIES, request: ({ open }) => ({ path: `/payment/status/${open}` }) },
  ],
  'GET /payment/history/:walletAddress': [
    { ...WALLETS, request: () => ({ path: `/payment/history/${buyerAccount.address}` }) },
    { ...WALLETS, request: () => ({ path: `/payment/history/${seller()}` }) },
  ],
  'GET /payments': [
    { ...OWN_WALLETS, ...plain('/payments') },
    { ...OWN_WALLETS, ...plain('/payments?status=incomplete') },
    { ...WALLETS, request: () => ({ path: `/payments?wallets=${buyerAccount.address}` }) },
  ],
  'GET /payments/summary': [
    { ...OWN_WALLETS, ...plain('/payments/summary') },
    { ...WALLETS, request: () => ({ path: `/payments/summary?wallets=${seller()}` }) },
  ],
  'GET /token/info/:mintAddress': [
    { ...ANYBODY, request: () => ({ path: `/token/info/${t.usdc.address}` }) },
  ],
  'GET /api-keys': [{ ...READER, ...plain('/api-keys') }],
  'POST /api-keys': [
    { ...OWNER_CONFIRMED, request: () => ({ path: '/api-keys', body: keyTerms }) },
  ],
  'POST /api-keys/:id/rotate': [
    {
      ...OWNER_CONFIRMED,
      request: ({ key }) => ({ path: `/api-keys/${key}/rotate`, body: { graceSeconds: 0 } }),
    },
  ],
  'DELETE /api-keys/:id': [
    { ...OWNER_CONFIRMED, request: ({ key }) => ({ path: `/api-keys/${key}` }) },
  ],
  'POST /approvals': [
    {
      ...OWNER_CONFIRMED,
      request: () => ({
        path: '/approvals',
        body: {
          signer: proxy.operator.address,
          operation: { kind: 'create', terms: { ...keyTerms, plan: 'standard' } },
        },
      }),
    },
  ],
  'GET /usage': [{ ...READER, ...plain('/usage') }],
  'GET /requests': [{ ...READER, ...plain('/requests') }],
  'GET /webhooks': [{ ...READER, ...plain('/webhooks') }],
  'POST /webhooks': [
    {
      ...OPERATOR,
      request: () => ({ path: '/webhooks', body: { url: 'https://shop.example/' } }),
    },
  ],
  'POST /webhooks/:id': [ofWebhook('', { enabled: false })],
  'POST /webhooks/:id/secret': [ofWebhook('/secret', { graceSeconds: 0 })],
  'POST /webhooks/:id/test': [ofWebhook('/test')],
  'GET /webhooks/:id/deliveries': [{ ...ofWebhook('/deliveries'), ...READER }],
  'POST /webhooks/:id/redeliver': [ofWebhook('/redeliver', { from: '0', to: '1' })],
  'DELETE /webhooks/:id': [ofWebhook('')],
  // Offered, if at all, to the operator alone.
  'GET /unmatched': [{ ...READER, ...plain('/unmatched') }],
  'POST /unmatched/:transferId/assign': [
    {
      ...OPERATOR,
      request: ({ transferId, open }) => ({
        path: `/unmatched/${transferId}/assign`,
        body: { paymentId: open },
      }),
    },
  ],
  'POST /unmatched/:transferId/unassign': [
    {
      ...OPERATOR,
      request: ({ transferId }) => ({ path: `/unmatched/${transferId}/unassign`, body: {} }),
    },
  ],
  'GET /undelivered': [{ ...READER, ...plain('/undelivered') }],
  'POST /undelivered/:paymentId/close': [
    {
      ...OPERATOR,
      operator: 'NOT_FOUND',
      request: ({ open }) => ({ path: `/undelivered/${open}/close`, body: {} }),
    },
  ],
  'POST /undelivered/:paymentId/reopen': [
    {
      ...OPERATOR,
      operator: 'NOT_FOUND',
      request: ({ open }) => ({ path: `/undelivered/${open}/reopen`, body: {} }),
    },
  ],
  'GET /wallets/payout': [{ ...OPERATOR, ...plain('/wallets/payout') }],
  'POST /wallets/payout/challenge': [
    {
      ...CONFIRMED,
      request: () => ({ path: '/wallets/payout/challenge', body: { walletAddress: seller() } }),
    },
  ],
  'POST /wallets/payout': [
    {
      ...CONFIRMED,
      request: () => ({ path: '/wallets/payout', body: { challengeId: 'none', signature: '0x' } }),
    },
  ],
  'DELETE /wallets/payout/:walletAddress': [
    { ...CONFIRMED, request: () => ({ path: `/wallets/payout/${seller()}` }) },
  ],

  'GET /config': [{ ...ANYBODY, ...plain('/config') }],
  'GET /rates': [{ ...ANYBODY, ...plain('/rates') }],
  'GET /session': [{ ...ANYBODY, ...plain('/session') }],
  'POST /session/challenge': [
    {
      ...ANYBODY,
      request: () => ({
        path: '/session/challenge',
        body: { walletAddress: buyerAccount.address, network: t.evm.network.network },
      }),
    },
  ],
  'POST /session': [
    // What the buyer's wallet signed is of use in the buyer's browser only.
    {
      nobody: 'UNAUTHORIZED',
      anonymous: 'UNAUTHORIZED',
      stranger: 'UNAUTHORIZED',
      viewer: 'UNAUTHORIZED',
      operator: 'UNAUTHORIZED',
      request: ({ signIn }) => ({ path: '/session', body: signIn }),
    },
  ],
  'GET /sessions': [{ ...OWN_WALLETS, ...plain('/sessions') }],
  'POST /sessions/end-others': [
    { ...OWN_WALLETS, request: () => ({ path: '/sessions/end-others', body: {} }) },
  ],
  'GET /links': [{ ...READER, ...plain('/links') }],
  'POST /links/surplus': [{ ...READER, request: () => ({ path: '/links/surplus', body: {} }) }],
  'POST /links': [
    {
      ...OPERATOR,
      request: () => ({
        path: '/links',
        body: { network: t.evm.network.network, recipient: seller(), amount: 0.01 },
      }),
    },
  ],
  'POST /links/short': [
    {
      ...OPERATOR,
      request: () => ({
        path: '/links/short',
        body: { price: { currency: 'ETH', amount: '0.01' } },
      }),
    },
  ],
  'POST /links/withdraw': [
    { ...OPERATOR, request: ({ linkId }) => ({ path: '/links/withdraw', body: { id: linkId } }) },
  ],
  'POST /links/restore': [
    { ...OPERATOR, request: ({ linkId }) => ({ path: '/links/restore', body: { id: linkId } }) },
  ],
  'POST /link/read': [
    { ...ANYBODY, request: ({ link }) => ({ path: '/link/read', body: { link } }) },
  ],
  'POST /link/open': [
    { ...ANYBODY, request: ({ code }) => ({ path: '/link/open', body: { link: code } }) },
  ],
  // Who has the link and the payment learns one thing: whether it came after the link was paid.
  'POST /link/surplus': [
    {
      ...OWN_WALLETS,
      anonymous: 'ALLOWED',
      request: ({ code, paid }) => ({
        path: '/link/surplus',
        body: { link: code, paymentId: paid },
      }),
    },
  ],
  'POST /link/lease': [
    {
      ...OWN_WALLETS,
      anonymous: 'ALLOWED',
      request: ({ code, paid }) => ({
        path: '/link/lease',
        body: { link: code, paymentId: paid },
      }),
    },
  ],
  'POST /link/pay': [
    {
      ...ANYBODY,
      request: ({ link }) => ({
        path: '/link/pay',
        body: { link, walletAddress: buyerAccount.address },
      }),
    },
  ],
  'GET /hosted': [{ ...READER, ...plain('/hosted') }],
  'POST /hosted/intent': [
    {
      ...CONFIRMED,
      request: () => ({
        path: '/hosted/intent',
        body: {
          network: t.evm.network.network,
          from: t.a.managed.evm,
          to: buyerAccount.address,
          asset: 'native',
          amount: 0.01,
          signer: proxy.operator.address,
        },
      }),
    },
  ],
  'POST /hosted/send': [
    {
      ...CONFIRMED,
      request: () => ({ path: '/hosted/send', body: { nonce: 'a'.repeat(32), signature: '0x' } }),
    },
  ],
  'POST /notes/read': [
    {
      ...OWN_WALLETS,
      request: ({ paid }) => ({ path: '/notes/read', body: { paymentIds: [paid] } }),
    },
  ],
  'POST /notes': [
    {
      ...WALLETS,
      viewer: 'NOT_FOUND',
      request: ({ paid }) => ({ path: '/notes', body: { paymentIds: [paid], note: 'theirs' } }),
    },
  ],
  'GET /notes/labels': [{ ...OWN_WALLETS, ...plain('/notes/labels') }],
  'POST /relay': [
    {
      ...ANYBODY,
      nobody: 'UNAUTHORIZED',
      anonymous: 'UNAUTHORIZED',
      request: () => ({
        path: '/relay',
        body: { method: 'GET', url: 'http://127.0.0.1:9/', headers: [] },
      }),
    },
  ],
  ...MERCHANT_CELLS,
  // It ends the session that asks, so it is asked last.
  'DELETE /session': [{ ...ANYBODY, ...plain('/session') }],
}

const SERVICE: readonly Endpoint[] = Object.values(endpoints)
const OFFERED = [
  ...SERVICE.filter(({ audience }) => audience === 'browser').map(
    ({ method, path }) => `${method} ${path}`,
  ),
  ...Object.values(browserEndpoints).map(({ method, path }) => `${method} ${path}`),
]
const CELLS = Object.entries(MATRIX)
  .filter(([endpoint]) => OFFERED.includes(endpoint))
  .flatMap(([endpoint, cells]) => cells.map((cell) => ({ endpoint, ...cell })))

beforeAll(async () => {
  t = await openTenants()
  proxy = await openProxy(t)
  operator = await proxy.signedIn(proxy.operator)
  buyer = await proxy.signedIn(evmSigner(buyerAccount))
  viewer = await join(viewerSigner, 'viewer')
  invited = await join(invitedSigner, 'operator')
  await t.evm.client.setBalance({ address: buyerAccount.address, value: 10n ** 20n })
  const build = async (amount: number) => {
    const answer = await buyer.post('/api/transaction/send', {
      walletAddress: buyerAccount.address,
      recipientAddress: seller(),
      amount,
      metadata: { referenceId: SECRET },
    })
    return toOrder(succeed(asReply(answer)).body)
  }
  const [open, paid] = [await build(0.02), await build(0.01)]
  const hash = await payOrder(t, buyerAccount, paid)
  const link = succeed(
    asReply(
      await operator.post('/api/links', {
        network: t.evm.network.network,
        recipient: seller(),
        amount: 0.01,
      }),
    ),
  )
  const short = succeed(
    asReply(
      await operator.post('/api/links/short', { price: { currency: 'ETH', amount: '0.01' } }),
    ),
  )
  const file = succeed(asReply(await operator.post('/api/files', fileTerms)))
  const product = succeed(asReply(await operator.post('/api/products', PRODUCT)))
  const drafts = await Promise.all(
    [1, 2].map(async () =>
      textAt(succeed(asReply(await operator.post('/api/invoices', INVOICE))).body, 'invoice.id'),
    ),
  )
  const [draft = '', invoice = ''] = drafts
  succeed(asReply(await operator.post('/api/invoices/issue', { id: invoice })))
  const webhook = succeed(
    asReply(await operator.post('/api/webhooks', { url: 'https://shop.example/events' })),
  )
  const challenge = await buyer.challenge(evmSigner(buyerAccount))
  const prove = () => makeProof(t, { method: 'evm eip3009', payTo: seller() })
  facts = {
    stranger: strangerSigner.address,
    viewer: viewerSigner.address,
    paid: paid.paymentId,
    refund: 'none',
    hash,
    open: open.paymentId,
    link: textAt(link.body, 'link.link'),
    linkId: textAt(link.body, 'link.terms.id'),
    code: textAt(short.body, 'link.link'),
    fileId: textAt(file.body, 'file.id'),
    fileCode: textAt(file.body, 'file.code'),
    product: textAt(product.body, 'product.id'),
    draft,
    invoice,
    key: (await t.keyOf(t.a, ['payment:read'])).id,
    webhook: textAt(webhook.body, 'id'),
    transferId: 'none',
    refundRequest: { body: {}, id: 'none' },
    signIn: {
      id: challenge.id,
      signature: await buyerAccount.signMessage({ message: challenge.message }),
    },
    proof: await prove(),
    spent: await prove(),
  }
  await untilStatus(t, { tenant: t.a, paymentId: facts.paid }, ['finalized'])
  const reading = succeed(asReply(await buyer.get(`/api/refund-requests/${facts.paid}`)))
  const asking = await signRefundRequest(t, buyerAccount, reading.body)
  const request = succeed(asReply(await buyer.post('/api/refund-requests', asking)))
  facts.refundRequest = { body: asking, id: textAt(request.body, 'request.requestId') }
  const refund = await operator.post('/api/transaction/send', {
    walletAddress: seller(),
    recipientAddress: buyerAccount.address,
    amount: 0.0001,
    metadata: { refundOf: facts.paid },
  })
  facts.refund = textAt(succeed(asReply(refund)).body, 'paymentId')
  if (!OFFERED.includes('GET /unmatched')) return
  const payer = await t.payer()
  const late = toOrder(
    succeed(
      asReply(
        await buyer.post('/api/transaction/send', {
          walletAddress: payer.address,
          recipientAddress: seller(),
          amount: 0.03,
        }),
      ),
    ).body,
  )
  facts.transferId = (
    await untilUnmatched(t, t.a, await payOrder(t, payer, late, WALLET_FEES))
  ).transferId
  facts.open = late.paymentId
})

afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]()
  await t?.[Symbol.asyncDispose]()
})

test('no endpoint is left out', () => {
  expect(OFFERED.filter((name) => MATRIX[name] === undefined)).toEqual([])
})

test('strangers change and learn nothing, and a viewer changes nothing', async () => {
  const before = await snapshot()
  const anonymous = proxy.browser()
  await anonymous.post('/api/transaction/send', {
    walletAddress: (await t.payer()).address,
    recipientAddress: seller(),
    amount: 0.05,
  })
  const strange = await proxy.signedIn(strangerSigner)
  const made: string[] = []
  const cells = new Cells()
  for (const [caller, browserOf] of Object.entries({
    nobody: () => proxy.browser(),
    anonymous: () => anonymous,
    stranger: () => strange,
    viewer: () => viewer,
  })) {
    proxy.passMinute()
    for (const [index, cell] of CELLS.entries()) {
      const reply = await ask(browserOf(), cell)
      const name = `${caller}: ${cell.endpoint} (${index})`
      // A viewer reads the payment that was there before.
      made.push(...madeBy(reply).filter((id) => id !== facts.paid))
      cells.add(
        name,
        cell[caller as 'nobody' | 'anonymous' | 'stranger' | 'viewer'],
        classOf(reply),
      )
      if (reply.status < 300 && caller !== 'viewer') expect(secretsIn(reply), name).toEqual([])
    }
  }
  expect.soft(cells.answers).toEqual(cells.right)
  expect
    .soft(await snapshot(), 'what the seller and the buyer read of their accounts')
    .toEqual(before)
  expect
    .soft(
      listAt((await t.a.api.get('/payments?limit=500')).body, 'payments').filter((row) =>
        made.includes(textAt(row, 'paymentId')),
      ),
    )
    .toEqual([])
})

test('the payer reads the note that declines a request, and not who of the account declined it', async () => {
  const { id } = facts.refundRequest
  const path = `/api/refund-requests/${facts.paid}`
  const declinedFor = async (browser: TestBrowser) =>
    at(listAt(succeed(asReply(await browser.get(path))).body, 'requests')[0], 'declined')
  succeed(
    asReply(await operator.post(`/api/refund-requests/${id}/decline`, { note: 'Send it back.' })),
  )
  expect(await declinedFor(operator)).toMatchObject({
    by: proxy.operator.address,
    note: 'Send it back.',
  })
  expect(await declinedFor(buyer)).toMatchObject({ by: null, note: 'Send it back.' })
  succeed(asReply(await operator.post(`/api/refund-requests/${id}/reopen`, {})))
})

test.each(CELLS.filter(({ operator: may }) => may !== undefined))(
  'an owner: $endpoint',
  async (cell) => {
    const reply = await askWhileMining(operator, cell)
    expect(classOf(reply), reply.text).toBe(rightClass(cell.operator ?? '', classOf(reply)))
  },
)

describe('an invited operator', () => {
  // While the owner was asked, other sessions had hours of idle time.
  beforeAll(async () => {
    invited = await proxy.signedIn(invitedSigner)
  })

  test.each(CELLS.filter(({ operator: may, invited: must }) => (must ?? may) !== undefined))(
    'at $endpoint',
    async (cell) => {
      const reply = await askWhileMining(invited, cell)
      // What the owner used up is gone; the role is what is tried here.
      const right = cell.invited ?? [cell.operator ?? '', 'NOT_FOUND', 'INVALID_PARAMETERS'].flat()
      expect(classOf(reply), reply.text).toBe(rightClass(right, classOf(reply)))
    },
  )
})

/** An owner invites, and the wallet takes the role. */
async function join(signer: WalletOwnerSigner, role: string): Promise<TestBrowser> {
  const browser = await proxy.signedIn(signer)
  const approval = await operator.approve(proxy.operator, { kind: 'invite', role })
  const invitation = succeed(asReply(await operator.post('/api/people/invite', { role }, approval)))
  const code = textAt(invitation.body, 'code')
  succeed(asReply(await browser.post('/api/people/join', { code, walletAddress: signer.address })))
  return browser
}

async function askWhileMining(
  browser: TestBrowser,
  cell: Pick<Cell, 'request'> & { endpoint: string },
): Promise<ApiReply> {
  proxy.passMinute()
  const mining = setInterval(() => void t.evm.mine().catch(() => undefined), 50)
  return ask(browser, cell).finally(() => clearInterval(mining))
}

const SECRET = 'the buyer’s own reference'

async function ask(
  browser: TestBrowser,
  { endpoint, request }: Pick<Cell, 'request'> & { endpoint: string },
): Promise<ApiReply> {
  const { path, body } = request(facts)
  const [method = ''] = endpoint.split(' ')
  const headers = {
    'X-Requested-By': 'paydesk',
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  }
  return asReply(
    await browser.send(method, `/api${path}`, {
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  )
}

function secretsIn({ text }: ApiReply): string[] {
  return [facts.paid, facts.open, facts.key, facts.hash, SECRET].filter((secret) =>
    text.includes(secret),
  )
}

/** What the seller and the buyer read of their accounts. */
async function snapshot(): Promise<unknown> {
  const ofSeller = await readOwn((path) => t.a.api.get(path), MERCHANT_READS)
  const ofBuyer = await readOwn(
    (path) => buyer.get(path).then(asReply),
    ['/api/session', '/api/payments', `/api/payment/status/${facts.open}`, '/api/notes/labels'],
  )
  return [
    ofSeller,
    ofBuyer,
    await readOwn(
      (path) => operator.get(path).then(asReply),
      ['/api/links', '/api/files', '/api/products'],
    ),
    (await operator.post('/api/invoices/list', {})).json,
  ]
}
