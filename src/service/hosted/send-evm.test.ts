import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { LosslessNumber } from '#contract/json.ts'
import { NATIVE_ETH } from '#contract/network.ts'
import { readSent } from '#testing/sent-statements.ts'
import { testSigner } from '#testing/test-signer.ts'
import { startEvm, startGate, type EvmFixture } from '#testing/local-chains.ts'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { eventually, openContext, type OpenedContext } from '#testing/service-context.ts'
import type { Actor, Context } from '../context/context.ts'
import { readAttempts } from '../db/attempts.ts'
import { payment } from '../db/schema/payment.ts'
import { findWallet } from '../db/wallet-ledger.ts'
import { createWallet } from '../wallets/create-wallet.ts'
import { pollOnce } from '../monitor/poll.ts'
import { sendPayment } from './send.ts'
import { readPaymentBody } from '../payments/status.ts'

const ETH = 10n ** 18n
const PAYEE = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

let evm: EvmFixture
let gate: Awaited<ReturnType<typeof startGate>>
let opened: OpenedContext
let context: Context
let actor: Actor
let later = 0

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 2 })
  await evm.mine()
  gate = await startGate(evm.rpcUrl)
  opened = await openContext([{ ...evm.network, rpcUrls: [gate.url] }], {
    now: () => new Date(Date.now() + later),
  })
  context = opened.context
  actor = opened.actor
})

afterAll(async () => {
  await opened[Symbol.asyncDispose]()
  await gate[Symbol.asyncDispose]()
  await evm[Symbol.asyncDispose]()
})

async function managed(wei: bigint): Promise<string> {
  const { address } = await createWallet(
    { ...context, now: new Date() },
    { accountId: actor.accountId, family: 'evm', name: 'till' },
  )
  await evm.client.setBalance({ address: address as Hex, value: wei })
  return address
}

type Body = Parameters<typeof sendPayment>[2]['body']

function send(
  body: Partial<Body> & { walletAddress: string },
  options: { key?: string; fingerprint?: string; waitMs?: number } = {},
) {
  const { key, fingerprint = 'f', waitMs = 0 } = options
  return sendPayment(context, actor, {
    body: { recipientAddress: PAYEE, amount: '0.01', ...body },
    idempotency: key === undefined ? undefined : { key, fingerprint },
    waitMs,
  })
}

async function follow(rounds = 1): Promise<void> {
  const [chain] = context.chains.values()
  if (!chain) throw new Error('no chain')
  const tip = Number(await evm.client.getBlockNumber())
  await eventually(
    () => chain.head(),
    ({ height }) => height >= tip,
  )
  for (let round = 0; round < rounds; round++)
    expect((await pollOnce(context, chain, { expiredToo: true })).failures).toEqual([])
}

const nonceOf = (address: string) => evm.client.getTransactionCount({ address: address as Hex })

test('a payment is signed, kept and broadcast, and confirms; the sender paid once', async () => {
  const sender = await managed(ETH)
  const payee = (await evm.wallet(0n)).address
  const reply = await send({
    walletAddress: sender,
    recipientAddress: payee,
    amount: '0.1',
    metadata: { referenceId: 'order-7' },
    resource: 'https://shop.example/a',
  })
  expect(reply).toMatchObject({
    mode: 'hosted',
    status: 'pending',
    sender,
    recipient: payee,
    amount: new LosslessNumber('0.1'),
    expiresAt: null,
    paymentProof: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
    estimatedConfirmation: '1-3 seconds',
  })
  const [attempt] = await readAttempts(context.db, reply.paymentId)
  expect(attempt).toMatchObject({ number: 1, nonce: 0, signature: reply.signature })
  await evm.mine(2)
  await follow()
  await evm.mine(6)
  await follow()
  const final = await readPaymentBody(context, reply.paymentId)
  expect(final).toMatchObject({ status: 'finalized', signature: reply.signature, failure: null })
  expect(final.events.map(({ status, source }) => `${status} ${source}`)).toEqual([
    'created service',
    'pending service',
    'confirmed watcher',
    'finalized watcher',
  ])
  expect(await evm.client.getBalance({ address: payee })).toBe(ETH / 10n)
})

