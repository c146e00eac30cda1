import { encodeFunctionData, parseAbi, toHex, type Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callOf, type VerifiedAuthorization } from '#chains/evm/authorization.ts'
import { PERMIT2 } from '#chains/evm/signed-types.ts'
import { multicall3 } from '#devnet/tokens/evm.ts'
import {
  openMinedTokenFixture,
  type MinedTokenFixture,
  type Parties,
} from '#testing/token-fixture.ts'
import { payInvoice, queueFrom } from '#testing/token-payers.ts'
import { eventually } from '#testing/service-context.ts'
import { pollOnce } from '../monitor/poll.ts'
import { readPaymentBody } from '../payments/status.ts'

/** Permits that a third party's contract has the x402 proxy execute, before ours can. */

const aggregateAbi = parseAbi([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable returns ((bool success, bytes returnData)[])',
])
const invalidateAbi = parseAbi(['function invalidateUnorderedNonces(uint256 word, uint256 mask)'])

let fixture: MinedTokenFixture
let mining: Disposable

beforeAll(async () => {
  fixture = await openMinedTokenFixture()
  mining = fixture.withoutMining()
})
afterAll(async () => {
  mining?.[Symbol.dispose]()
  await fixture?.[Symbol.asyncDispose]()
})

/** Presented, with ours in the pool. */
async function handIn(
  all: Parties,
  signed?: string,
): Promise<{ paymentId: string; authorization: VerifiedAuthorization }> {
  const header = signed ?? (await payInvoice(all.client, all.requirements))
  const { payment } = await eventually(
    async () => ({
      payment: await fixture.receive(all, header, { timeout: 1 }).catch(() => undefined),
    }),
    (seen) => typeof seen.payment?.paymentId === 'string',
  )
  return {
    paymentId: payment?.paymentId ?? '',
    authorization: await fixture.authorizationOf(all, header),
  }
}

/** Mined before ours; `target`: the address called with the permit, where it is not the proxy. */
async function handOn(
  calls: readonly { authorization: VerifiedAuthorization; target?: Hex }[],
): Promise<Hex> {
  const called = calls.map(({ authorization, target }) => {
    const { to, data } = callOf(authorization)
    return { target: target ?? to, allowFailure: false, callData: data }
  })
  const data = encodeFunctionData({ abi: aggregateAbi, functionName: 'aggregate3', args: [called] })
  const hash = await queueFrom(fixture.evm, await fixture.evm.wallet(10n ** 18n), {
    to: multicall3.address,
    data,
    tip: 2n * 10n ** 9n,
  })
  await fixture.evm.mine()
  expect(await fixture.evm.client.getTransactionReceipt({ hash })).toMatchObject({
    status: 'success',
  })
  return hash
}

async function final(paymentId: string) {
  await fixture.evm.mine(12)
  const tip = Number(await fixture.evm.client.getBlockNumber())
  await eventually(
    () => fixture.chain.head(),
    ({ height }) => height >= tip,
  )
  expect((await pollOnce(fixture.context, fixture.chain, { expiredToo: true })).failures).toEqual(
    [],
  )
  return readPaymentBody(fixture.context, paymentId)
}

test('each of two in one transaction is the payment it was signed for', async () => {
  const all = await fixture.parties({ method: 'permit2', validSeconds: 600 })
  const [one, other] = [await handIn(all), await handIn(all)]
  const hash = await handOn([one, other])
  expect(await final(one.paymentId)).toMatchObject({ status: 'finalized', signature: hash })
  expect(await final(other.paymentId)).toMatchObject({ status: 'finalized', signature: hash })
  expect(await fixture.balance(all.asset, all.payee.address)).toBe(2n * all.amount)
})

test('one that only stands in the data beside another is not paid by what the other moved, even when its nonce is used', async () => {
  const all = await fixture.parties({ method: 'permit2', validSeconds: 600 })
  const [one, other] = [await handIn(all), await handIn(all)]
  // Before ours: an address without code accepts every call.
  const { nonce } = other.authorization
  const args = [BigInt(nonce) >> 8n, 1n << (BigInt(nonce) & 0xffn)] as const
  const strike = {
    to: PERMIT2,
    data: encodeFunctionData({
      abi: invalidateAbi,
      functionName: 'invalidateUnorderedNonces',
      args,
    }),
  } as const
  await queueFrom(fixture.evm, all.payer, { ...strike, gas: 100_000n, tip: 3n * 10n ** 9n })
  const hash = await handOn([one, { ...other, target: all.payee.address }])
  expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
  expect((await final(other.paymentId)).signature).not.toBe(hash)
  expect(await readPaymentBody(fixture.context, other.paymentId)).toMatchObject({
    status: 'failed',
  })
})

test('one that rides along in a call of the proxy itself is not paid by what that call moved', async () => {
  const all = await fixture.parties({ method: 'permit2', validSeconds: 600 })
  const [one, other] = [await handIn(all), await handIn(all)]
  const { nonce } = other.authorization
  const args = [BigInt(nonce) >> 8n, 1n << (BigInt(nonce) & 0xffn)] as const
  const strike = {
    to: PERMIT2,
    data: encodeFunctionData({
      abi: invalidateAbi,
      functionName: 'invalidateUnorderedNonces',
      args,
    }),
  } as const
  await queueFrom(fixture.evm, all.payer, { ...strike, gas: 100_000n, tip: 3n * 10n ** 9n })
  // The other call lies between the head of this one and its signature, which is too far away to be
  // read from the middle of any data.
  const { to, data } = callOf(one.authorization)
  const between = callOf(other.authorization)
    .data.slice(2)
    .padEnd(2 * 8_192, '0')
  const head = 10 + 7 * 64
  const apart = BigInt(8 * 32 + between.length / 2)
  const far =
    `${data.slice(0, head)}${toHex(apart, { size: 32 }).slice(2)}${between}${data.slice(head + 64)}` as Hex
  const hash = await queueFrom(fixture.evm, await fixture.evm.wallet(10n ** 18n), {
    to,
    data: far,
    tip: 2n * 10n ** 9n,
  })
  await fixture.evm.mine()
  expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
  expect((await final(other.paymentId)).signature).not.toBe(hash)
  expect(await readPaymentBody(fixture.context, other.paymentId)).toMatchObject({
    status: 'failed',
  })
  expect(await readPaymentBody(fixture.context, one.paymentId)).toMatchObject({
    status: 'finalized',
    signature: hash,
  })
})

test('one that another transaction has only carried along is paid by its own, and does not keep the other from being paid', async () => {
  const all = await fixture.parties({ method: 'permit2', validSeconds: 600 })
  const one = await handIn(all)
  const header = await payInvoice(all.client, all.requirements)
  const hash = await handOn([
    one,
    { authorization: await fixture.authorizationOf(all, header), target: all.payee.address },
  ])
  const other = await handIn(all, header)
  expect(await final(other.paymentId)).toMatchObject({ status: 'finalized' })
  expect((await readPaymentBody(fixture.context, other.paymentId)).signature).not.toBe(hash)
  expect(await readPaymentBody(fixture.context, one.paymentId)).toMatchObject({
    status: 'finalized',
    signature: hash,
  })
  expect(await fixture.balance(all.asset, all.payee.address)).toBe(2n * all.amount)
})
