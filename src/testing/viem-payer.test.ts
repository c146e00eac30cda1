import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { NATIVE_ETH } from '#contract/network.ts'
import type { ClientPayment } from '#x402/client/order.ts'
import { createViemPayer, type ViemPayerOptions } from '../../packages/x402/src/evm.ts'
import { startEvm, type EvmFixture } from './local-chains.ts'
import { eventually } from './service-context.ts'

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
  expect(String(error)).toContain(`The payment ${signed[0]} was sent and is not in a block yet.`)
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