test('a payment takes twelve statements and two commits until it is broadcast and answered', async () => {
  const walletAddress = await managed(ETH)
  await send({ walletAddress }, { key: crypto.randomUUID() })
  const sent = await readSent(() => send({ walletAddress }, { key: crypto.randomUUID() }))
  expect(sent).toHaveLength(12)
  expect(sent.filter((query) => query === 'begin')).toHaveLength(1)
})

test('an answer waits for the confirmation as long as it may', async () => {
  const sender = await managed(ETH)
  const answer = send({ walletAddress: sender }, { waitMs: 20_000 })
  await eventually(
    async () =>
      (await evm.client.getTransactionCount({ address: sender as Hex, blockTag: 'pending' })) === 1,
    Boolean,
  )
  await evm.mine(2)
  await follow()
  expect(await answer).toMatchObject({ status: 'confirmed', confirmations: 2 })
})

/** A limit in the form in which it goes over the wire. */
const limitOf = (atomic: bigint) => ({
  amountAtomic: atomic.toString(),
  asset: NATIVE_ETH.address,
  symbol: 'ETH',
  decimals: 18,
})

test.each([
  ['0.001', true],
  ['1e-3', true],
  ['100', true],
  ['100.000000000000000000', true],
  ['0.000999999999999999', false],
  ['100.000000000000000001', false],
  ['0', false],
  ['-1', false],
])('the amount %s is within the bounds of the specification: %s', async (amount, good) => {
  const answer = send({ walletAddress: await managed(200n * ETH), amount })
  if (good) await expect(answer).resolves.toMatchObject({ status: 'pending' })
  else
    await expect(answer).rejects.toMatchObject({
      code: 'INVALID_PARAMETERS',
      facts: {
        details: {
          amount: expect.any(String),
          ...(Number(amount) > 0 && {
            reason:
              Number(amount) < 1
                ? { code: 'amount_below_minimum', params: { minimum: limitOf(ETH / 1000n) } }
                : { code: 'amount_above_maximum', params: { maximum: limitOf(100n * ETH) } },
          }),
        },
      },
    })
})

test.each([
  ['0.00001', true],
  ['0.01', true],
  ['0.000009999999999999', false],
  ['0.010000000000000001', false],
  ['0', false],
])(
  'the priority fee %s is within the bounds of the specification: %s',
  async (priorityFee, good) => {
    const answer = send({ walletAddress: await managed(ETH), priorityFee })
    if (good) await expect(answer).resolves.toMatchObject({ status: 'pending' })
    else
      await expect(answer).rejects.toMatchObject({
        code: 'INVALID_PARAMETERS',
        facts: {
          details: {
            priorityFee: expect.any(String),
            reason: priorityFee.startsWith('0.01')
              ? {
                  code: 'priority_fee_above_maximum',
                  params: { maximum: limitOf(ETH / 100n) },
                }
              : {
                  code: 'priority_fee_below_minimum',
                  params: { minimum: limitOf(ETH / 100_000n) },
                },
          },
        },
      })
  },
)

test('all that is wrong is told at once; a wallet of nobody, or of another account, is no managed wallet', async () => {
  const foreign = (await evm.wallet(ETH)).address
  await expect(
    send({ walletAddress: foreign, amount: '0.0005', priorityFee: '1', asset: 'DOGE' }),
  ).rejects.toMatchObject({
    code: 'INVALID_PARAMETERS',
    facts: {
      details: {
        walletAddress: expect.stringContaining('manages for this account'),
        amount: expect.any(String),
        priorityFee: expect.any(String),
        asset: expect.any(String),
      },
    },
  })
  const mine = await managed(ETH)
  const stranger = { ...actor, accountId: 'acc_other' }
  const body = { walletAddress: mine, recipientAddress: PAYEE, amount: '0.01' }
  await expect(
    sendPayment(context, stranger, { body, idempotency: undefined, waitMs: 0 }),
  ).rejects.toMatchObject({
    facts: { details: { walletAddress: expect.any(String) } },
  })
  await expect(send({ walletAddress: mine, recipientAddress: mine })).rejects.toMatchObject(
    refusedWith('INVALID_RECIPIENT', 'same_as_sender', {}),
  )
  const short = { available: { amountAtomic: ETH.toString(), symbol: 'ETH' } }
  await expect(send({ walletAddress: mine, amount: '2' })).rejects.toMatchObject(
    refusedWith('INSUFFICIENT_BALANCE', 'amount_and_fee', short),
  )
})

