import { Connection, VersionedTransaction } from '@solana/web3.js'
import {
  createPublicClient,
  createWalletClient,
  http,
  type Hex,
  type TypedDataDefinition,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPayment } from '#chains/solana/build.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import { createDevnetDatabase } from '#testing/postgres.ts'
import { eventually } from '#testing/service-context.ts'
import { encodeBase64, encodeHeader } from '#x402/header.ts'
import type { Requirements, RequirementsV1, ResourceInfo } from '#x402/requirements.ts'
import { offerProofTypedData, proofTypedData } from '#x402/txid.ts'
import { Devnet } from '../network.ts'
import { solanaKeypair } from '../nodes/wallets.ts'

/** The demo shop, paid on both chains by people who send and sign with their own keys. */

const stack = new AsyncDisposableStack()
let net: Devnet
let evm: ReturnType<typeof createPublicClient>
let solana: Connection

beforeAll(async () => {
  const { url: databaseUrl } = stack.use(await createDevnetDatabase())
  const devnet = await Devnet.create({
    databaseUrl,
    programs: { service: true, bff: false, web: false, seller: true },
    seed: false,
    evmBlockTimeSeconds: 0.5,
    slotTimeMs: 100,
  })
  net = stack.use(devnet)
  evm = createPublicClient({ transport: http(net.evm.rpcUrl), pollingInterval: 100 })
  solana = new Connection(net.solana.rpcUrl, {
    commitment: 'confirmed',
    wsEndpoint: net.solana.wsUrl,
  })
})

afterAll(() => stack.disposeAsync())

const ETH = '/articles/settlement-without-banks'
const SOL = '/articles/the-price-of-finality'

type Bill = {
  resource: ResourceInfo
  accepts: Requirements[]
  v1: { accepts: RequirementsV1[] }
  error: string
}

