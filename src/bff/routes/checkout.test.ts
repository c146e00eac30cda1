import { afterAll, beforeAll, expect, test } from 'vitest'
import { signBuilt, startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { Fixture } from '#testing/fixture.ts'
import { evmWallet } from '#testing/test-browser.ts'
import { NATIVE_SOL, SOLANA_DEVNET } from '#contract/network.ts'

const seller = evmWallet()
let evm: EvmFixture
let fixture: Fixture

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 1 })
  const solana = {
    network: SOLANA_DEVNET,
    name: 'Local Solana',
    rpcUrls: ['http://127.0.0.1:9'],
    testnet: true,
    blockTimeMs: 60_000,
    confirmations: 1,
    assets: [NATIVE_SOL],
  }
  fixture = await Fixture.open({
    networks: [evm.network, solana],
    bff: { sellerWallets: [seller.address] },
  })
})
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

test('a buyer without a session pays the seller: builds, reads, reports and hears of that one payment, and of nothing else', async () => {
  const account = await evm.wallet(10n ** 18n)
  const buyer = fixture.browser()
  const order = {
    walletAddress: account.address,
    recipientAddress: seller.address,
    amount: 0.01,
    metadata: { note: 'tea', large: 12345678901234567890n.toString() },
  }
  const built = await buyer.post('/api/transaction/send', order, {
    'Idempotency-Key': crypto.randomUUID(),
  })
  expect(built.status).toBe(200)
  expect(built.json).toMatchObject({
    success: true,
    amount: 0.01,
    amountAtomic: '10000000000000000',
    sender: account.address,
    recipient: seller.address,
  })
  expect(buyer.cookies.has('__Host-paydesk')).toBe(true)
  const { paymentId } = built.json
  expect((await buyer.get('/api/session')).json.session).toMatchObject({
    wallets: [],
    role: null,
  })

  const events = buyer.events()
  await expect.poll(() => events.lastEventId).toBeDefined()
  expect((await buyer.get(`/api/payment/status/${paymentId}`)).json).toMatchObject({
    paymentId,
    status: 'created',
  })
  const other = await fixture.createPayment({})
  expect((await buyer.get(`/api/payment/status/${other}`)).status).toBe(404)

  const { transaction } = built.json as unknown as { transaction: string }
  const serialized = await signBuilt(account, transaction)
  const signature = await evm.client.sendRawTransaction({ serializedTransaction: serialized })
  expect((await buyer.post('/api/transaction/submitted', { paymentId, signature })).status).toBe(
    200,
  )
  await evm.mine(3)
  await expect.poll(() => events.told.at(-1)).toMatch(/ (confirmed|finalized)$/)
  expect(new Set(events.told.map((line) => line.split(' ')[0]))).toEqual(new Set([paymentId]))
  events.close()

  const stranger = fixture.browser()
  expect((await stranger.post('/api/transaction/submitted', { paymentId, signature })).status).toBe(
    401,
  )
})

test('an answer that was lost is given again to the same session: the same key builds one payment', async () => {
  const account = await evm.wallet(10n ** 18n)
  const key = crypto.randomUUID()
  const order = { walletAddress: account.address, recipientAddress: seller.address, amount: 0.02 }
  const buyer = fixture.browser()
  const lost = await buyer.post('/api/transaction/send', order, { 'Idempotency-Key': key })
  const again = await buyer.post('/api/transaction/send', order, { 'Idempotency-Key': key })
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  expect(again.json.paymentId).toBe(lost.json.paymentId)
  expect(
    (
      await buyer.post(
        '/api/transaction/send',
        { ...order, amount: 0.03 },
        { 'Idempotency-Key': key },
      )
    ).json.error.code,
  ).toBe('IDEMPOTENCY_CONFLICT')
})

test("the service's reason why a payment cannot be made reaches the buyer with its figures", async () => {
  const account = await evm.wallet(10n ** 15n)
  const answer = await fixture.browser().post('/api/transaction/send', {
    walletAddress: account.address,
    recipientAddress: seller.address,
    amount: 5,
  })
  expect(answer).toMatchObject({
    status: 400,
    json: {
      error: {
        code: 'INSUFFICIENT_BALANCE',
        details: {
          reason: {
            code: 'amount_and_fee',
            params: { available: { amountAtomic: (10n ** 15n).toString() } },
          },
        },
      },
    },
  })
})
