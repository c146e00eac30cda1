import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as v from 'valibot'
import { concat, encodeFunctionData, erc20Abi, numberToHex, parseAbi, size, type Hex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { callOf, type VerifiedAuthorization } from '#chains/evm/authorization.ts'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import { endpoints } from '#contract/endpoints.ts'
import { ProblemError } from '#contract/problem.ts'
import { ANSWERS } from '#testing/contract-payers.ts'
import { startEvm, startGate, type EvmFixture } from '#testing/local-chains.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import { eventually } from '#testing/service-context.ts'
import { openTokenFixture, type Parties, type TokenFixture } from '#testing/token-fixture.ts'
import { payInvoice, queueFrom, sendFrom } from '#testing/token-payers.ts'
import { EXACT_PERMIT2_PROXY } from '#x402/authorization.ts'
import { receivePayment } from './receive.ts'
import { readAttempts } from '../db/attempts.ts'
import { pollOnce } from '../monitor/poll.ts'
import { readList } from '../payments/list/history.ts'
import { readPaymentBody } from '../payments/status.ts'
import { reconcile } from '../reconciliation/reconcile.ts'

/**
 * Anybody can execute what a payer of tokens signed until it ends. A failure of ours does not end
 * it, nor does our clock or one node's word: only what two nodes show of the finalized chain does.
 */

const GOOD_FOR_S = 600
const methods = ['eip3009', 'permit2'] as const
type Method = (typeof methods)[number]

let evm: EvmFixture
let first: Awaited<ReturnType<typeof startGate>>
let second: Awaited<ReturnType<typeof startGate>>
let fixture: TokenFixture
let later = 0

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 2 })
  first = await startGate(evm.rpcUrl)
  second = await startGate(evm.rpcUrl)
  fixture = await openTokenFixture(evm, {
    rpcUrls: [first.url, second.url],
    now: () => new Date(Date.now() + later),
  })
})

afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await first?.[Symbol.asyncDispose]()
  await second?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

beforeEach(() => {
  first.lie = second.lie = undefined
  second.open = true
  later = 0
})

const chainSeconds = async () => Number((await evm.client.getBlock()).timestamp)

/** A payment that ends this long after the chain's current time. */
async function signed(
  method: Method,
): Promise<{ all: Parties; header: string; authorization: VerifiedAuthorization }> {
  // The mined chain runs ahead of the clock.
  const validSeconds =
    Math.max(0, (await chainSeconds()) - Math.floor(Date.now() / 1000)) + GOOD_FOR_S

  const all = await fixture.parties({ method, validSeconds })
  const header = await payInvoice(all.client, all.requirements)
  return { all, header, authorization: await fixture.authorizationOf(all, header) }
}

/** Presented, with ours in the pool. */
async function handedIn(method: Method) {
  const made = await signed(method)
  return {
    ...made,
    paymentId: await untilOpen(() => fixture.receive(made.all, made.header, { timeout: 1 })),
  }
}

/** Repeats the request until it is recorded: all steps before may take over a second. */
async function untilOpen(receive: () => ReturnType<typeof receivePayment>): Promise<string> {
  const undecided = (error: unknown) => {
    if (error instanceof ProblemError && error.code === 'PAYMENT_VERIFICATION_FAILED')
      return undefined
    throw error
  }
  const received = await eventually(() => receive().catch(undecided), Boolean)
  expect(received?.status).toBe('pending')
  return received?.paymentId ?? ''
}

/** One more transaction that goes into the block before ours. */
const front = (from: Parties['payer'], call: { to: Hex; data: Hex }) =>
  sendFrom(evm, from, { ...call, gas: 300_000n })

const carryOut = async (authorization: VerifiedAuthorization) =>
  front(await evm.wallet(10n ** 18n), callOf(authorization))