const read = (value: string | null) => JSON.parse(Buffer.from(value ?? '', 'base64').toString())
const visit = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${net.urls.seller}${path}`, { headers })
const pay = (path: string, header: string) => visit(path, { 'payment-signature': header })

async function bill(path: string): Promise<Bill> {
  return readBill(await visit(path))
}

async function readBill(response: Response): Promise<Bill> {
  expect(response.status).toBe(402)
  expect(response.headers.get('cache-control')).toBe('no-store')
  return { ...read(response.headers.get('payment-required')), v1: await response.json() }
}

function entry(accepts: readonly Requirements[], method: string): Requirements {
  const found = accepts.find(({ extra }) => extra.assetTransferMethod === method)
  if (!found) throw new Error(`The shop does not take ${method}.`)
  return found
}

async function sendEther({ payTo, amount }: { payTo: string; amount: string }): Promise<Hex> {
  const account = privateKeyToAccount(net.wallets.buyer.evm.privateKey)
  const wallet = createWalletClient({ account, transport: http(net.evm.rpcUrl) })
  const hash = await wallet.sendTransaction({
    chain: null,
    to: payTo as Hex,
    value: BigInt(amount),
  })
  await evm.waitForTransactionReceipt({ hash })
  return hash
}

/** The header of a buyer who sent ether and signs what for. */
async function proveEther(
  { resource, accepts }: Pick<Bill, 'resource' | 'accepts'>,
  txRef: Hex,
): Promise<string> {
  const account = privateKeyToAccount(net.wallets.buyer.evm.privateKey)
  const accepted = entry(accepts, 'txid')
  const { network, asset, payTo, maxTimeoutSeconds, amount } = accepted
  const data: TypedDataDefinition = proofTypedData(
    {
      network,
      from: account.address,
      payTo,
      asset,
      amountAtomic: BigInt(amount),
      maxTimeoutSeconds,
      resource,
    },
    txRef,
  )
  const signature = await account.signTypedData(data)
  return encodeHeader({
    x402Version: 2,
    resource,
    accepted,
    payload: {
      type: 'payment-proof',
      alg: 'ES256K',
      format: 'eip712',
      txRef,
      from: account.address,
      signature,
    },
  })
}

async function signSol(
  accepted: { payTo: string; amount: string },
  memo: string,
): Promise<Uint8Array> {
  const buyer = solanaKeypair(net.wallets.buyer.solana)
  const { blockhash } = await solana.getLatestBlockhash()
  const bytes = buildPayment({
    paymentId: memo,
    network: net.networks[1]?.network ?? '',
    asset: NATIVE_SOL,
    sender: buyer.publicKey.toBase58(),
    recipient: accepted.payTo,
    amountAtomic: BigInt(accepted.amount),
    blockhash,
    unitLimit: 30_000,
    unitPriceMicroLamports: 1_000n,
  })
  const transaction = VersionedTransaction.deserialize(bytes)
  transaction.sign([buyer])
  return transaction.serialize()
}

/** Paid, or told to wait: the money may still be on its way. */
async function paid(path: string, header: string): Promise<Response> {
  return eventually(
    () => pay(path, header),
    ({ status }) => status !== 202,
  )
}

describe('the bill', () => {
  test('says the same in both versions, and is another one at each visit', async () => {
    const first = await bill(ETH)
    expect(first.resource.url).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/articles\/settlement-without-banks\?order=[\w-]{22}\.[\w-]{22}$/,
    )
    const asked = { network: 'eip155:31337', payTo: net.wallets.seller.evm.address }
    expect(first.accepts).toMatchObject([
      {
        ...asked,
        amount: '10000000000000000',
        extra: { assetTransferMethod: 'txid', paymentFlow: 'upfront' },
      },
      {
        ...asked,
        amount: '10000000000000000',
        extra: { assetTransferMethod: 'signed-transaction' },
      },
    ])
    expect(first.v1.accepts).toMatchObject([
      { ...asked, maxAmountRequired: '10000000000000000', resource: first.resource.url },
      {},
    ])
    expect((await bill(ETH)).resource.url).not.toBe(first.resource.url)
  })

  test('may name several currencies, of which the buyer chooses one', async () => {
    const { accepts } = await bill('/issues/1')
    expect(new Set(accepts.map(({ network }) => network)).size).toBe(2)
    expect(new Set(accepts.map(({ extra }) => extra.symbol))).toEqual(
      new Set(['ETH', 'WETH', 'SOL', 'USDC']),
    )
    expect(accepts.filter(({ extra }) => extra.symbol === 'USDC')).toHaveLength(2)
  })

  test('can be read and answered by a page of another origin', async () => {
    const preflight = await fetch(`${net.urls.seller}${ETH}`, { method: 'OPTIONS' })
    expect(preflight.status).toBe(204)
    const allowed = preflight.headers.get('access-control-allow-headers') ?? ''
    for (const header of [
      'x-payment',
      'payment-signature',
      'idempotency-key',
      'access-control-expose-headers',
    ])
      expect(allowed).toContain(header)
    const exposed = (await visit(ETH)).headers.get('access-control-expose-headers') ?? ''
    for (const header of ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE'])
      expect(exposed).toContain(header)
  })
})

describe('ether', () => {
  test('buys the page, and the same payment gets the same page again, also from a shop that was killed in between', async () => {
    const asked = await bill(ETH)
    const balance = () => evm.getBalance({ address: net.wallets.seller.evm.address })
    const header = await proveEther(asked, await sendEther(entry(asked.accepts, 'txid')))
    const before = await balance()
    const response = await paid(ETH, header)
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const told = read(response.headers.get('payment-response'))
    expect(told).toMatchObject({
      success: true,
      network: 'eip155:31337',
      payer: net.wallets.buyer.evm.address,
      transaction: expect.stringMatching(/^0x/),
    })
    expect(response.headers.get('x-payment-response')).toBe(
      response.headers.get('payment-response'),
    )
    const page = await response.text()
    expect(page).toContain('The transfer is the settlement.')

    await net.seller.kill()
    const again = await pay(ETH, header)
    expect([again.status, await again.text()]).toEqual([200, page])
    expect(await balance()).toBe(before)
  })

  test('pays by version 1', async () => {
    const { v1 } = await bill(ETH)
    const offer = v1.accepts.find(({ extra }) => extra.assetTransferMethod === 'txid')
    if (!offer) throw new Error('no offer')
    const account = privateKeyToAccount(net.wallets.buyer.evm.privateKey)
    const txRef = await sendEther({ payTo: offer.payTo, amount: offer.maxAmountRequired })
    const { network, asset, payTo, maxTimeoutSeconds, resource, description, mimeType } = offer
    const terms = {
      network,
      from: account.address,
      payTo,
      asset,
      amountAtomic: BigInt(offer.maxAmountRequired),
      maxTimeoutSeconds,
    }
    const data: TypedDataDefinition = offerProofTypedData(
      { ...terms, networkName: network, resource: { url: resource, description, mimeType } },
      txRef,
    )
    const signature = await account.signTypedData(data)
    const payload = {
      type: 'payment-proof',
      alg: 'ES256K',
      format: 'eip712',
      txRef,
      from: account.address,
      signature,
      offer,
    }
    const header = encodeHeader({ x402Version: 1, scheme: 'exact', network, payload })
    const response = await eventually(
      () => visit(ETH, { 'x-payment': header }),
      ({ status }) => status !== 202,
    )
    expect(response.status).toBe(200)
  })

  test('for one page buys no other, and no second visit to the same one', async () => {
    const [asked, elsewhere, later] = [await bill(ETH), await bill('/issues/1'), await bill(ETH)]
    const txRef = await sendEther(entry(asked.accepts, 'txid'))
    const header = await proveEther(asked, txRef)
    const refused = await readBill(await pay('/issues/1', header))
    expect(refused.error).toBe('This payment is not for an offer of this page.')
    expect((await paid(ETH, header)).status).toBe(200)
    for (const other of [later, { resource: elsewhere.resource, accepts: asked.accepts }]) {
      expect((await pay(ETH, await proveEther(other, txRef))).status).toBe(402)
    }
  })

  test('at terms that the shop never offered buys nothing', async () => {
    const asked = await bill(ETH)
    const cheap = {
      ...asked,
      accepts: asked.accepts.map((accepted) => ({ ...accepted, amount: '1' })),
    }
    const response = await pay(
      ETH,
      await proveEther(cheap, await sendEther(entry(cheap.accepts, 'txid'))),
    )
    expect((await readBill(response)).error).toBe('This payment is not for an offer of this page.')
  })
})

describe('SOL', () => {
  test.each([1, 2] as const)(
    'signed by the buyer is sent by the service and buys the page, version %i',
    async (version) => {
      const { resource, accepts } = await bill(SOL)
      const accepted = entry(accepts, 'native-transfer')
      const payload = {
        transaction: encodeBase64(await signSol(accepted, String(accepted.extra.memo))),
      }
      const { network } = accepted
      const header = encodeHeader(
        version === 2
          ? { x402Version: 2, resource, accepted, payload }
          : { x402Version: 1, scheme: 'exact', network, payload },
      )
      const response = await paid(SOL, header)
      expect([
        response.status,
        (await response.text()).includes('It only moves the moment'),
      ]).toEqual([200, true])
      expect((await pay(SOL, header)).status).toBe(version === 2 ? 200 : 402)
    },
  )

  test('of version 1 is served once, also where it is rebuilt from the chain, and to its buyer where an answer was lost', async () => {
    const accepted = entry((await bill(SOL)).accepts, 'native-transfer')
    const { network } = accepted
    const present = (transaction: string) =>
      paid(
        SOL,
        encodeHeader({ x402Version: 1, scheme: 'exact', network, payload: { transaction } }),
      )
    const signed = encodeBase64(await signSol(accepted, String(accepted.extra.memo)))
    // The shop dies while it waits for the service.
    const lost = pay(
      SOL,
      encodeHeader({ x402Version: 1, scheme: 'exact', network, payload: { transaction: signed } }),
    ).catch(() => undefined)
    await net.seller.kill()
    await lost
    const served = await present(signed)
    expect(served.status).toBe(200)
    const { transaction } = read(served.headers.get('payment-response'))
    const landed = await fetch(net.solana.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'getTransaction',
        params: [
          transaction,
          { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 },
        ],
      }),
    })
    const rebuilt = await present((await landed.json()).result.transaction[0])
    expect([rebuilt.status, read(rebuilt.headers.get('payment-response'))]).toMatchObject([
      402,
      { success: false, errorReason: 'already_used' },
    ])
  })

  test('of version 1 that the demo fails after the payment is served once all the same', async () => {
    const path = `${SOL}?demo=error-after-payment`
    const accepted = entry((await bill(path)).accepts, 'native-transfer')
    const signed = encodeBase64(await signSol(accepted, String(accepted.extra.memo)))
    const { network } = accepted
    const payload = { transaction: signed }
    const header = encodeHeader({ x402Version: 1, scheme: 'exact', network, payload })
    expect((await paid(path, header)).status).toBe(500)
    expect((await pay(path, header)).status).toBe(200)
    expect((await pay(path, header)).status).toBe(402)
  })

  test('sent by the buyer through a payment of this service buys what it was made for', async () => {
    const { resource, accepts } = await bill(SOL)
    const accepted = entry(accepts, 'txid')
    const built = await (
      await fetch(`${net.urls.service}/transaction/send`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${net.apiKeys.operator}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({
          walletAddress: net.wallets.buyer.solana.address,
          recipientAddress: accepted.payTo,
          amount: 0.1,
          resource: resource.url,
        }),
      })
    ).json()
    const transaction = VersionedTransaction.deserialize(Buffer.from(built.transaction, 'base64'))
    transaction.sign([solanaKeypair(net.wallets.buyer.solana)])
    const txRef = await solana.sendRawTransaction(transaction.serialize())
    const payload = { type: 'payment-proof', alg: 'Ed25519', format: 'solana-memo', txRef }
    expect(
      (await paid(SOL, encodeHeader({ x402Version: 2, resource, accepted, payload }))).status,
    ).toBe(200)
    const other = await bill(SOL)
    const again = encodeHeader({
      x402Version: 2,
      resource: other.resource,
      accepted: entry(other.accepts, 'txid'),
      payload,
    })
    expect((await pay(SOL, again)).status).toBe(402)
  })
})

describe('a program that pays from a managed wallet', () => {
  test.each([
    ['ether', ETH, 'txid', 0.01],
    ['SOL', SOL, 'txid', 0.1],
  ] as const)('in %s buys the page with the proof it is given', async (_, path, method, amount) => {
    const { resource, accepts } = await bill(path)
    const { payTo, network } = entry(accepts, method)
    const { managed } = net.wallets
    const walletAddress = network.startsWith('eip155:')
      ? managed.evm.address
      : managed.solana.address
    const sent = await (
      await fetch(`${net.urls.service}/payment/send`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${net.apiKeys.operator}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({
          walletAddress,
          recipientAddress: payTo,
          amount,
          resource: resource.url,
        }),
      })
    ).json()
    expect(sent).toMatchObject({ success: true, paymentProof: expect.any(String) })
    expect((await paid(path, sent.paymentProof)).status).toBe(200)
    expect((await pay('/issues/1', sent.paymentProof)).status).toBe(402)
  })
})

test('the print of the pay button is delivered for a payment, and no more once a refund of it is built', async () => {
  const ask = async (path: string, body?: object) => {
    const response = await fetch(`${net.urls.service}${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${net.apiKeys.operator}`,
        'content-type': 'application/json',
      },
    })
    expect(response.ok).toBe(true)
    return response.json()
  }
  const { buyer, seller } = net.wallets
  const { paymentId, decoded } = await ask('/transaction/send', {
    walletAddress: buyer.evm.address,
    recipientAddress: seller.evm.address,
    amount: 0.01,
    senderVerified: true,
    metadata: { paymentLink: 'lnk_print', referenceId: 'PRINT-1' },
  })
  const thanks = () => visit(`/thanks?payment=${paymentId}`)
  await sendEther({ payTo: seller.evm.address, amount: String(decoded.value) })
  const delivered = await eventually(
    async () => (await thanks()).text(),
    (page) => !page.includes('Payment on its way'),
  )
  expect(delivered).toContain('Thank you')
  await ask('/transaction/refund', { paymentId })
  expect(await ask(`/payment/status/${paymentId}`)).toMatchObject({
    status: expect.stringMatching(/confirmed|finalized/),
    refund: { state: 'none' },
  })
  const refunded = await thanks()
  expect([refunded.status, (await refunded.text()).includes('Thank you')]).toEqual([410, false])
})

describe('what goes wrong', () => {
  test('a payment that is no x402 is told as such, not billed again', async () => {
    expect((await visit(ETH, { 'x-payment': 'nonsense' })).status).toBe(400)
  })

  test('while nothing is decided, the buyer is neither served nor billed again', async () => {
    const asked = await bill(ETH)
    const header = await proveEther(asked, await sendEther(entry(asked.accepts, 'txid')))
    const dead = net.service.kill()
    const response = await pay(ETH, header)
    expect([
      response.status,
      response.headers.get('retry-after'),
      response.headers.get('payment-required'),
    ]).toEqual([502, '2', null])
    await dead
    expect((await paid(ETH, header)).status).toBe(200)
  })

  test('demo=error-after-payment: the page fails once, and the same payment gets it', async () => {
    const path = `${ETH}?demo=error-after-payment`
    const asked = await bill(path)
    const header = await proveEther(asked, await sendEther(entry(asked.accepts, 'txid')))
    const failed = await paid(path, header)
    expect([failed.status, read(failed.headers.get('payment-response')).success]).toEqual([
      500,
      true,
    ])
    expect((await pay(path, header)).status).toBe(200)
  })

  test('demo=price-rises: a payment at the old price gets a new bill, and the new price buys the page', async () => {
    const path = `${SOL}?demo=price-rises`
    const first = await bill(path)
    const buy = async ({ resource, accepts }: Bill) => {
      const accepted = entry(accepts, 'native-transfer')
      const payload = {
        transaction: encodeBase64(await signSol(accepted, String(accepted.extra.memo))),
      }
      return pay(path, encodeHeader({ x402Version: 2, resource, accepted, payload }))
    }
    const second = await readBill(await buy(first))
    expect(second.error).toMatch(/price has risen/)
    expect(second.accepts.map(({ amount }) => amount)).toEqual(['200000000', '200000000'])
    expect((await buy(second)).status).toBe(200)
  })

  test('demo=large-answer and demo=redirect-after-payment: 2 MB, or 302 to the list, for a payment', async () => {
    for (const demo of ['large-answer', 'redirect-after-payment']) {
      const path = `${ETH}?demo=${demo}`
      const asked = await bill(path)
      const response = await pay(
        path,
        await proveEther(asked, await sendEther(entry(asked.accepts, 'txid'))),
      )
      const { byteLength } = await response.arrayBuffer()
      expect([response.redirected, byteLength >= 2 ** 21]).toEqual(
        demo === 'large-answer' ? [false, true] : [true, false],
      )
    }
  })

  test('demo=hidden-headers: a page of another origin sees a 402 and nothing else', async () => {
    const response = await visit(`${ETH}?demo=hidden-headers`)
    expect(response.headers.get('access-control-expose-headers')).toBeNull()
    expect([response.status, await response.json()]).toEqual([402, {}])
  })
})
