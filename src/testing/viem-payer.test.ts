import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import { Keypair } from '@solana/web3.js'
import { wrapFetchWithPayment } from '@x402/fetch'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { NATIVE_ETH, NATIVE_SOL } from '#contract/network.ts'
import type { ClientPayment } from '#x402/client/order.ts'
import { encodeHeader } from '#x402/header.ts'
import { createViemPayer, type ViemPayerOptions } from '../../packages/x402/src/evm.ts'
import { createKitPayer } from '../../packages/x402/src/solana.ts'
import { startEvm, startSolana, type EvmFixture } from './local-chains.ts'
import { eventually } from './service-context.ts'
import { evmPayer } from './token-payers.ts'

/** What the package `@paydesk/x402` does when it pays, on a chain that makes blocks only when it is told to. */

let evm: EvmFixture
const key = generatePrivateKey()
const account = privateKeyToAccount(key)
let payTo: Hex

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 4 })
  await evm.client.setBalance({ address: account.address, value: 10n ** 20n })
})
afterAll(() => evm?.[Symbol.asyncDispose]())
beforeEach(async () => {
  payTo = (await evm.wallet(0n)).address
})

const payer = (options: Partial<ViemPayerOptions> = {}) =>
  createViemPayer({ account, rpcUrl: evm.rpcUrl, ...options })

const order = (amountAtomic = 1n, extra: ClientPayment['extra'] = {}): ClientPayment => ({
  network: evm.network.network,
  networkName: evm.network.network,
  asset: NATIVE_ETH.address,
  native: true,
  payTo,
  amountAtomic,
  maxTimeoutSeconds: 60,
  method: 'txid',
  resource: { url: 'https://shop.example/a' },
  memo: null,
  feePayer: null,
  extra,
})

const received = () => evm.client.getBalance({ address: payTo })
const inPool = async () => (await evm.client.getTxpoolStatus()).pending

test('payments that are made at once are each executed once', async () => {
  const five = payer()
  const paid = Promise.all(Array.from({ length: 5 }, () => five.sendPayment(order(7n))))
  await eventually(inPool, (count) => count === 5)
  await evm.mine()
  expect(new Set(await paid).size).toBe(5)
  expect(await received()).toBe(35n)
})

test('a payment that the node loses is broadcast again with the same bytes', async () => {
  const signed: Hex[] = []
  const paid = payer({ onSigned: ({ hash }) => void signed.push(hash) }).sendPayment(order(3n))
  await eventually(inPool, (count) => count === 1)
  await evm.client.dropTransaction({ hash: signed[0] ?? '0x' })
  expect(await inPool()).toBe(0)
  await eventually(inPool, (count) => count === 1)
  await evm.mine()
  expect([await paid]).toEqual(signed)
  expect(await received()).toBe(3n)
})

test('a payment that the node loses keeps its nonce when another is made meanwhile', async () => {
  const signed: Hex[] = []
  const both = payer({ onSigned: ({ hash }) => void signed.push(hash) })
  const first = both.sendPayment(order(3n))
  await eventually(inPool, (count) => count === 1)
  await evm.client.dropTransaction({ hash: signed[0] ?? '0x' })
  const second = both.sendPayment(order(4n))
  await eventually(inPool, (count) => count === 2)
  await evm.mine()
  expect(await Promise.all([first, second])).toEqual(signed)
  expect(await received()).toBe(7n)
})

/** Code that uses about so much gas when it receives money: memory of `words` costs 3 gas a word, and its square / 512. */
const BURNS = (words: number): Hex => `0x600162${(words * 32).toString(16).padStart(6, '0')}5200`
const nonce = () =>
  evm.client.getTransactionCount({ address: account.address, blockTag: 'pending' })

test('a recipient that needs more gas than a payment may use is not paid', async () => {
  await evm.setCode(payTo, BURNS(30_000))
  const before = await nonce()
  const signed: Hex[] = []
  const generous = payer({
    maxFeeAtomic: 10n ** 18n,
    confirmedWithinMs: 500,
    onSigned: ({ hash }) => void signed.push(hash),
  })
  await expect(generous.sendPayment(order())).rejects.toThrow(
    new RegExp(
      `^The payment to ${payTo} needs 1\\d{6} gas, and the limit is 1000000\\. Nothing was sent\\.`,
    ),
  )
  expect([signed, await inPool(), await nonce()]).toEqual([[], 0, before])
})

test('a payment whose network fee can be above the limit of the buyer is not signed', async () => {
  await evm.setCode(payTo, BURNS(20_000))
  const signed: Hex[] = []
  const onSigned = ({ hash }: { hash: Hex }) => void signed.push(hash)
  const frugal = payer({ maxFeeAtomic: 10n ** 14n, confirmedWithinMs: 500, onSigned })
  await expect(frugal.sendPayment(order(9n))).rejects.toThrow(
    /can be \d+ wei \(8\d{5} gas at \d+ wei\), and maxFeeAtomic is 100000000000000\. Nothing was sent\./,
  )
  expect([signed, await inPool()]).toEqual([[], 0])
  // What is refused uses no nonce, and the limit is the only reason.
  const paid = payer({ onSigned }).sendPayment(order(9n))
  await eventually(inPool, (count) => count === 1)
  await evm.mine()
  expect([await paid]).toEqual(signed)
  expect(await received()).toBe(9n)
})

test('without a limit of the buyer the network fee is at most 0.005 of the native currency', async () => {
  await evm.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 300_000_000_000n })
  await evm.mine()
  onTestFinished(async () => {
    await evm.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_000_000_000n })
    await evm.mine()
  })
  await expect(payer({ confirmedWithinMs: 500 }).sendPayment(order())).rejects.toThrow(
    'maxFeeAtomic is 5000000000000000.',
  )
  expect(await inPool()).toBe(0)
})