function refusedWith(code: string, reason: string, params: object) {
  return { code, facts: { details: { reason: { code: reason, params } } } }
}

test('a recipient contract that reverts is refused with its answer, before anything is kept', async () => {
  const contract = (await evm.wallet(0n)).address
  await evm.setCode(contract, '0x60006000fd')
  const answer = expect.stringContaining('execution reverted')
  const sender = await managed(ETH)
  await expect(send({ walletAddress: sender, recipientAddress: contract })).rejects.toMatchObject(
    refusedWith('INVALID_RECIPIENT', 'contract_reverts', { answer }),
  )
  expect(await evm.client.getTransactionCount({ address: sender as `0x${string}` })).toBe(0)
})

test('a repeated key finds its payment, and refuses another request, whatever became of the stored answer', async () => {
  const sender = await managed(ETH)
  const asked = () => send({ walletAddress: sender }, { key: 'order-1' })
  // At once, as when the stored answer of the first got lost; then again.
  const [first, second] = await Promise.all([asked(), asked()])
  expect([second.paymentId, (await asked()).paymentId]).toEqual([first.paymentId, first.paymentId])
  await expect(
    send({ walletAddress: sender }, { key: 'order-1', fingerprint: 'g' }),
  ).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' })
  await evm.mine()
  expect(await nonceOf(sender)).toBe(1)
})

test('a payment reaches the network though its first endpoint keeps it to itself, and again later the endpoints that it did not reach', async () => {
  await using first = await startGate(evm.rpcUrl)
  await using second = await startGate(evm.rpcUrl)
  const network = { ...evm.network, rpcUrls: [first.url, second.url] }
  await using other = await openContext([network], { now: () => new Date(Date.now() + later) })
  const [chain] = other.context.chains.values()
  if (!chain) throw new Error('no chain')
  const { accountId } = other.actor
  const wallet = { accountId, family: 'evm', name: 'till' } as const
  const { address } = await createWallet({ ...other.context, now: new Date() }, wallet)
  await evm.client.setBalance({ address: address as Hex, value: ETH })
  const body = { walletAddress: address, recipientAddress: PAYEE, amount: '0.01' }
  const sendOne = () =>
    sendPayment(other.context, other.actor, { body, idempotency: undefined, waitMs: 0 })
  const pooled = (count: number) =>
    eventually(
      () => evm.client.getTransactionCount({ address: address as Hex, blockTag: 'pending' }),
      (found) => found === count,
    )
  first.forget = 'eth_sendRawTransaction'
  await sendOne()
  await pooled(1)

  first.forget = undefined
  second.refuse = 'eth_sendRawTransaction'
  await sendOne()
  await pooled(2)
  second.refuse = undefined
  let sent = 0
  second.lie = (asked, answer) => {
    if (asked.includes('eth_sendRawTransaction')) sent++
    return answer
  }
  later += 31_000
  expect((await pollOnce(other.context, chain, { expiredToo: false })).failures).toEqual([])
  await eventually(
    async () => sent,
    (count) => count >= 1,
  )
})

test('a transaction that the node lost is sent again, the same bytes', async () => {
  const sender = await managed(ETH)
  const { paymentId, signature } = await send({ walletAddress: sender })
  await evm.client.dropTransaction({ hash: signature as Hex })
  await evm.mine()
  later += 3_000
  await follow()
  await evm.mine(2)
  await follow()
  expect(await readPaymentBody(context, paymentId)).toMatchObject({
    status: 'confirmed',
    signature,
  })
  expect(await readAttempts(context.db, paymentId)).toHaveLength(1)
})

