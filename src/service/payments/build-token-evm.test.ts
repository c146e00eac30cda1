import { bytesToHex, hexToBytes, parseTransaction, type TransactionSerializedEIP1559 } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { LosslessNumber } from '#contract/json.ts'
import type { Asset, Network } from '#contract/network.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import {
  balanceOnEvm,
  issueOddToken,
  issueUsdc,
  ODDITIES,
  transferData,
  type Oddity,
} from '#testing/local-tokens.ts'
import { openContext, type OpenedContext } from '#testing/service-context.ts'
import type { Actor, Context } from '../context/context.ts'
import { findPayment } from '../db/payments.ts'
import { buildTransaction } from './build.ts'

const ETH = 10n ** 18n
const PAYEE = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
/** Price of the local rollup's data and of its operator in the test of it, wei. */
const DATA_FEE = 2n * 0x1234n
const ORACLE = '0x420000000000000000000000000000000000000F'
/** The oracle of the OP stack, which here asks the same for data and operator of every transaction: PUSH2 0x1234 PUSH0 MSTORE PUSH1 32 PUSH0 RETURN. */
const SAME_FOR_ALL = '0x6112345f5260205ff3'

let evm: EvmFixture
let opened: OpenedContext
let context: Context
let actor: Actor
let payer: Awaited<ReturnType<EvmFixture['wallet']>>
let usdc: Asset
let odd: Record<Oddity, Asset>
let network: Network

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 1 })
  payer = await evm.wallet(ETH)
  const issue = { holder: payer.address, supply: 1_000_000_000n }
  usdc = await issueUsdc(evm, issue)
  const tokens: [Oddity, Asset][] = []
  for (const oddity of ODDITIES) tokens.push([oddity, await issueOddToken(evm, oddity, issue)])
  odd = Object.fromEntries(tokens) as Record<Oddity, Asset>
  const wrong = { ...usdc, address: odd.None.address, symbol: 'WRONG', decimals: 18 }
  const nowhere = { ...usdc, address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', symbol: 'NONE' }
  const list = [
    usdc,
    ...Object.values(odd).filter(({ address }) => address !== odd.None.address),
    wrong,
    nowhere,
  ]
  network = { ...evm.network, assets: [...evm.network.assets, ...list] }
  opened = await openContext([network])
  context = opened.context
  actor = opened.actor
})

afterAll(async () => {
  await opened[Symbol.asyncDispose]()
  await evm[Symbol.asyncDispose]()
})

type Body = Parameters<typeof buildTransaction>[2]

const build = (body: Partial<Body> = {}) =>
  buildTransaction(context, actor, {
    walletAddress: payer.address,
    recipientAddress: PAYEE,
    amount: '1.5',
    asset: 'USDC',
    ...body,
  })

const refusal = (body: Partial<Body> = {}) =>
  build(body).then(
    () => expect.fail('it was built'),
    (error: unknown) => error,
  )

test('the bytes call transfer on the token, and the row names asset, decimals and amount', async () => {
  const reply = await build({ amount: '1.500001' })
  const decoded = decodeTransaction(Buffer.from(reply.transaction, 'base64'))
  expect(decoded).toMatchObject({
    ok: true,
    to: usdc.address,
    valueAtomic: 0n,
    data: transferData(PAYEE, 1_500_001n),
    transfer: { recipient: PAYEE, asset: usdc.address, amountAtomic: 1_500_001n },
  })
  expect(decoded.ok && decoded.feeBoundAtomic.toString()).toBe(reply.fee.amountAtomic)
  expect(reply).toMatchObject({
    asset: usdc.address,
    symbol: 'USDC',
    decimals: 6,
    amountAtomic: '1500001',
    sender: payer.address,
    recipient: PAYEE,
  })
  expect(reply.amount).toEqual(new LosslessNumber('1.500001'))
  expect(reply.fee).toMatchObject({ rentAtomic: '0' })
  expect(reply.decoded).toMatchObject({
    to: usdc.address,
    value: '0',
    data: transferData(PAYEE, 1_500_001n),
    call: {
      function: 'transfer(address,uint256)',
      recipient: PAYEE,
      amount: '1500001',
      token: { address: usdc.address, symbol: 'USDC', decimals: 6 },
    },
  })
  expect(reply.proofRequest).toMatchObject({
    message: { accepted: { asset: usdc.address, amount: '1500001', payTo: PAYEE } },
  })
  expect(await findPayment(context.db, reply.paymentId)).toMatchObject({
    asset: usdc.address,
    symbol: 'USDC',
    decimals: 6,
    amount: 1_500_001n,
  })
})

