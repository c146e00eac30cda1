import { Keypair, PublicKey } from '@solana/web3.js'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { LIGHTHOUSE_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '#chains/solana/programs.ts'
import { NATIVE_SOL, type Asset } from '#contract/network.ts'
import { createPaymentId } from '#contract/payment.ts'
import { startGate, startSolana, type SolanaFixture } from '#testing/local-chains.ts'
import { createMint, give } from '#testing/local-tokens.ts'
import { createChains } from '../../service.ts'
import type { Chain } from '../chain.ts'

/** What an RPC endpoint is asked for a payment that is built: once for what is needed at one moment. */

const SOL = 1_000_000_000n
const FEE = 5_000n
/** Long, as two requests are right where a slot ends while the parts of a batch are answered. */
const SLOT_MS = 2_000

let solana: SolanaFixture
let usdc: Asset
let gate: Awaited<ReturnType<typeof startGate>>
let chain: Chain
let methods: string[]
let lie: ((question: string, answer: string) => string) | undefined

type Question = { method: string; params: [string, { replaceRecentBlockhash: boolean }] }

beforeAll(async () => {
  solana = await startSolana({ slotTimeMs: SLOT_MS })
  usdc = { ...(await createMint(solana)), symbol: 'USDC' }
  gate = await startGate(solana.rpcUrl)
  const network = {
    ...solana.network,
    rpcUrls: [gate.url],
    assets: [NATIVE_SOL, usdc],
  }
  const [only] = createChains([network]).values()
  if (!only) throw new Error('no chain')
  chain = only
  gate.lie = (question, answer) => {
    methods.push((JSON.parse(question) as Question).method)
    return lie ? lie(question, answer) : answer
  }
  methods = []
  await chain.check()
  gate.requests = 0
  // The first one asks for the rent of an empty account too, which is known for ten minutes.
  expect(await build(await solana.wallet(SOL), {})).toMatchObject({ ok: true })
  expect(methods).toContain('getMinimumBalanceForRentExemption')
  expect(gate.requests).toBe(1)
})

afterAll(async () => {
  await chain?.close()
  await gate?.[Symbol.asyncDispose]()
  await solana?.[Symbol.asyncDispose]()
})

beforeEach(() => {
  lie = undefined
  methods = []
  gate.requests = 0
})

type Paid = {
  recipient?: string
  asset?: Asset
  amountAtomic?: bigint
  priorityFeeAtomic?: bigint
}

const build = (
  payer: Keypair | string,
  { recipient, asset = NATIVE_SOL, amountAtomic = SOL / 10n, priorityFeeAtomic }: Paid,
) =>
  chain.build(
    {
      network: solana.network.network,
      paymentId: createPaymentId(),
      sender: typeof payer === 'string' ? payer : payer.publicKey.toBase58(),
      recipient: recipient ?? Keypair.generate().publicKey.toBase58(),
      asset,
      amountAtomic,
    },
    { priorityFeeAtomic },
  )

/** Whose first payment has been built: mint and rent of the token are known afterwards. */
async function tokenPayer() {
  const payer = await solana.wallet(SOL)
  await give(solana, usdc, { owner: payer.publicKey, amount: 1_000_000n })
  const pay = (paid: Paid) => build(payer, { asset: usdc, amountAtomic: 1_000n, ...paid })
  expect(await pay({})).toMatchObject({ ok: true })
  return { payer, pay }
}

/** A wallet with an account for the token. */
async function receiver(): Promise<PublicKey> {
  const { publicKey } = Keypair.generate()
  await give(solana, usdc, { owner: publicKey, amount: 1n })
  return publicKey
}

test('a payment in SOL is built with one request, its simulation included', async () => {
  expect(await build(await solana.wallet(SOL), {})).toMatchObject({ ok: true })
  expect(methods.toSorted()).toEqual([
    'getLatestBlockhash',
    'getMultipleAccounts',
    'getRecentPrioritizationFees',
    'simulateTransaction',
  ])
  expect(gate.requests).toBe(1)
})

test('a payment of a token is built with one request, whether it opens an account or not', async () => {
  const { pay } = await tokenPayer()
  for (const recipient of [Keypair.generate().publicKey, await receiver()]) {
    methods = []
    gate.requests = 0
    const built = await pay({ recipient: recipient.toBase58() })
    expect(built).toMatchObject({ ok: true })
    expect(methods.toSorted()).toEqual([
      'getLatestBlockhash',
      'getMultipleAccounts',
      'getMultipleAccounts',
      'getRecentPrioritizationFees',
      'simulateTransaction',
    ])
    expect(gate.requests).toBe(1)
  }
})

test.each([
  ['on another blockhash', { replacementBlockhash: { blockhash: '1'.repeat(32) } }],
  ['on a blockhash it does not name', { replacementBlockhash: null }],
  ['with more units than the transaction has', { unitsConsumed: 60_001 }],
  ['with units it does not name', { unitsConsumed: undefined }],
])('what a node simulated %s is simulated again as it is built', async (_, changed) => {
  const { pay } = await tokenPayer()
  const recipient = (await receiver()).toBase58()
  const simulated: { bytes: string; replaced: boolean }[] = []
  lie = (question, answer) => {
    const { method, params } = JSON.parse(question) as Question
    if (method !== 'simulateTransaction') return answer
    simulated.push({ bytes: params[0], replaced: params[1].replaceRecentBlockhash })
    const told = JSON.parse(answer) as { result: { value: object } }
    if (simulated.length === 1) Object.assign(told.result.value, changed)
    return JSON.stringify(told)
  }
  const built = await pay({ recipient })
  expect(simulated.map(({ replaced }) => replaced)).toEqual([true, false])
  expect(built.ok && Buffer.from(built.bytes).toString('base64')).toBe(simulated[1]?.bytes)
})

test('a wallet that is emptied with the priority fee it names is simulated once', async () => {
  const priorityFeeAtomic = 20_000n
  const built = await build(await solana.wallet(SOL), {
    amountAtomic: SOL - FEE - priorityFeeAtomic,
    priorityFeeAtomic,
  })
  expect(built).toMatchObject({ ok: true, feeAtomic: FEE + priorityFeeAtomic })
  expect(gate.requests).toBe(1)
})

test('a mint that another program has meanwhile is simulated again, with that program', async () => {
  const payer = await solana.wallet(SOL)
  await give(solana, usdc, { owner: payer.publicKey, amount: 1_000_000n })
  const pay = () => build(payer, { asset: usdc, amountAtomic: 1_000n })
  lie = (_, answer) => answer.replaceAll(TOKEN_PROGRAM, TOKEN_2022_PROGRAM)
  expect(await pay()).toMatchObject({ ok: false, code: 'INSUFFICIENT_BALANCE' })
  lie = undefined
  methods = []
  expect(await pay()).toMatchObject({ ok: true })
  // Its fees are those between other accounts.
  for (const name of ['simulateTransaction', 'getRecentPrioritizationFees'])
    expect(methods.filter((method) => method === name)).toHaveLength(2)
})

test.each([
  ['a program', () => TOKEN_PROGRAM, () => NATIVE_SOL],
  ['a program that is not deployed', () => LIGHTHOUSE_PROGRAM, () => NATIVE_SOL],
  ['a mint', () => usdc.address, () => usdc],
])('%s as the sender is refused, and the endpoint does not rest', async (_, senderOf, assetOf) => {
  const [sender, asset] = [senderOf(), assetOf()]
  await using other = await startGate(solana.rpcUrl)
  const rpcUrls = [gate.url, other.url]
  const [both] = createChains([{ ...solana.network, rpcUrls, assets: [NATIVE_SOL, usdc] }]).values()
  if (!both) throw new Error('no chain')
  const payment = {
    network: solana.network.network,
    paymentId: createPaymentId(),
    recipient: Keypair.generate().publicKey.toBase58(),
    asset,
    amountAtomic: SOL / 100n,
  }
  const payer = await solana.wallet(SOL)
  for (const owner of [new PublicKey(sender), payer.publicKey])
    await give(solana, usdc, { owner, amount: SOL })
  await solana.setAccount(LIGHTHOUSE_PROGRAM, { lamports: SOL })
  expect(await both.build({ ...payment, sender: payer.publicKey.toBase58() })).toMatchObject({
    ok: true,
  })
  await expect(both.build({ ...payment, sender })).rejects.toMatchObject({
    code: 'INVALID_PARAMETERS',
    facts: { details: { reason: { code: 'sender_is_program_account' } } },
  })
  expect(await both.build({ ...payment, sender: payer.publicKey.toBase58() })).toMatchObject({
    ok: true,
  })
  expect(other.requests).toBe(0)
  await both.close()
})

test('a recipient that is refused by its address alone costs no request', async () => {
  const payer = await solana.wallet(SOL)
  const built = await chain.build({
    network: solana.network.network,
    paymentId: createPaymentId(),
    sender: payer.publicKey.toBase58(),
    recipient: '1nc1nerator11111111111111111111111111111111',
    asset: NATIVE_SOL,
    amountAtomic: 1n,
  })
  expect(built).toMatchObject({ ok: false, reason: { code: 'incinerator' } })
  expect(gate.requests).toBe(0)
})

test('a balance that is short is named, though the node fails to simulate', async () => {
  lie = (question, answer) => {
    const { id, method } = JSON.parse(question) as Question & { id: number }
    if (method !== 'simulateTransaction') return answer
    return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_005, message: 'no' } })
  }
  const payer = await solana.wallet(SOL)
  const built = await build(payer, { amountAtomic: 2n * SOL })
  expect(built).toMatchObject({ ok: false, code: 'INSUFFICIENT_BALANCE' })
  expect(gate.requests).toBe(1)
  methods = []
  await expect(build(payer, {})).rejects.toMatchObject({ code: 'CHAIN_UNAVAILABLE' })
  // Once in each of two attempts.
  expect(methods.filter((method) => method === 'simulateTransaction')).toHaveLength(2)
})