test('a transaction that the node lost is sent again by a process whose clock is an hour behind the one that sent it', async () => {
  const sender = await managed(ETH)
  later += 3_600_000
  const { paymentId, signature } = await send({ walletAddress: sender })
  later -= 3_600_000
  await evm.client.dropTransaction({ hash: signature as Hex })
  await evm.mine()
  await follow()
  await evm.mine(2)
  await follow()
  expect(await readPaymentBody(context, paymentId)).toMatchObject({
    status: 'confirmed',
    signature,
  })
  expect(await readAttempts(context.db, paymentId)).toHaveLength(1)
})

/** A payment whose nonce the wallet's key used for something else, which is in the newest block. */
async function sendAndLose(payee: Hex): Promise<string> {
  const sender = await managed(ETH)
  const row = await findWallet(context.db, { accountId: actor.accountId, address: sender })
  if (!row) throw new Error('no wallet')
  const account = privateKeyToAccount(
    `0x${Buffer.from(await testSigner(context).secretOf(row)).toString('hex')}`,
  )
  const { paymentId, signature } = await send({ walletAddress: sender, recipientAddress: payee })
  await evm.client.dropTransaction({ hash: signature as Hex })
  const own = {
    type: 'eip1559',
    chainId: 31_337,
    nonce: 0,
    gas: 21_000n,
    maxFeePerGas: 10n ** 11n,
    to: PAYEE,
    value: 1n,
  } as const
  await evm.client.sendRawTransaction({ serializedTransaction: await account.signTransaction(own) })
  await evm.mine()
  return paymentId
}

test.each([
  ['right', 0],
  ['an hour fast', 3_600_000],
])(
  'a nonce that the key used elsewhere leads to a new signature, once that is final, and to one transfer, where the clock is %s',
  async (_, ahead) => {
    const payee = (await evm.wallet(0n)).address
    const paymentId = await sendAndLose(payee)
    later += ahead
    onTestFinished(() => void (later -= ahead))
    await follow(2)
    expect(await readAttempts(context.db, paymentId)).toHaveLength(1)
    await evm.mine(6)
    await follow()
    expect(
      (await readAttempts(context.db, paymentId)).map(({ number, nonce }) => [number, nonce]),
    ).toEqual([
      [2, 1],
      [1, 0],
    ])
    await evm.mine(2)
    await follow()
    expect(await readPaymentBody(context, paymentId)).toMatchObject({ status: 'confirmed' })
    expect(await evm.client.getBalance({ address: payee })).toBe(ETH / 100n)
  },
)

test('a payment that could not land during ten minutes of blocks is given up, and not signed again', async () => {
  const payee = (await evm.wallet(0n)).address
  const paymentId = await sendAndLose(payee)
  await evm.mine(600_000 / evm.network.blockTimeMs + 10)
  await follow()
  expect(await readPaymentBody(context, paymentId)).toMatchObject({ status: 'failed' })
  expect(await readAttempts(context.db, paymentId)).toHaveLength(1)
  expect(await evm.client.getBalance({ address: payee })).toBe(0n)
})

test.each([1, 2])(
  'a node that has forgotten the first of %i offers, which is final, does not make it be signed again',
  async (offers) => {
    const sender = await managed(ETH)
    const payee = (await evm.wallet(0n)).address
    const { paymentId, signature } = await send({ walletAddress: sender, recipientAddress: payee })
    if (offers === 2) {
      const { baseFeePerGas } = await evm.client.getBlock()
      await evm.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 20n * 10n ** 9n })
      await evm.mine()
      later += 31_000
      await follow()
      const [second, first] = await readAttempts(context.db, paymentId)
      await evm.client.dropTransaction({ hash: second?.signature as Hex })
      await evm.client.setNextBlockBaseFeePerGas({ baseFeePerGas: baseFeePerGas ?? 0n })
      await evm.mine()
      await evm.client.sendRawTransaction({
        serializedTransaction: `0x${Buffer.from(first?.signedTransaction ?? '', 'base64').toString('hex')}`,
      })
    }
    await evm.mine(8)
    gate.forget = 'eth_getTransactionByHash'
    later += 3_000
    await follow(3)
    gate.forget = undefined
    expect(await readPaymentBody(context, paymentId)).toMatchObject({ status: 'pending' })
    expect(await readAttempts(context.db, paymentId)).toHaveLength(offers)
    await follow()
    expect(await readPaymentBody(context, paymentId)).toMatchObject({
      status: 'finalized',
      signature,
    })
    expect(await evm.client.getBalance({ address: payee })).toBe(ETH / 100n)
  },
)