test('what was built is taken by the chain and pays exactly', async () => {
  const reply = await build({ amount: '2.000003', asset: usdc.address.toLowerCase() })
  const serialized = bytesToHex(
    Buffer.from(reply.transaction, 'base64'),
  ) as TransactionSerializedEIP1559
  await evm.client.sendRawTransaction({
    serializedTransaction: await payer.signTransaction(parseTransaction(serialized)),
  })
  await evm.mine()
  expect(await balanceOnEvm(evm, usdc, PAYEE)).toBe(2_000_003n)
})

test('a token that is not configured is refused with those that are', async () => {
  for (const asset of ['DAI', '0x6B175474E89094C44Da98b954EedeAC495271d0F']) {
    expect(await refusal({ asset })).toMatchObject({
      code: 'INVALID_PARAMETERS',
      facts: {
        details: {
          asset: expect.stringMatching(
            new RegExp(
              `^Expected an asset of Local EVM \\(ETH 0xEeee.*, USDC ${usdc.address}.*received "${asset}"`,
            ),
          ),
        },
      },
    })
  }
})

test('more decimals than the token has, and nothing, are refused', async () => {
  expect(await refusal({ amount: '1.0000001' })).toMatchObject({
    facts: { details: { amount: 'Expected at most 6 decimals, received 1.0000001.' } },
  })
  expect(await refusal({ amount: '0' })).toMatchObject({ code: 'INVALID_PARAMETERS' })
})

test('the balance that is short is named: the token’s, or the one that pays the gas', async () => {
  const available = await balanceOnEvm(evm, usdc, payer.address)
  expect(await refusal({ amount: '1000.000001' })).toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
    facts: {
      details: {
        asset: usdc.address,
        symbol: 'USDC',
        requiredAtomic: '1000000001',
        availableAtomic: available.toString(),
        feeAtomic: '0',
        reason: {
          code: 'token_amount',
          params: {
            required: {
              amountAtomic: '1000000001',
              asset: usdc.address,
              symbol: 'USDC',
              decimals: 6,
            },
            available: {
              amountAtomic: available.toString(),
              asset: usdc.address,
              symbol: 'USDC',
              decimals: 6,
            },
          },
        },
      },
    },
  })
  const poor = await evm.wallet(1_000n)
  const serializedTransaction = await payer.signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    nonce: await evm.client.getTransactionCount({ address: payer.address }),
    gas: 100_000n,
    maxFeePerGas: 10n ** 10n,
    to: usdc.address as `0x${string}`,
    data: transferData(poor.address, 5_000_000n),
  })
  await evm.client.sendRawTransaction({ serializedTransaction })
  await evm.mine()
  expect(await refusal({ walletAddress: poor.address })).toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
    facts: {
      details: {
        symbol: 'ETH',
        availableAtomic: '1000',
        reason: {
          code: 'network_fee',
          params: { available: { amountAtomic: '1000', symbol: 'ETH' } },
        },
      },
    },
  })
})

test.each([
  [
    'the token itself',
    () => usdc.address,
    () => ({ code: 'token_contract', params: { token: usdc.address, symbol: 'USDC' } }),
  ],
  [
    'another token of the network',
    () => odd.ReturnsNothing.address,
    () => ({
      code: 'token_contract',
      params: { token: odd.ReturnsNothing.address, symbol: odd.ReturnsNothing.symbol },
    }),
  ],
  [
    'a precompiled contract',
    () => '0x0000000000000000000000000000000000000002',
    () => ({ code: 'precompiled_contract', params: {} }),
  ],
])('the recipient is no %s', async (_, recipientAddress, reason) => {
  const refused = { code: 'INVALID_RECIPIENT', facts: { details: { reason: reason() } } }
  expect(await refusal({ recipientAddress: recipientAddress() })).toMatchObject(refused)
  expect(
    await refusal({ recipientAddress: recipientAddress(), asset: 'ETH', amount: '0.1' }),
  ).toMatchObject(refused)
})

test.each<Oddity>(['KeepsAPart', 'KeepsAPartSecretly'])(
  'a token of the kind %s cannot pay an exact amount',
  async (oddity) => {
    const { address, symbol } = odd[oddity]
    const params = {
      token: address,
      symbol,
      sent: { amountAtomic: '1500000' },
      arrives: { amountAtomic: '1485000', asset: address },
    }
    expect(await refusal({ asset: symbol })).toMatchObject({
      code: 'INVALID_PARAMETERS',
      facts: {
        details: {
          asset: expect.stringContaining(address),
          reason: { code: 'asset_keeps_part', params },
        },
      },
    })
  },
)