/** Ours is in a block and was reverted, because the payer held nothing at that moment. */
async function reverted(method: Method) {
  const made = await handedIn(method)
  const { all } = made
  const held = await fixture.balance(all.asset, all.payer.address)
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [fixture.facilitator.address, held],
  })
  await front(all.payer, { to: all.asset.address as Hex, data })
  await expectReverted()
  return made
}

async function expectReverted(): Promise<void> {
  const nonce = await evm.client.getTransactionCount({ address: fixture.facilitator.address })
  const { transactions } = await evm.client.getBlock({ includeTransactions: true })
  const ours = transactions.find(
    ({ from, nonce: used }) =>
      from.toLowerCase() === fixture.facilitator.address.toLowerCase() && used === nonce - 1,
  )
  expect(await evm.client.getTransactionReceipt({ hash: ours?.hash ?? '0x' })).toMatchObject({
    status: 'reverted',
  })
}

const final = () => evm.mine(6)

async function follow(): Promise<unknown[]> {
  const tip = Number(await evm.client.getBlockNumber())
  await eventually(
    () => fixture.chain.head(),
    ({ height }) => height >= tip,
  )
  return (await pollOnce(fixture.context, fixture.chain, { expiredToo: true })).failures
}

async function statusOf(paymentId: string): Promise<string> {
  expect(await follow()).toEqual([])
  return (await readPaymentBody(fixture.context, paymentId)).status
}

const passEnd = async () => {
  await evm.client.increaseTime({ seconds: GOOD_FOR_S + 60 })
  await evm.mine()
  later = (await chainSeconds()) * 1000 + 3_600_000 - Date.now()
}

/** A node's answer without its events, or without those of a named topic. */
const hideLogs =
  (topic = '') =>
  (asked: string, answer: string) =>
    asked.includes('"eth_getLogs"') && asked.includes(topic)
      ? JSON.stringify({ ...JSON.parse(answer), result: [] })
      : answer

describe.each(methods)('%s', (method) => {
  test('stays open when our execution reverted, and is paid when a third party executes it', async () => {
    const { all, authorization, paymentId } = await reverted(method)
    await final()
    expect(await statusOf(paymentId)).toBe('pending')
    await fixture.tokens.fund(all.payer.address)
    const hash = await carryOut(authorization)
    await evm.mine(2)
    expect(await statusOf(paymentId)).toBe('confirmed')
    expect(await readPaymentBody(fixture.context, paymentId)).toMatchObject({ signature: hash })
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
  })

  test('that a third party executed stays open while no RPC endpoint shows the transaction', async () => {
    const { authorization, paymentId } = await handedIn(method)
    const hash = await carryOut(authorization)
    await expectReverted()
    await final()
    first.lie = second.lie = hideLogs()
    expect(await statusOf(paymentId)).toBe('pending')
    later += 86_400_000
    expect(await statusOf(paymentId)).toBe('pending')
    first.lie = second.lie = undefined
    expect(await statusOf(paymentId)).toBe('finalized')
    expect(await readPaymentBody(fixture.context, paymentId)).toMatchObject({ signature: hash })
  })

  test('fails once the finalized chain has passed its end, and no sooner: neither by our clock nor by the newest block', async () => {
    const { paymentId } = await reverted(method)
    await final()
    later += 86_400_000
    expect(await statusOf(paymentId)).toBe('pending')
    await passEnd()
    expect(await statusOf(paymentId)).toBe('pending')
    await final()
    expect(await statusOf(paymentId)).toBe('failed')
    expect(await readPaymentBody(fixture.context, paymentId)).toMatchObject({
      failure: expect.stringContaining('reverted'),
    })
  })

  test('that its payer cancelled fails as soon as the cancellation is finalized', async () => {
    const { all, authorization, paymentId } = await handedIn(method)
    await takeBack(all, authorization)
    await expectReverted()
    expect(await statusOf(paymentId)).toBe('pending')
    await final()
    expect(await statusOf(paymentId)).toBe('failed')
  })
})

