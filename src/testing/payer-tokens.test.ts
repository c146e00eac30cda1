import { Keypair, VersionedTransaction, type PublicKey } from '@solana/web3.js'
import { createPublicClient, http, numberToHex, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPayment as buildEvm } from '#chains/evm/build.ts'
import { callOf } from '#chains/evm/authorization.ts'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import { authorizationTypedData, encodeAuthorization } from '#chains/evm/token-authorization.ts'
import { encodePermit } from '#chains/evm/token-permit.ts'
import { buildPayment as buildSolana } from '#chains/solana/build.ts'
import { addressFact, amountFact } from '#contract/facts.ts'
import type { Asset, Network } from '#contract/network.ts'
import { createPaymentId } from '#contract/payment.ts'
import { permit2 } from '#devnet/tokens/evm.ts'
import { ABSENCE_GAP_MS, reduce, type PaymentState } from '#web/payment-flow/machine.ts'
import { messageChain } from '#web/payment-flow/message-chain.ts'
import type { CheckedTransaction, WalletPaymentIntent } from '#web/payment-intent/intent.ts'
import { readBalances as readEvmBalances, evmReader } from '#web/wallet/evm/start-evm.ts'
import { evmChain } from '#web/wallet/evm/chain.ts'
import {
  readBalances as readSolanaBalances,
  solanaReader,
} from '#web/wallet/solana/start-solana.ts'
import { solanaChain } from '#web/wallet/solana/chain.ts'
import { connectRpc } from '#web/wallet/solana/connections.ts'
import { EXACT_PERMIT2_PROXY } from '#x402/authorization.ts'
import {
  signBuilt,
  startEvm,
  startGate,
  startSolana,
  type EvmFixture,
  type SolanaFixture,
} from './local-chains.ts'
import { createMint, give, issueOddToken, issueUsdc } from './local-tokens.ts'
import { TOKEN, TOKEN_2022 } from './token-instructions.ts'

/** What the browser's own view of a chain says of token payments, on real nodes. */

const PAYEE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const SOL = 10n ** 9n

function orderFor(
  network: Network,
  asset: Asset,
  parties: { sender: string; recipient: string },
): WalletPaymentIntent {
  return {
    id: crypto.randomUUID(),
    createdAt: Date.now(),
    network: network.network,
    asset,
    ...parties,
    amountAtomic: 2_500_000n,
    walletName: 'Test Wallet',
  }
}

function builtOf(bytes: Uint8Array, facts: Partial<CheckedTransaction>): CheckedTransaction {
  return {
    paymentId: createPaymentId(),
    bytes,
    lastValidBlockHeight: 1_000,
    deadlineAt: 0,
    builtHeight: 0,
    nonce: null,
    maxFeeAtomic: 10n ** 16n,
    digest: '',
    ...facts,
  }
}

let evm: EvmFixture
let solana: SolanaFixture
let payer: Awaited<ReturnType<EvmFixture['wallet']>>
let usdc: Asset
let keeping: Asset
let lying: Asset
let network: Network

const clientOf = (of: Network) =>
  createPublicClient({ transport: http(of.rpcUrls[0], { retryCount: 0 }), cacheTime: 0 })
const chainOf = (of: Network) => evmChain([of], clientOf)

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 2 })
  payer = await evm.wallet(10n ** 18n)
  const issue = { holder: payer.address, supply: 1_000_000_000n }
  usdc = await issueUsdc(evm, issue)
  keeping = await issueOddToken(evm, 'KeepsAPart', issue)
  lying = await issueOddToken(evm, 'ReturnsFalse', issue)
  network = { ...evm.network, assets: [...evm.network.assets, usdc, keeping, lying] }
  solana = await startSolana({ slotTimeMs: 50 })
})

afterAll(async () => {
  await evm[Symbol.asyncDispose]()
  await solana[Symbol.asyncDispose]()
})

async function openEvm(asset: Asset, gas = 100_000n) {
  const order = orderFor(network, asset, { sender: payer.address, recipient: PAYEE })
  const nonce = await evm.client.getTransactionCount({ address: payer.address })
  const paymentId = createPaymentId()
  const bytes = buildEvm({
    ...order,
    paymentId,
    nonce,
    gas,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
  })
  const match = evmReader([network]).match(
    order,
    { paymentId, maxFeeAtomic: 10n ** 16n, chainKnown: true },
    bytes,
  )
  const built = builtOf(bytes, {
    paymentId,
    nonce,
    builtHeight: Number(await evm.client.getBlockNumber()),
    digest: match.digest,
  })
  return { order, built, match }
}

