import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Connection } from '@solana/web3.js'
import * as v from 'valibot'
import { createPublicClient, http, type Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endpoints } from '#contract/endpoints.ts'
import { SOLANA_DEVNET } from '#contract/network.ts'
import { Devnet } from './network.ts'
import { isFree } from './options.ts'

const said: string[] = []
let dir: string
let net: Devnet

const create = (options = {}) =>
  Devnet.create({
    dir,
    programs: { web: false, bff: false },
    evmBlockTimeSeconds: 0.5,
    slotTimeMs: 100,
    print: (line) => said.push(line),
    ...options,
  })

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'paydesk-net-'))
  net = await create()
})

afterAll(async () => {
  await net[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

test('the history spans sixty days on both chains, mostly paid, some not', async () => {
  const payments = await list('')
  expect(payments.length).toBeGreaterThan(150)
  expect(payments.length).toBeLessThan(220)
  const days = (Date.now() - Math.min(...payments.map(({ timestamp }) => timestamp))) / 86_400_000
  expect(days).toBeGreaterThan(57)
  expect(days).toBeLessThan(60)
  const count = (status: string) => payments.filter((payment) => payment.status === status).length
  expect(count('finalized')).toBeGreaterThan(payments.length * 0.85)
  expect(count('expired')).toBeGreaterThan(3)
  expect(count('failed')).toBeGreaterThan(1)
  for (const network of ['eip155:31337', SOLANA_DEVNET])
    expect(payments.filter((payment) => payment.network === network).length).toBeGreaterThan(50)
  const { buyer, seller } = net.wallets
  for (const { address } of [buyer.evm, buyer.solana, seller.evm, seller.solana])
    expect(payments.filter(({ sender }) => sender === address).length).toBeGreaterThan(1)
  expect(new Set(payments.map(({ sender }) => sender)).size).toBeGreaterThan(20)
})

test('the demo seller owns its wallets: the history has directions, seen from it', async () => {
  const { wallets } = v.parse(endpoints.payoutList.response, await get('/wallets/payout'))
  const { seller, managed, facilitator } = net.wallets
  expect(new Map(wallets.map(({ walletAddress, proof }) => [walletAddress, proof]))).toEqual(
    new Map([
      ...[managed.evm, managed.solana, facilitator.evm, facilitator.solana].map(
        ({ address }) => [address, 'managed'] as const,
      ),
      ...[seller.evm, seller.solana].map(({ address }) => [address, 'operator'] as const),
    ]),
  )
  const own = new Set(wallets.map(({ walletAddress }) => walletAddress))
  const seen = new Set<string>()
  for (const { paymentId, sender, recipient } of await list('')) {
    const { direction } = await status(paymentId)
    seen.add(direction)
    expect(direction, paymentId).toBe(
      own.has(recipient)
        ? own.has(sender)
          ? 'internal'
          : 'received'
        : own.has(sender)
          ? 'sent'
          : 'external',
    )
  }
  expect(seen).toEqual(new Set(['received', 'sent']))
})

test('what the service says of the EVM history is on the chain, to the wei, on its day', async () => {
  const evm = createPublicClient({ transport: http(net.evm.rpcUrl) })
  for (const payment of await list('&network=eip155:31337&status=finalized')) {
    const hash = payment.signature as Hex
    const [transaction, receipt] = [
      await evm.getTransaction({ hash }),
      await evm.getTransactionReceipt({ hash }),
    ]
    const { timestamp } = await evm.getBlock({ blockHash: receipt.blockHash })
    expect({
      from: transaction.from,
      to: transaction.to,
      value: transaction.value.toString(),
      status: receipt.status,
    }).toEqual({
      from: payment.sender.toLowerCase(),
      to: payment.recipient.toLowerCase(),
      value: payment.amountAtomic,
      status: 'success',
    })
    expect(Math.abs(Number(timestamp) * 1000 - payment.timestamp)).toBeLessThan(60_000)
    const fee = (await status(payment.paymentId)).fee?.amountAtomic
    expect(fee).toBe((receipt.gasUsed * receipt.effectiveGasPrice).toString())
  }
})

test('what the service says of the Solana history is on the chain, to the lamport, with its memo', async () => {
  const solana = new Connection(net.solana.rpcUrl, 'confirmed')
  for (const payment of await list(`&network=${SOLANA_DEVNET}&status=finalized,failed`)) {
    const landed = await solana.getParsedTransaction(payment.signature ?? '', {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
    })
    expect(landed?.meta?.err === null).toBe(payment.status === 'finalized')
    const instructions =
      landed?.transaction.message.instructions.flatMap((instruction) =>
        'parsed' in instruction ? [instruction.parsed] : [],
      ) ?? []
    expect(instructions).toContainEqual({
      type: 'transfer',
      info: {
        source: payment.sender,
        destination: payment.recipient,
        lamports: Number(payment.amountAtomic),
      },
    })
    expect(instructions).toContain(payment.paymentId)
    expect((await status(payment.paymentId)).fee?.amountAtomic).toBe(String(landed?.meta?.fee))
  }
})

test('a killed service is started again, and nothing is lost', async () => {
  const before = await list('')
  await net.service.kill()
  expect(said).toContain('service ended (SIGKILL); starting it again.')
  expect(await list('')).toEqual(before)
})

test('the next start has the same history and keys, a reset another one, and nothing is left behind', async () => {
  const [before, keys, urls] = [
    await list(''),
    net.apiKeys,
    [net.evm.rpcUrl, net.solana.rpcUrl, net.solana.wsUrl, net.urls.service],
  ]
  await net[Symbol.asyncDispose]()
  for (const url of urls) expect(await isFree(Number(new URL(url).port))).toBe(true)

  net = await create()
  expect(net.apiKeys).toEqual(keys)
  expect(await list('')).toEqual(before)
  await net[Symbol.asyncDispose]()

  net = await create({ reset: true, seed: false })
  expect(net.apiKeys).not.toEqual(keys)
  expect(await list('')).toEqual([])
})

test('one folder has one devnet', async () => {
  await expect(create()).rejects.toThrow(/Another Paydesk already runs in/)
})

test('without a folder everything is temporary', async () => {
  const temporary = await Devnet.create({
    programs: { service: false, bff: false, web: false },
    seed: false,
  })
  const [path, port] = [temporary.dir, Number(new URL(temporary.evm.rpcUrl).port)]
  expect(existsSync(path)).toBe(true)
  expect(() => temporary.service).toThrow('without the service')
  await temporary[Symbol.asyncDispose]()
  expect(existsSync(path)).toBe(false)
  expect(await isFree(port)).toBe(true)
})

type Payment = v.InferOutput<typeof endpoints.paymentList.response>['payments'][number]

async function list(filter: string): Promise<Payment[]> {
  return v.parse(endpoints.paymentList.response, await get(`/payments?limit=500${filter}`)).payments
}

async function status(paymentId: string) {
  return v.parse(endpoints.paymentStatus.response, await get(`/payment/status/${paymentId}`))
}

async function get(path: string): Promise<unknown> {
  const response = await fetch(`${net.urls.service}${path}`, {
    headers: { authorization: `Bearer ${net.apiKeys.operator}` },
  })
  return response.json()
}
