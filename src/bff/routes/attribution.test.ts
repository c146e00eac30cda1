import { eq } from 'drizzle-orm'
import { hashTypedData } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decodeTransaction } from '#chains/evm/decode.ts'
import type { PayerEvidenceRequest } from '#contract/payer-evidence.ts'
import type { LinkBody } from '#contract/link-endpoints.ts'
import { payment } from '#service/db/schema/payment.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { Fixture } from '#testing/fixture.ts'
import {
  evmWallet,
  type BrowserResponse,
  type TestBrowser,
  type TestWallet,
} from '#testing/test-browser.ts'

const seller = evmWallet()
let evm: EvmFixture
let fixture: Fixture

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 1 })
  fixture = await Fixture.open({
    networks: [evm.network],
    bff: { sellerWallets: [seller.address], operatorWallets: [seller.address] },
  })
})
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

type BuiltAnswer = {
  paymentId: string
  transaction: string
  evidence: { fingerprint: boolean; request: PayerEvidenceRequest }
}
type StatusAnswer = {
  status: string
  attribution: {
    evidence: string | null
    missing: string[]
    transfer: string | null
    request: PayerEvidenceRequest | null
  }
}
const builtOf = (answer: BrowserResponse) => answer.json as unknown as BuiltAnswer
const statusOf = async (browser: TestBrowser, paymentId: string) =>
  (await browser.get(`/api/payment/status/${paymentId}`)).json as unknown as StatusAnswer
const key = () => ({ 'Idempotency-Key': crypto.randomUUID() })

function walletOf(account: PrivateKeyAccount): TestWallet {
  return {
    address: account.address,
    network: evm.network.network,
    sign: (message) => account.signMessage({ message }),
  }
}

function orderOf(account: PrivateKeyAccount, more: Record<string, unknown> = {}) {
  return { walletAddress: account.address, recipientAddress: seller.address, amount: 0.01, ...more }
}

async function build(browser: TestBrowser, account: PrivateKeyAccount): Promise<BuiltAnswer> {
  const answer = await browser.post('/api/transaction/send', orderOf(account), key())
  if (answer.status !== 200) throw new Error(answer.text)
  return builtOf(answer)
}

/** As a wallet does that chooses the fees itself. */
async function sendWithOtherFees(
  account: PrivateKeyAccount,
  transaction: string,
): Promise<`0x${string}`> {
  const decoded = decodeTransaction(Buffer.from(transaction, 'base64'))
  if (!decoded.ok) throw new Error(decoded.problem.code)
  const { chainId, gas, nonce, to, valueAtomic: value } = decoded
  const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n }
  const serializedTransaction = await account.signTransaction({
    type: 'eip1559',
    chainId,
    gas,
    nonce,
    to: to as `0x${string}`,
    value,
    ...fees,
  })
  return evm.client.sendRawTransaction({ serializedTransaction })
}

const rowOf = async (id: string) =>
  (await fixture.service.context.db.select().from(payment).where(eq(payment.id, id)))[0]

describe('the sender of an order is verified', () => {
  test('where the session has proven it, and nowhere else', async () => {
    const account = await evm.wallet(10n ** 18n)
    const [own, other, anonymous] = [fixture.browser(), fixture.browser(), fixture.browser()]
    await own.signIn(walletOf(account))
    await other.signIn(evmWallet())
    expect(await rowOf((await build(own, account)).paymentId)).toMatchObject({
      senderVerified: true,
      draft: false,
    })
    expect(await rowOf((await build(other, account)).paymentId)).toMatchObject({
      senderVerified: false,
      draft: true,
    })
    expect(await rowOf((await build(anonymous, account)).paymentId)).toMatchObject({
      senderVerified: false,
      draft: true,
    })
  })

  test('never by word of a browser: its senderVerified is refused by name', async () => {
    const account = await evm.wallet(10n ** 18n)
    const browser = fixture.browser()
    const { paymentId } = await build(browser, account)
    const shop = fixture.browser()
    await shop.signIn(seller)
    const made = (
      await shop.post('/api/links', {
        network: evm.network.network,
        recipient: seller.address,
        amount: 0.01,
      })
    ).json as unknown as {
      link: LinkBody
    }
    for (const senderVerified of [true, false]) {
      const answers = [
        await browser.post('/api/transaction/send', orderOf(account, { senderVerified }), key()),
        await browser.post(
          '/api/transaction/submitted',
          { paymentId, signature: `0x${'1'.repeat(64)}`, senderVerified },
          key(),
        ),
        await browser.post(
          '/api/link/pay',
          { link: made.link.link, walletAddress: account.address, senderVerified },
          key(),
        ),
      ]
      for (const answer of answers) {
        expect(answer).toMatchObject({
          status: 400,
          json: {
            error: { code: 'INVALID_PARAMETERS', details: { senderVerified: expect.any(String) } },
          },
        })
      }
    }
  })

  test('by a sign-in after the report: the order that waited for it is confirmed', async () => {
    const account = await evm.wallet(10n ** 18n)
    const buyer = fixture.browser()
    const { paymentId, transaction } = await build(buyer, account)
    const signature = await sendWithOtherFees(account, transaction)
    await evm.mine(1)
    expect(
      (await buyer.post('/api/transaction/submitted', { paymentId, signature }, key())).status,
    ).toBe(200)
    await evm.mine(3)
    await expect
      .poll(async () => (await statusOf(buyer, paymentId)).attribution.missing)
      .toContain('sender_verification')
    expect((await statusOf(buyer, paymentId)).status).toBe('created')
    await buyer.signIn(walletOf(account))
    await expect
      .poll(async () => (await rowOf(paymentId))?.status)
      .toMatch(/^(confirmed|finalized)$/)
    expect((await rowOf(paymentId))?.evidence).toBe('sender')
  })

  test('where the tab was closed before the report: once the signed-in payer looks at the order again', async () => {
    const account = await evm.wallet(10n ** 18n)
    const buyer = fixture.browser()
    const { paymentId, transaction } = await build(buyer, account)
    await buyer.signIn(walletOf(account))
    await sendWithOtherFees(account, transaction)
    await evm.mine(4)
    await expect
      .poll(async () => (await statusOf(buyer, paymentId)).status)
      .toMatch(/^(confirmed|finalized)$/)
    expect((await statusOf(buyer, paymentId)).attribution).toMatchObject({
      evidence: 'sender',
      missing: [],
    })
  })

  test("by no session but the one that made the order: a payer who looks at a stranger's order does not confirm it", async () => {
    const account = await evm.wallet(10n ** 18n)
    const [thief, buyer] = [fixture.browser(), fixture.browser()]
    const planted = await build(thief, account)
    await buyer.signIn(walletOf(account))
    await sendWithOtherFees(account, planted.transaction)
    await evm.mine(4)
    await expect
      .poll(async () => (await statusOf(thief, planted.paymentId)).attribution.missing)
      .not.toEqual([])
    expect((await statusOf(buyer, planted.paymentId)).status).toBe('created')
    expect(await rowOf(planted.paymentId)).toMatchObject({ senderVerified: false, evidence: null })
  })
})