const send = async (bytes: Uint8Array): Promise<Hex> =>
  evm.client.sendRawTransaction({
    serializedTransaction: await signBuilt(payer, Buffer.from(bytes).toString('base64')),
  })

test('on EVM the balances of all configured assets are read, zero where nothing is held', async () => {
  expect(await readEvmBalances(clientOf(network), network, payer.address)).toEqual(
    network.assets.map((asset) => ({ asset, atomic: asset.native ? 10n ** 18n : 1_000_000_000n })),
  )
  expect(
    (await readEvmBalances(clientOf(network), network, PAYEE)).map(({ atomic }) => atomic).slice(1),
  ).toEqual([0n, 0n, 0n])
})

test('on EVM a trial run shows the token on both sides and the fee, and the payment lands as it showed', async () => {
  const { order, built, match } = await openEvm(usdc)
  expect(match.ok).toBe(true)
  expect(evmReader([network]).describe(order, built, built.bytes)[2]).toMatchObject({
    kind: 'token_transfer',
    facts: { to: addressFact(PAYEE), amount: amountFact(2_500_000n, usdc) },
  })
  const chain = chainOf(network)
  expect(await chain.feeCap(order)).toBe(15_000_000_000_000_000n)
  expect(await chain.simulate(order, built.bytes)).toMatchObject({
    state: 'passed',
    changes: [
      { who: 'you', asset: usdc, beforeAtomic: 1_000_000_000n, afterAtomic: 997_500_000n },
      { who: 'you', asset: { native: true }, afterAtomic: 10n ** 18n - 100_000n * 10n ** 10n },
      { who: 'recipient', address: PAYEE, asset: usdc, beforeAtomic: 0n, afterAtomic: 2_500_000n },
    ],
  })
  const signature = await send(built.bytes)
  expect(await chain.read(order, built, { bytes: null, signature })).toMatchObject({
    kind: 'pending',
  })
  await evm.mine(2)
  expect(await chain.read(order, built, { bytes: null, signature })).toMatchObject({
    kind: 'landed',
    outcome: 'paid',
    failure: null,
    commitment: 'confirmed',
  })
  // The wallet's answer was lost: what took the nonce asks for this payment.
  expect(await chain.read(order, built, { bytes: null, signature: null })).toMatchObject({
    kind: 'landed',
    outcome: 'paid',
    landed: { signature },
  })
})

test('on EVM a trial run names the balance that is short', async () => {
  const { order, built } = await openEvm(usdc)
  const chain = chainOf(network)
  expect(await chain.simulate({ ...order, amountAtomic: 10n ** 12n }, built.bytes)).toMatchObject({
    state: 'failed',
    reason: expect.stringMatching(/USDC, needed 1,000,000 USDC/),
  })
  const poor = await evm.wallet(5n)
  expect(await chain.simulate({ ...order, sender: poor.address }, built.bytes)).toMatchObject({
    state: 'failed',
    reason: expect.stringMatching(/0\.000000000000000005 ETH/),
  })
})

test('on EVM a token that keeps a part, or does not transfer, would fail; landed all the same, it has not paid', async () => {
  const kept = await openEvm(keeping, 150_000n)
  const chain = chainOf(network)
  expect(await chain.simulate(kept.order, kept.built.bytes)).toEqual({
    state: 'failed',
    reason: `only 2.475 ${keeping.symbol} of 2.5 would arrive.`,
  })
  const signature = await send(kept.built.bytes)
  await evm.mine(2)
  expect(await chain.read(kept.order, kept.built, { bytes: null, signature })).toMatchObject({
    kind: 'landed',
    outcome: 'other',
    failure: expect.stringContaining('2.475'),
  })
  const lied = await openEvm(lying)
  expect(await chain.simulate(lied.order, lied.built.bytes)).toMatchObject({
    state: 'failed',
    reason: 'the token rejects it.',
  })
})

test('on EVM a node that knows no trial of several calls still runs the transfer', async () => {
  const { order, built } = await openEvm(usdc)
  await using gate = await startGate(evm.rpcUrl)
  gate.refuse = 'eth_simulateV1'
  const chain = chainOf({ ...network, rpcUrls: [gate.url] })
  const [before] = (await readEvmBalances(clientOf(network), network, PAYEE)).filter(
    ({ asset }) => asset === usdc,
  )
  expect(await chain.simulate(order, built.bytes)).toMatchObject({
    state: 'passed',
    changes: [
      { asset: usdc },
      { asset: { native: true } },
      { afterAtomic: (before?.atomic ?? 0n) + 2_500_000n },
    ],
  })
  gate.open = false
  expect(await chain.simulate(order, built.bytes)).toMatchObject({ state: 'unavailable' })
})