test('that a third party executed is final with ours, which is sent again where a reorganization drops it', async () => {
  const { address } = fixture.facilitator
  const before = await evm.client.getTransactionCount({ address })
  const { authorization, paymentId } = await handedIn('eip3009')
  // Only the other one goes into this block.
  const [ours] = await readAttempts(fixture.context.db, paymentId)
  await evm.client.dropTransaction({ hash: ours?.signature as Hex })
  const hash = await carryOut(authorization)
  await evm.client.sendRawTransaction({
    serializedTransaction: `0x${Buffer.from(ours?.signedTransaction ?? '', 'base64').toString('hex')}`,
  })
  await evm.mine()
  await expectReverted()
  await evm.mine()
  expect(await statusOf(paymentId)).toBe('confirmed')
  await evm.client.request({ method: 'anvil_reorg', params: [2, []] } as never)
  expect(await evm.client.getTransactionCount({ address })).toBe(before)
  // The newest block that the service knows may be some hundred milliseconds old.
  await eventually(
    () => fixture.chain.observe(ours?.signature ?? ''),
    ({ state }) => state !== 'landed',
  )
  later += 60_000
  expect(await statusOf(paymentId)).toBe('confirmed')
  await evm.mine()
  await expectReverted()
  expect(await evm.client.getTransactionCount({ address })).toBe(before + 1)
  await final()
  expect(await statusOf(paymentId)).toBe('finalized')
  expect(await readPaymentBody(fixture.context, paymentId)).toMatchObject({ signature: hash })
})

test('that a third party executed is rolled back with its block, also where the wallet of ours is not managed any more', async () => {
  const { context, facilitator } = fixture
  const { authorization, paymentId } = await handedIn('eip3009')
  await carryOut(authorization)
  await expectReverted()
  await evm.mine()
  expect(await statusOf(paymentId)).toBe('confirmed')
  const rename = (from: string, to: string) =>
    executeAsOwner(
      { target: context.config.database, db: context.db },
      `update service.wallet set address = '${to}' where address = '${from}'`,
    )
  await rename(facilitator.address, 'lost')
  await evm.client.request({ method: 'anvil_reorg', params: [2, []] } as never)
  // Ours waits for long, and would be offered more.
  await evm.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 10n })
  await evm.mine()
  later += 60_000
  expect(await statusOf(paymentId)).toBe('rolled_back')
  await rename('lost', facilitator.address)
  expect(await statusOf(paymentId)).toBe('rolled_back')
  await final()
  expect(await statusOf(paymentId)).toBe('finalized')
})

test('that a third party executed names the fee of our reverted settlement, alone as in the list', async () => {
  const { context, actor, facilitator } = fixture
  const { authorization, paymentId } = await handedIn('eip3009')
  const hash = await carryOut(authorization)
  await expectReverted()
  await evm.mine(2)
  expect(await statusOf(paymentId)).toBe('confirmed')
  const ours = (await readAttempts(context.db, paymentId))[0]?.signature as Hex
  const { gasUsed, effectiveGasPrice } = await evm.client.getTransactionReceipt({ hash: ours })
  const paid = {
    amountAtomic: (gasUsed * effectiveGasPrice).toString(),
    payer: facilitator.address,
  }
  const query = v.parse(endpoints.paymentList.query, { limit: '500' })
  const { payments } = await readList(context, actor, query)
  expect(payments.find((row) => row.paymentId === paymentId)?.fee).toMatchObject(paid)
  expect(await readPaymentBody(context, paymentId)).toMatchObject({
    signature: hash,
    fee: { ...paid, ofTransaction: false },
  })
})

const cancelAbi = parseAbi([
  'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
])
const invalidateAbi = parseAbi(['function invalidateUnorderedNonces(uint256 word, uint256 mask)'])