test('fees that rise above an offer are met with the same nonce; one of the two transactions lands', async () => {
  const sender = await managed(ETH)
  const payee = (await evm.wallet(0n)).address
  const { paymentId } = await send({ walletAddress: sender, recipientAddress: payee })
  await evm.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 20n * 10n ** 9n })
  await evm.mine()
  await follow()
  expect(await readAttempts(context.db, paymentId)).toHaveLength(1)
  later += 31_000
  await follow()
  const [second, first] = await readAttempts(context.db, paymentId)
  expect([second?.nonce, second?.number]).toEqual([first?.nonce, 2])
  expect(second && first && second.maxFee >= (first.maxFee * 9n) / 8n).toBe(true)
  await evm.mine(2)
  await follow()
  expect(await readPaymentBody(context, paymentId)).toMatchObject({
    status: 'confirmed',
    signature: second?.signature,
  })
  expect([await nonceOf(sender), await evm.client.getBalance({ address: payee })]).toEqual([
    1,
    ETH / 100n,
  ])
})

test('a payment whose tip is too low for its network is offered more, though the base fee fell', async () => {
  const sender = await managed(ETH)
  const { baseFeePerGas: former } = await evm.client.getBlock()
  const setBaseFee = async (baseFeePerGas: bigint) => {
    await evm.client.setNextBlockBaseFeePerGas({ baseFeePerGas })
    await evm.mine()
  }
  onTestFinished(() => setBaseFee(former ?? 0n))
  await setBaseFee(40n * 10n ** 9n)
  const { paymentId } = await send({ walletAddress: sender })
  onTestFinished(() => void (gate.lie = undefined))
  const tip = 30n * 10n ** 9n
  gate.lie = (asked, answer) => {
    if (!asked.includes('"eth_feeHistory"')) return answer
    const told = JSON.parse(answer) as { result: { baseFeePerGas: string[] } }
    const reward = told.result.baseFeePerGas.slice(1).map(() => [`0x${tip.toString(16)}`])
    const baseFeePerGas = told.result.baseFeePerGas.map(() => '0x1')
    return JSON.stringify({ ...told, result: { ...told.result, baseFeePerGas, reward } })
  }
  later += 31_000
  await follow()
  const tips = (await readAttempts(context.db, paymentId)).map(({ signedTransaction }) => {
    const decoded = decodeTransaction(Buffer.from(signedTransaction, 'base64'))
    return decoded.ok && decoded.maxPriorityFeePerGas
  })
  expect(tips).toHaveLength(2)
  expect(tips[0]).toBeGreaterThanOrEqual(tip)
  expect(tips[1]).toBeLessThanOrEqual(5n * 10n ** 9n)
  await evm.mine(2)
  await follow()
  expect(await readPaymentBody(context, paymentId)).toMatchObject({ status: 'confirmed' })
})