test.each<[Oddity, string, object]>([
  ['ReturnsFalse', 'token_returns_false', {}],
  [
    'BlocksRecipient',
    'token_reverts',
    { answer: expect.stringContaining('Blacklistable: account is blacklisted') },
  ],
])('a token of the kind %s rejects the payment: %s', async (oddity, code, params) => {
  const { address, symbol } = odd[oddity]
  expect(await refusal({ asset: symbol })).toMatchObject({
    code: 'INVALID_RECIPIENT',
    facts: { details: { reason: { code, params: { token: address, symbol, ...params } } } },
  })
})

test.each<Oddity>(['ReturnsNothing', 'PaysInterest'])(
  'a token of the kind %s is paid like any other',
  async (oddity) => {
    expect(await build({ asset: odd[oddity].symbol })).toMatchObject({ amountAtomic: '1500000' })
  },
)

test('a configuration that does not fit the chain is refused before a wrong amount is built', async () => {
  expect(await refusal({ asset: 'WRONG' })).toMatchObject({
    facts: {
      details: {
        reason: { code: 'asset_decimals_differ', params: { configured: 18, onChain: 6 } },
      },
    },
  })
  expect(await refusal({ asset: 'NONE' })).toMatchObject({
    facts: { details: { reason: { code: 'asset_missing' } } },
  })
})

test('a rollup’s charge for the data is part of the fee', async () => {
  await using rollup = await startEvm({ slotsInEpoch: 1 })
  const account = await rollup.wallet(ETH)
  await rollup.setCode(ORACLE, SAME_FOR_ALL)
  await using other = await openContext([rollup.network])
  const reply = await buildTransaction(other.context, other.actor, {
    walletAddress: account.address,
    recipientAddress: PAYEE,
    amount: '0.1',
  })
  const decoded = decodeTransaction(Buffer.from(reply.transaction, 'base64'))
  const dataFee = DATA_FEE + (DATA_FEE * 25n) / 100n
  expect(decoded.ok && decoded.feeBoundAtomic + dataFee).toBe(BigInt(reply.fee.amountAtomic))
  expect(reply.decoded).toMatchObject({ dataFee: dataFee.toString() })

  // And of what a payee signs: a settlement, and the note that acknowledges one.
  const [chain] = other.context.chains.values()
  const payees = [
    await chain?.note({
      payee: account.address,
      payer: PAYEE,
      text: 'x402-receipt:pay_1',
      priorityFeeAtomic: undefined,
    }),
    await chain?.contracts?.build({
      from: account.address,
      to: PAYEE,
      data: '0x',
      priorityFeeAtomic: undefined,
    }),
  ]
  for (const built of payees) {
    if (!built?.ok) throw new Error('nothing was built')
    const call = decodeTransaction(built.bytes)
    expect(call.ok && call.feeBoundAtomic + dataFee).toBe(built.feeAtomic)
    expect(built.decoded).toMatchObject({ dataFee: dataFee.toString() })
  }

  // And of what our wallet signs: a settlement, and a higher offer for one.
  const call = { to: PAYEE, data: '0x12' } as const
  const quote = await chain?.contracts?.quote({ from: account.address, ...call })
  expect(quote?.ok && quote.feeAtomic - quote.gas * quote.maxFeePerGas).toBe(dataFee)
  expect(await chain?.contracts?.price({ ...call, gas: 30_000n })).toMatchObject({
    dataFeeAtomic: dataFee,
  })
})

test('a signed transaction whose sender cannot pay a rollup’s charge for the data is refused', async () => {
  await using rollup = await startEvm({ slotsInEpoch: 1 })
  const account = await rollup.wallet(ETH)
  await rollup.setCode(ORACLE, SAME_FOR_ALL)
  await using other = await openContext([rollup.network])
  const [chain] = other.context.chains.values()
  const fields = { chainId: 31_337, nonce: 0, gas: 21_000n, maxFeePerGas: 10n ** 10n }
  const value = 1n
  const signed = await account.signTransaction({ type: 'eip1559', ...fields, to: PAYEE, value })
  const simulate = async (balance: bigint) => {
    await rollup.client.setBalance({ address: account.address, value: balance })
    return chain?.simulateSigned(hexToBytes(signed), undefined)
  }
  const due = value + fields.gas * fields.maxFeePerGas + DATA_FEE
  expect(await simulate(due - 1n)).toEqual({
    ok: false,
    reason: { code: 'payer_balance_too_low', params: {} },
  })
  expect(await simulate(due)).toEqual({ ok: true })
})