test('the signature of a payer passes through, and confirms the order whose fees the wallet replaced', async () => {
  const account = await evm.wallet(10n ** 18n)
  const buyer = fixture.browser()
  const { paymentId, transaction, evidence } = await build(buyer, account)
  const signature = await sendWithOtherFees(account, transaction)
  await evm.mine(4)
  const { domain, types, primaryType, message } = evidence.request
  const payerSignature = await account.sign({
    hash: hashTypedData({ domain, types, primaryType, message } as never),
  })
  const payerNonce = Number(message.nonce)
  const wrong = await buyer.post(
    '/api/transaction/submitted',
    { paymentId, signature, payerSignature, payerNonce: payerNonce + 1 },
    key(),
  )
  expect(wrong).toMatchObject({
    status: 400,
    json: { error: { details: { payerSignature: expect.any(String) } } },
  })
  expect(
    (
      await buyer.post(
        '/api/transaction/submitted',
        { paymentId, signature, payerSignature, payerNonce },
        key(),
      )
    ).status,
  ).toBe(200)
  await expect
    .poll(async () => (await statusOf(buyer, paymentId)).status)
    .toMatch(/^(confirmed|finalized)$/)
  expect((await rowOf(paymentId))?.evidence).toBe('payer_signature')
})

describe('one idempotency key of two visitors', () => {
  test.each(['anonymous', 'signed in'])(
    'builds two payments for them, and neither reads the answer of the other: %s',
    async (who) => {
      const account = await evm.wallet(10n ** 18n)
      const headers = key()
      const [one, other] = [fixture.browser(), fixture.browser()]
      if (who === 'signed in') for (const browser of [one, other]) await browser.signIn(evmWallet())
      const first = builtOf(await one.post('/api/transaction/send', orderOf(account), headers))
      const second = builtOf(await other.post('/api/transaction/send', orderOf(account), headers))
      expect(second.paymentId).not.toBe(first.paymentId)
      expect((await other.get(`/api/payment/status/${first.paymentId}`)).status).toBe(404)
      const again = await one.post('/api/transaction/send', orderOf(account), headers)
      expect(again.headers.get('idempotent-replayed')).toBe('true')
      expect(builtOf(again).paymentId).toBe(first.paymentId)
    },
  )

  test('builds two payments of a link, and both are counted as its payments', async () => {
    const account = await evm.wallet(10n ** 18n)
    const shop = fixture.browser()
    await shop.signIn(seller)
    const made = (
      await shop.post('/api/links', {
        network: evm.network.network,
        recipient: seller.address,
        amount: 0.01,
      })
    ).json as unknown as {
      link: LinkBody
    }
    const headers = key()
    const [one, other] = [fixture.browser(), fixture.browser()]
    const pay = (browser: TestBrowser) =>
      browser.post(
        '/api/link/pay',
        { link: made.link.link, walletAddress: account.address },
        headers,
      )
    const [first, second] = [builtOf(await pay(one)), builtOf(await pay(other))]
    expect(second.paymentId).not.toBe(first.paymentId)
    expect((await other.get(`/api/payment/status/${first.paymentId}`)).status).toBe(404)
    expect(builtOf(await pay(one)).paymentId).toBe(first.paymentId)
    for (const { paymentId } of [first, second]) await fixture.move(paymentId, 'confirmed')
    fixture.bff.context.upstream.forgetReads()
    const links = (await shop.get('/api/links')).json as unknown as { links: LinkBody[] }
    expect(links.links.find(({ terms }) => terms.id === made.link.terms.id)).toMatchObject({
      paid: 2,
    })
  })
})