test('a payment that a node refuses for its tip is offered with the least tip that the node names', async () => {
  const sender = await managed(ETH)
  const { baseFeePerGas: former } = await evm.client.getBlock()
  const setBaseFee = async (baseFeePerGas: bigint) => {
    await evm.client.setNextBlockBaseFeePerGas({ baseFeePerGas })
    await evm.mine()
  }
  onTestFinished(() => setBaseFee(former ?? 0n))
  await setBaseFee(40n * 10n ** 9n)
  onTestFinished(() => void (gate.lie = undefined))
  const [usual, least] = [10n ** 9n, 15n * 10n ** 8n]
  const fallen: { baseFee?: string } = {}
  gate.lie = (asked, answer) => {
    if (asked.includes('"eth_feeHistory"')) {
      const told = JSON.parse(answer) as { result: { baseFeePerGas: string[] } }
      const fees = told.result.baseFeePerGas
      const reward = fees.slice(1).map(() => [`0x${usual.toString(16)}`])
      const baseFeePerGas = fees.map((fee) => fallen.baseFee ?? fee)
      return JSON.stringify({ ...told, result: { ...told.result, baseFeePerGas, reward } })
    }
    if (!asked.includes('"eth_sendRawTransaction"')) return answer
    const { id, params } = JSON.parse(asked) as { id: number; params: [Hex] }
    const decoded = decodeTransaction(Buffer.from(params[0].slice(2), 'hex'))
    const tip = decoded.ok ? decoded.maxPriorityFeePerGas : 0n
    if (tip >= least) return answer
    const message = `transaction underpriced: gas tip cap ${tip}, minimum needed ${least}`
    return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_000, message } })
  }
  const { paymentId, signature } = await send({ walletAddress: sender })
  // The node behind the gate has it all the same.
  await evm.client.dropTransaction({ hash: signature as Hex })
  fallen.baseFee = '0x1'
  later += 31_000
  await follow()
  const tips = (await readAttempts(context.db, paymentId)).map(({ signedTransaction }) => {
    const decoded = decodeTransaction(Buffer.from(signedTransaction, 'base64'))
    return decoded.ok && decoded.maxPriorityFeePerGas
  })
  expect(tips).toEqual([least, usual])
  await evm.mine(2)
  await follow()
  expect(await readPaymentBody(context, paymentId)).toMatchObject({ status: 'confirmed' })
})

test('a higher offer includes a rollup’s charge for the data, as the first one did', async () => {
  await using rollup = await startEvm({ slotsInEpoch: 2 })
  // The oracle of the OP stack, which here asks 0x1234 for the data and 0x1234 for the operator.
  await rollup.setCode('0x420000000000000000000000000000000000000F', '0x6112345f5260205ff3')
  await rollup.mine()
  let late = 0
  const now = () => new Date(Date.now() + late)
  await using other = await openContext([rollup.network], { now })
  const [chain] = other.context.chains.values()
  if (!chain) throw new Error('no chain')
  const { accountId } = other.actor
  const wallet = { accountId, family: 'evm', name: 'till' } as const
  const { address } = await createWallet({ ...other.context, now: now() }, wallet)
  await rollup.client.setBalance({ address: address as Hex, value: ETH })
  const body = { walletAddress: address, recipientAddress: PAYEE, amount: '0.01' }
  const request = { body, idempotency: undefined, waitMs: 0 }
  const { paymentId } = await sendPayment(other.context, other.actor, request)
  await rollup.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 20n * 10n ** 9n })
  await rollup.mine()
  const tip = Number(await rollup.client.getBlockNumber())
  await eventually(
    () => chain.head(),
    ({ height }) => height >= tip,
  )
  late = 31_000
  expect((await pollOnce(other.context, chain, { expiredToo: false })).failures).toEqual([])
  const attempts = await readAttempts(other.context.db, paymentId)
  const charges = attempts.map(({ maxFee, signedTransaction }) => {
    const decoded = decodeTransaction(Buffer.from(signedTransaction, 'base64'))
    return decoded.ok && maxFee - decoded.feeBoundAtomic
  })
  const charge = (2n * 0x1234n * 125n) / 100n
  expect(charges).toEqual([charge, charge])
})