/** What the payer signs for others to send, good for a minute of the chain's time. */
async function openMessage() {
  const { timestamp, number } = await evm.client.getBlock()
  const order = orderFor(network, usdc, { sender: payer.address, recipient: PAYEE })
  const times = { validAfter: timestamp - 600n, validBefore: timestamp + 60n }
  const nonce = `0x${crypto.randomUUID().replaceAll('-', '').repeat(2)}` as const
  const token = usdc.address as Hex
  const authorization = {
    domain: { name: 'USD Coin', version: '2', chainId: 31_337, verifyingContract: token },
    message: {
      from: payer.address,
      to: PAYEE as Hex,
      value: order.amountAtomic,
      ...times,
      nonce,
    },
  }
  const built = builtOf(encodeAuthorization(authorization), { builtHeight: Number(number) })
  const signature = await payer.signTypedData(authorizationTypedData(authorization))
  const { from, to } = authorization.message
  const call = callOf({
    method: 'eip3009',
    token,
    from,
    to,
    amountAtomic: order.amountAtomic,
    ...times,
    nonce,
    signature,
    signedBy: 'key',
  })
  const execute = async () => {
    const account = await evm.wallet(10n ** 18n)
    const transaction = { type: 'eip1559', chainId: 31_337, nonce: 0, gas: 200_000n } as const
    const signed = { ...transaction, ...call, maxFeePerGas: 10n ** 10n }
    await evm.client.sendRawTransaction({
      serializedTransaction: await account.signTransaction(signed),
    })
    await evm.mine()
  }
  return { order, built, execute, ...times }
}

/** The finalized block is after this second. */
async function passTime(second: bigint): Promise<void> {
  await evm.client.setNextBlockTimestamp({ timestamp: second })
  await evm.mine(8)
}

const NOTHING_SENT = { bytes: null, signature: null }
const UNUSED = numberToHex(0, { size: 32 })
const answerTo = (asked: string, answer: Record<string, unknown>) =>
  JSON.stringify({ jsonrpc: '2.0', id: (JSON.parse(asked) as { id: number }).id, ...answer })