test('whose execution by a third party is final does not stop the wallet of ours while nodes have forgotten ours', async () => {
  const compare = () => reconcile(fixture.context, fixture.chain, fixture.facilitator.address)
  await final()
  expect(await follow()).toEqual([])
  expect(await compare()).toBe('equal')
  const { authorization, paymentId } = await handedIn('eip3009')
  await carryOut(authorization)
  await expectReverted()
  await final()
  expect(await statusOf(paymentId)).toBe('finalized')
  const [ours] = await readAttempts(fixture.context.db, paymentId)
  first.lie = (asked, answer) =>
    asked.includes(ours?.signature ?? '')
      ? JSON.stringify({ ...JSON.parse(answer), result: null })
      : answer
  expect(await compare()).toBe('later')
  first.lie = undefined
  expect(await compare()).toBe('equal')
})

function invalidationOf(nonce: Hex): Hex {
  const args = [BigInt(nonce) >> 8n, 1n << (BigInt(nonce) & 0xffn)] as const
  return encodeFunctionData({ abi: invalidateAbi, functionName: 'invalidateUnorderedNonces', args })
}

async function takeBack(
  { payer }: Parties,
  { method, token, from, nonce }: VerifiedAuthorization,
): Promise<void> {
  if (method === 'permit2') {
    await front(payer, { to: PERMIT2, data: invalidationOf(nonce) })
    return
  }
  const signature = await payer.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId: 31_337, verifyingContract: token },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: from, nonce },
  })
  await front(payer, {
    to: token,
    data: encodeFunctionData({
      abi: cancelAbi,
      functionName: 'cancelAuthorization',
      args: [from, nonce, signature],
    }),
  })
}

test('a permit whose nonce its owner invalidated after its execution is not cancelled', async () => {
  const { all, authorization, paymentId } = await handedIn('permit2')
  await carryOut(authorization)
  await takeBack(all, authorization)
  await final()
  // The node shows the owner's event, but not the transfer.
  first.lie = second.lie = hideLogs('0xddf252ad')
  expect(await statusOf(paymentId)).toBe('pending')
  first.lie = second.lie = undefined
  expect(await statusOf(paymentId)).toBe('finalized')
})

test('a permit that was executed earlier in the block of its invalidation is not cancelled', async () => {
  const { all, authorization, paymentId } = await handedIn('permit2')
  const carrier = await queueFrom(evm, await evm.wallet(10n ** 18n), {
    ...callOf(authorization),
    gas: 300_000n,
    tip: 2n * 10n ** 9n,
  })
  await takeBack(all, authorization)
  const carried = await evm.client.getTransactionReceipt({ hash: carrier })
  expect(carried).toMatchObject({
    status: 'success',
    blockNumber: await evm.client.getBlockNumber(),
  })
  await final()
  first.lie = second.lie = hideLogs('0xddf252ad')
  expect(await statusOf(paymentId)).toBe('pending')
  first.lie = second.lie = undefined
  expect(await statusOf(paymentId)).toBe('finalized')
})

/**
 * Code of a payer that accepts every signature for Permit2; for others it passes their data to the
 * proxy and then invalidates a nonce.
 */
function executesAndInvalidates(nonce: Hex): Hex {
  const data = invalidationOf(nonce)
  const length = concat(['0x61', numberToHex(size(data), { size: 2 })])
  const at = (offset: number) => concat(['0x61', numberToHex(offset, { size: 2 })])
  const call = (to: Hex, bytes: Hex) =>
    concat(['0x60006000', bytes, '0x6000600073', to, '0x5af150'])
  const code = (valid: number, invalidation: number) =>
    concat([
      concat(['0x3373', PERMIT2, '0x14', at(valid), '0x57']),
      concat(['0x3660006000', '0x37', call(EXACT_PERMIT2_PROXY, '0x36')]),
      concat([length, at(invalidation), '0x600039', call(PERMIT2, length), '0x00']),
    ])
  const valid = size(code(0, 0))
  return concat([code(valid, valid + 1 + size(ANSWERS.valid)), '0x5b', ANSWERS.valid, data])
}