test('of payments that wait one behind the other only the first is offered more for, until it has landed', async () => {
  const sender = await managed(ETH)
  const ids = [await send({ walletAddress: sender }), await send({ walletAddress: sender })].map(
    ({ paymentId }) => paymentId,
  )
  const offers = () =>
    Promise.all(
      ids.map(async (id) => (await readAttempts(context.db, id)).map(({ nonce }) => nonce)),
    )
  await evm.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 40n * 10n ** 9n })
  await evm.mine()
  later += 31_000
  await follow()
  expect(await offers()).toEqual([[0, 0], [1]])
  await evm.mine()
  await follow()
  expect(await offers()).toEqual([
    [0, 0],
    [1, 1],
  ])
  await evm.mine(2)
  await follow()
  for (const id of ids)
    expect(await readPaymentBody(context, id)).toMatchObject({ status: 'confirmed' })
})

test('a higher offer that was lost is sent again while the lower one still waits', async () => {
  const sender = await managed(ETH)
  const { paymentId, signature } = await send({ walletAddress: sender })
  await evm.client.dropTransaction({ hash: signature as Hex })
  // Dearer, and not so dear that the first offer is refused.
  const { baseFeePerGas } = await evm.client.getBlock()
  await evm.client.setNextBlockBaseFeePerGas({ baseFeePerGas: ((baseFeePerGas ?? 0n) * 3n) / 2n })
  await evm.mine()
  later += 31_000
  await follow()
  const [second, first] = await readAttempts(context.db, paymentId)
  expect(second?.number).toBe(2)
  await evm.client.dropTransaction({ hash: second?.signature as Hex })
  await evm.client.sendRawTransaction({
    serializedTransaction: `0x${Buffer.from(first?.signedTransaction ?? '', 'base64').toString('hex')}`,
  })
  later += 3_000
  await follow()
  await evm.mine(2)
  await follow()
  expect(await readPaymentBody(context, paymentId)).toMatchObject({
    status: 'confirmed',
    signature: second?.signature,
  })
})

test('a payment that the signer refuses keeps no row and no nonce: the next one has nonce 0 and the whole balance', async () => {
  const sender = await managed(ETH)
  const { setPolicy } = testSigner(context)
  setPolicy({ rules: [{ wallet: sender, maxPerPayment: '0.005' }] })
  onTestFinished(() => setPolicy({ rules: [{ wallet: '*' }] }))
  await expect(send({ walletAddress: sender })).rejects.toMatchObject({
    code: 'SIGNING_REFUSED',
    facts: {
      details: { reason: { code: 'over_payment', params: {} }, limit: '0.005', asked: '0.01' },
    },
  })
  const rows = await context.db.select().from(payment).where(eq(payment.sender, sender))
  expect(rows).toEqual([])
  const { paymentId } = await send({ walletAddress: sender, amount: '0.005' })
  expect((await readAttempts(context.db, paymentId)).map(({ nonce }) => nonce)).toEqual([0])
})

test('a payment that cannot land and that the signer does not sign again ends as failed, and says so', async () => {
  const sender = await managed(ETH)
  const row = await findWallet(context.db, { accountId: actor.accountId, address: sender })
  if (!row) throw new Error('no wallet')
  const { paymentId, signature } = await send({ walletAddress: sender })
  await evm.client.dropTransaction({ hash: signature as Hex })
  const account = privateKeyToAccount(
    `0x${Buffer.from(await testSigner(context).secretOf(row)).toString('hex')}`,
  )
  const own = {
    type: 'eip1559',
    chainId: 31_337,
    nonce: 0,
    gas: 21_000n,
    maxFeePerGas: 10n ** 11n,
    to: PAYEE,
    value: 1n,
  } as const
  await evm.client.sendRawTransaction({ serializedTransaction: await account.signTransaction(own) })
  const { setPolicy } = testSigner(context)
  setPolicy({ rules: [{ wallet: sender, maxPerPayment: '0.001' }] })
  onTestFinished(() => setPolicy({ rules: [{ wallet: '*' }] }))
  await evm.mine(8)
  await follow(2)
  expect(await readPaymentBody(context, paymentId)).toMatchObject({ status: 'failed' })
  const [kept] = await context.db.select().from(payment).where(eq(payment.id, paymentId))
  expect(kept?.failure).toContain('is not signed again: One payment from this wallet may be up to')
})