test.each([5, '0.005', Number.NaN, -1n, null])(
  'a fee limit of %s is refused by its name',
  (maxFeeAtomic) => {
    expect(() => payer({ maxFeeAtomic: maxFeeAtomic as bigint })).toThrow(
      `maxFeeAtomic: expected wei as a bigint of 0 or more, for example 5_000_000_000_000_000n. Received ${maxFeeAtomic} (${typeof maxFeeAtomic}).`,
    )
  },
)

test('a payment whose hash cannot be kept is not sent', async () => {
  const full = payer({ onSigned: () => Promise.reject(new Error('disk full')) })
  await expect(full.sendPayment(order())).rejects.toMatchObject({
    message: 'The payment could not be prepared. Nothing was sent.',
    cause: { message: 'disk full' },
  })
  expect(await inPool()).toBe(0)
})

test('a payment for another network than that of the endpoint is not sent', async () => {
  await expect(payer().sendPayment({ ...order(), network: 'eip155:1' })).rejects.toThrow(
    'The seller asks for a payment on eip155:1; the RPC endpoint serves eip155:31337. Nothing was sent.',
  )
  expect(await inPool()).toBe(0)
})

test('a payment that no block holds in time is told by its hash, as one that may still be executed', async () => {
  const signed: Hex[] = []
  const waiting = payer({
    confirmedWithinMs: 500,
    onSigned: ({ hash }) => void signed.push(hash),
  }).sendPayment(order(2n))
  const error = await waiting.catch((reason: Error) => reason)
  expect(String(error)).toBe(
    `ClientPaymentError: The payment ${signed[0]} was sent and is not confirmed yet. It may still be executed, so do not pay again. Present it once it is confirmed: createEvmClient({ ...payer, sendPayment: async () => '${signed[0]}' }).`,
  )
  await evm.mine()
  expect(await received()).toBe(2n)
})

test('a payment is presented when as many blocks hold it as the seller asks for', async () => {
  const paid = payer().sendPayment(order(5n, { confirmations: 12 }))
  await eventually(inPool, (count) => count === 1)
  const blocks = setInterval(() => void evm.mine().catch(() => undefined), 500)
  onTestFinished(() => clearInterval(blocks))
  const hash = await paid
  const held = await evm.client.getTransactionConfirmations({ hash })
  expect(Number(held)).toBeGreaterThanOrEqual(12)
  expect(await received()).toBe(5n)
})

test('a seller that asks for more blocks than there is time for gets the payment all the same', async () => {
  const paid = payer({ confirmedWithinMs: 6_000 }).sendPayment(
    order(5n, { confirmations: Number.MAX_SAFE_INTEGER }),
  )
  await eventually(inPool, (count) => count === 1)
  await evm.mine()
  expect(await paid).toMatch(/^0x/)
  expect(await received()).toBe(5n)
})

test('on Solana the buyer alone sets the network fee, whatever the seller asks for', async () => {
  await using solana = await startSolana({ slotTimeMs: 100 })
  const { connection, network, rpcUrl } = solana
  const buyer = await solana.wallet(10n ** 9n)
  const { signPayment } = createKitPayer({
    signer: await createKeyPairSignerFromBytes(buyer.secretKey),
    rpcUrl,
  })
  const payee = Keypair.generate().publicKey
  const bytes = await signPayment({
    ...order(10_000_000n, {
      computeUnitLimit: 1_400_000,
      computeUnitPrice: '1000000000',
      unitPriceMicroLamports: '1000000000',
    }),
    network: network.network,
    asset: NATIVE_SOL.address,
    // An account that does not exist yet.
    payTo: payee.toBase58(),
    method: 'native-transfer',
    memo: 'article',
  })
  await connection.sendRawTransaction(bytes)
  await eventually(
    () => connection.getBalance(payee),
    (lamports) => lamports === 10_000_000,
  )
  const fee = 10 ** 9 - 10_000_000 - (await connection.getBalance(buyer.publicKey))
  expect(fee).toBeGreaterThan(5_000)
  expect(fee).toBeLessThanOrEqual(5_300)
})

test.each([
  ['follow', 1],
  ['error', 0],
] as const)(
  'a seller that redirects a payment: with redirect %s another server gets it %i times',
  async (redirect, times) => {
    const presented: string[] = []
    const open = async (
      name: string,
      answer: (paid: boolean, response: ServerResponse) => void,
    ) => {
      const server = createServer(({ headers }, response) => {
        const paid = headers['payment-signature'] !== undefined
        if (paid) presented.push(name)
        answer(paid, response)
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void server.close())
      const { port } = server.address() as AddressInfo
      return `http://127.0.0.1:${port}/`
    }
    const other = await open('other', (_, response) => response.end())
    const required = encodeHeader({
      x402Version: 2,
      resource: { url: 'https://shop.example/a' },
      accepts: [
        {
          scheme: 'exact',
          network: evm.network.network,
          amount: '1',
          asset: payTo,
          payTo,
          maxTimeoutSeconds: 60,
          extra: { assetTransferMethod: 'eip3009', name: 'USD Coin', version: '2' },
        },
      ],
    })
    const seller = await open('seller', (paid, response) =>
      paid
        ? response.writeHead(307, { Location: other }).end()
        : response.writeHead(402, { 'PAYMENT-REQUIRED': required }).end(),
    )
    const pay = wrapFetchWithPayment(fetch, evmPayer(evm, account))
    const paying = pay(seller, { redirect }).then(
      () => 'follow',
      () => 'error',
    )
    expect(await paying).toBe(redirect)
    expect(presented).toEqual(['seller', ...Array.from({ length: times }, () => 'other')])
  },
)