describe('on EVM a message', () => {
  test('that is used has paid, though the node that is asked for its use is behind', async () => {
    const { order, built, execute, validBefore } = await openMessage()
    await execute()
    await passTime(validBefore + 1n)
    await using gate = await startGate(evm.rpcUrl)
    const chain = messageChain({ ...network, rpcUrls: [gate.url] })
    expect(await chain.read(order, built, NOTHING_SENT)).toMatchObject({
      kind: 'landed',
      outcome: 'paid',
    })
    // Its newest state is of before the use.
    gate.lie = (asked, answer) =>
      asked.includes('"eth_call"') && asked.includes('"latest"')
        ? answerTo(asked, { result: UNUSED })
        : answer
    expect((await chain.read(order, built, NOTHING_SENT)).kind).toBe('unavailable')
    // It does not have the finalized block.
    gate.lie = (asked, answer) =>
      asked.includes('"eth_call"')
        ? answerTo(
            asked,
            asked.includes('"latest"')
              ? { result: UNUSED }
              : { error: { code: -32_000, message: 'header not found' } },
          )
        : answer
    expect((await chain.read(order, built, NOTHING_SENT)).kind).toBe('unavailable')
  })

  test('that is unused is over in the state of a finalized block after its expiry', async () => {
    const { order, built, validBefore } = await openMessage()
    await using gate = await startGate(evm.rpcUrl)
    const chain = messageChain({ ...network, rpcUrls: [gate.url] })
    const read = () => chain.read(order, built, NOTHING_SENT)
    await evm.mine(8)
    expect(await read()).not.toHaveProperty('over')
    await passTime(validBefore + 1n)
    expect(await read()).toMatchObject({ kind: 'absent', over: true })
    // A node that is asked by numbers only.
    gate.lie = (asked, answer) =>
      asked.includes('"blockHash"')
        ? answerTo(asked, { error: { code: -32_602, message: 'invalid argument' } })
        : answer
    expect(await read()).toMatchObject({ kind: 'absent', over: true })
    // A node that has dropped the state of the finalized block: a later one proves the same.
    const finalized = await evm.client.getBlock({ blockTag: 'finalized' })
    gate.lie = (asked, answer) =>
      asked.includes(finalized.hash) || asked.includes(`"${numberToHex(finalized.number)}"`)
        ? answerTo(asked, { error: { code: -32_000, message: 'missing trie node' } })
        : answer
    expect(await read()).toMatchObject({ kind: 'absent', over: true })
  })

  test('that is unused is over where only the newest block is served, and another is refused', async () => {
    const { order, built, validBefore } = await openMessage()
    await passTime(validBefore + 1n)
    const newest = await evm.client.getBlock()
    await using gate = await startGate(evm.rpcUrl)
    const chain = messageChain({ ...network, rpcUrls: [gate.url] })
    const served = ['"latest"', newest.hash, `"${numberToHex(newest.number)}"`]
    const message = 'Archive requests require a personal token'
    for (const refuse of [
      () => ({ status: 403 }),
      () => ({ status: 429 }),
      (asked: string) => answerTo(asked, { error: { code: -32_603, message } }),
    ]) {
      gate.lie = (asked, answer) =>
        asked.includes('"eth_call"') && !served.some((block) => asked.includes(block))
          ? refuse(asked)
          : answer
      expect(await chain.read(order, built, NOTHING_SENT)).toMatchObject({
        kind: 'absent',
        over: true,
      })
    }
    // Where no block is served, it stays undecided.
    gate.lie = (asked, answer) =>
      asked.includes('"eth_call"') && !asked.includes('"latest"') ? { status: 403 } : answer
    expect((await chain.read(order, built, NOTHING_SENT)).kind).toBe('unavailable')
  })

  test('for Permit2 can still be used in its last second', async () => {
    await evm.setCode(PERMIT2, permit2.runtimeCode)
    const { timestamp, number } = await evm.client.getBlock()
    const deadline = timestamp + 60n
    const permit = {
      chainId: 31_337,
      verifyingContract: PERMIT2,
      from: payer.address,
      token: usdc.address as Hex,
      amount: 2_500_000n,
      spender: EXACT_PERMIT2_PROXY,
      nonce: 7n,
      validAfter: timestamp - 600n,
      deadline,
      to: PAYEE as Hex,
    } as const
    const order = orderFor(network, usdc, { sender: payer.address, recipient: PAYEE })
    const built = builtOf(encodePermit(permit), { builtHeight: Number(number) })
    const chain = messageChain(network, { permit: true })
    await evm.client.setNextBlockTimestamp({ timestamp: deadline })
    await evm.mine()
    const last = await evm.client.getBlockNumber()
    await expect
      .poll(async () => {
        await evm.mine()
        return (await evm.client.getBlock({ blockTag: 'finalized' })).number
      })
      .toBe(last)
    expect(await chain.read(order, built, NOTHING_SENT)).not.toHaveProperty('over')
    await passTime(deadline + 1n)
    expect(await chain.read(order, built, NOTHING_SENT)).toMatchObject({ over: true })
  })

  test('has expired unused by two readings, ten seconds apart', async () => {
    const { order, built, validBefore } = await openMessage()
    await passTime(validBefore + 1n)
    const reading = await messageChain(network).read(order, built, NOTHING_SENT)
    const sent = { bytes: new Uint8Array(65), signature: '0x01' }
    const base = { order: { ...order, signedOnly: true as const }, attempt: 1, built, sent }
    const out: PaymentState = { ...base, step: 'broadcast', since: reading.at }
    const first = reduce(out, { type: 'read', reading })
    expect(first).toMatchObject({ step: 'unknown', absentSince: reading.at })
    const soon = { ...reading, at: reading.at + ABSENCE_GAP_MS - 1 }
    const second = reduce(first, { type: 'read', reading: soon })
    expect(second).toMatchObject({ step: 'unknown', absentSince: reading.at })
    const later = { ...reading, at: reading.at + ABSENCE_GAP_MS }
    expect(reduce(second, { type: 'read', reading: later })).toMatchObject({
      step: 'failed',
      reason: 'expired',
    })
  })
})