test('a permit that was executed in the transaction of its invalidation is not cancelled', async () => {
  const { all, authorization, paymentId } = await handedIn('permit2')
  await evm.setCode(all.payer.address, executesAndInvalidates(authorization.nonce))
  const { data } = callOf(authorization)
  await front(await evm.wallet(10n ** 18n), { to: all.payer.address, data })
  expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
  await final()
  first.lie = second.lie = hideLogs('0xddf252ad')
  expect(await statusOf(paymentId)).toBe('pending')
  first.lie = second.lie = undefined
  expect(await statusOf(paymentId)).toBe('finalized')
})

describe('the second node', () => {
  const used = `0x${'0'.repeat(63)}1`

  test.each<[string, (asked: string, answer: string) => string]>([
    [
      'is behind',
      (asked, answer) =>
        asked.includes('"finalized"') && asked.includes('eth_getBlockByNumber')
          ? answer.replace(/"timestamp":"0x[0-9a-f]+"/, '"timestamp":"0x1"')
          : answer,
    ],
    [
      'says that it was used',
      (asked, answer) =>
        asked.includes('"eth_call"')
          ? answer.replace(/"result":"0x0+"/, `"result":"${used}"`)
          : answer,
    ],
  ])('keeps a payment open when it %s', async (_, lie) => {
    const { paymentId } = await reverted('eip3009')
    await passEnd()
    await final()
    second.lie = lie
    expect(await statusOf(paymentId)).toBe('pending')
    second.lie = undefined
    expect(await statusOf(paymentId)).toBe('failed')
  })

  test('that has forgotten the state of the finalized block proves it by a later one', async () => {
    const { paymentId } = await reverted('eip3009')
    await passEnd()
    await final()
    const { number } = await evm.client.getBlock({ blockTag: 'finalized' })
    // Only of a block that is not yet forgotten.
    second.lie = (asked, answer) =>
      asked.includes('"eth_call"') && asked.includes(`"0x${number.toString(16)}"`)
        ? JSON.stringify({
            jsonrpc: '2.0',
            id: (JSON.parse(asked) as { id: number }).id,
            error: { code: -32000, message: 'missing trie node' },
          })
        : answer
    expect(await statusOf(paymentId)).toBe('failed')
  })

  test('keeps a payment open when it is silent', async () => {
    const { paymentId } = await reverted('eip3009')
    await passEnd()
    await final()
    second.open = false
    const failures = await follow()
    expect(failures.length).toBeGreaterThan(0)
    for (const failure of failures) expect(failure).toMatchObject({ code: 'CHAIN_UNAVAILABLE' })
    expect((await readPaymentBody(fixture.context, paymentId)).status).toBe('pending')
    second.open = true
    expect(await statusOf(paymentId)).toBe('failed')
  })
})

test('an authorization that another facilitator never executed fails by the chain’s clock, not by ours', async () => {
  const { all, header } = await signed('eip3009')
  const server = createServer((request, response) => {
    const answer = request.url?.endsWith('/verify')
      ? { isValid: true }
      : { success: true, transaction: `0x${'ab'.repeat(32)}`, network: 'eip155:31337' }
    request.resume().once('end', () => void response.end(JSON.stringify(answer)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const facilitatorUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x402`
  const config = {
    ...fixture.context.config,
    facilitators: { allowed: [facilitatorUrl], loopback: true },
  }
  const body = {
    walletAddress: all.payee.address,
    paymentProof: header,
    expectedAmount: '1.5',
    asset: 'USDC',
    facilitatorUrl,
    timeout: 1,
  }
  const paymentId = await untilOpen(() =>
    receivePayment({ ...fixture.context, config }, fixture.actor, body),
  )
  later += 86_400_000
  expect(await statusOf(paymentId)).toBe('pending')
  await passEnd()
  await final()
  expect(await statusOf(paymentId)).toBe('failed')
})