async function openSolana(
  program: PublicKey,
  opensAccount: boolean,
  recipient = Keypair.generate(),
) {
  const owner = await solana.wallet(SOL)
  const extensions = program === TOKEN_2022 ? [{ type: 12, value: new Uint8Array(32) }] : []
  const asset = await createMint(solana, { program, extensions })
  await give(solana, asset, {
    owner: owner.publicKey,
    amount: 10_000_000n,
    program,
    ...(program === TOKEN_2022 && { extensions: [{ type: 7, value: new Uint8Array() }] }),
  })
  const of = { ...solana.network, assets: [...solana.network.assets, asset] }
  const order = orderFor(of, asset, {
    sender: owner.publicKey.toBase58(),
    recipient: recipient.publicKey.toBase58(),
  })
  const { blockhash, lastValidBlockHeight } = await solana.connection.getLatestBlockhash()
  const paymentId = createPaymentId()
  const bytes = buildSolana({
    ...order,
    paymentId,
    blockhash,
    unitLimit: 120_000,
    unitPriceMicroLamports: 0n,
    token: { program: program.toBase58(), opensAccount },
  })
  const match = solanaReader.match(
    order,
    { paymentId, maxFeeAtomic: 10n ** 6n, chainKnown: true },
    bytes,
  )
  const built = builtOf(bytes, {
    paymentId,
    lastValidBlockHeight,
    maxFeeAtomic: 10n ** 6n,
    digest: match.digest,
  })
  return {
    owner,
    recipient,
    asset,
    network: of,
    order,
    built,
    match,
    chain: solanaChain([of], connectRpc),
  }
}

test.each([
  ['the older program', TOKEN, 2_039_280n],
  ['Token-2022', TOKEN_2022, 2_074_080n],
])(
  'on Solana a trial run shows token, fee and rent, and the payment lands as it showed, under %s',
  async (_, program, rent) => {
    const {
      owner,
      recipient,
      asset,
      network: of,
      order,
      built,
      match,
      chain,
    } = await openSolana(program, true)
    expect(match.ok).toBe(true)
    expect(await readSolanaBalances(solana.connection, of, order.sender)).toEqual([
      { asset: of.assets[0], atomic: SOL },
      { asset, atomic: 10_000_000n },
    ])
    expect(await readSolanaBalances(solana.connection, of, order.recipient)).toMatchObject([
      { atomic: 0n },
      { atomic: 0n },
    ])
    expect(await chain.simulate(order, built.bytes)).toEqual({
      state: 'passed',
      changes: [
        {
          who: 'you',
          address: order.sender,
          asset,
          beforeAtomic: 10_000_000n,
          afterAtomic: 7_500_000n,
        },
        {
          who: 'you',
          address: order.sender,
          asset: of.assets[0],
          beforeAtomic: SOL,
          afterAtomic: SOL - 5_000n - rent,
        },
        {
          who: 'recipient',
          address: order.recipient,
          asset,
          beforeAtomic: 0n,
          afterAtomic: 2_500_000n,
        },
      ],
    })
    const transaction = VersionedTransaction.deserialize(built.bytes)
    transaction.sign([owner])
    const signed = transaction.serialize()
    const same = solanaReader.compareSigned(order, built, signed)
    if (!same.ok) throw new Error(same.difference)
    await chain.broadcast(order, signed)
    const look = () => chain.read(order, built, { bytes: signed, signature: same.signature })
    await expect.poll(look).toMatchObject({ kind: 'landed', outcome: 'paid', failure: null })
    expect(
      (await readSolanaBalances(solana.connection, of, recipient.publicKey.toBase58())).at(-1)
        ?.atomic,
    ).toBe(2_500_000n)
  },
)

test('on Solana the simulation fails when the recipient’s token account now belongs to another account', async () => {
  const recipient = Keypair.generate()
  const { asset, order, built, match, chain } = await openSolana(TOKEN, false, recipient)
  const thief = Keypair.generate().publicKey
  await give(solana, asset, { owner: recipient.publicKey, amount: 0n, given: thief })
  expect(match.ok).toBe(true)
  expect(await chain.simulate(order, built.bytes)).toEqual({
    state: 'failed',
    reason: `the recipient’s token account belongs to ${thief.toBase58()}.`,
  })
})

test('on Solana a trial run fails for want of tokens', async () => {
  const { owner, asset, order, built, chain } = await openSolana(TOKEN, true)
  await give(solana, asset, { owner: owner.publicKey, amount: 1n })
  expect(await chain.simulate(order, built.bytes)).toMatchObject({
    state: 'failed',
    reason: expect.stringContaining('instruction'),
  })
})
