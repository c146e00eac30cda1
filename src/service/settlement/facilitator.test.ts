import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Hex } from 'viem'
import { NATIVE_ETH } from '#contract/network.ts'
import { parseJson } from '#contract/json.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { proveTxid, refusal, refused } from '#testing/proofs.ts'
import {
  openAccount,
  openContext,
  registerPayee,
  releasePayee,
  type OpenedContext,
} from '#testing/service-context.ts'
import { encodeHeader } from '#x402/header.ts'
import type { Requirements } from '#x402/requirements.ts'
import { describeSupported, settlePayment, verifyPayment } from './facilitator.ts'
import { receivePayment } from './receive.ts'

/** The x402 facilitator, and native ETH that the payer signs and the facilitator broadcasts. */

const ETH = 10n ** 18n
const AMOUNT = 10n ** 16n
const NETWORK = 'eip155:31337'
const URL = 'https://shop.example/a'

let evm: EvmFixture
let opened: OpenedContext

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 4 })
  await evm.mine()
  opened = await openContext([evm.network])
})

afterAll(async () => {
  await opened[Symbol.asyncDispose]()
  await evm[Symbol.asyncDispose]()
})

type Made = {
  value?: bigint
  nonce?: number
  chainId?: number
  data?: Hex
  to?: Hex
  balance?: bigint
}

/** A payment that the payer has signed and nobody has broadcast. */
async function signed({
  value = AMOUNT,
  nonce = 0,
  chainId = 31337,
  data,
  to,
  balance = ETH,
}: Made = {}) {
  const [payer, payee] = await Promise.all([evm.wallet(balance), evm.wallet(0n)])
  const fields = {
    chainId,
    gas: 50_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
    nonce,
    to: to ?? payee.address,
    value,
    ...(data && { data }),
  }
  const signedTransaction = await payer.signTransaction({ type: 'eip1559', ...fields })
  const paymentRequirements: Requirements = {
    scheme: 'exact',
    network: NETWORK,
    amount: AMOUNT.toString(),
    asset: NATIVE_ETH.address,
    payTo: payee.address,
    maxTimeoutSeconds: 60,
    extra: { assetTransferMethod: 'signed-transaction' },
  }
  const paymentPayload = {
    x402Version: 2,
    resource: { url: URL },
    accepted: paymentRequirements,
    payload: { signedTransaction },
  }
  return {
    payer,
    payee,
    input: { x402Version: 2 as const, paymentPayload, paymentRequirements },
    signedTransaction,
  }
}

type Input = Parameters<typeof settlePayment>[2]
const verify = (input: Input) => verifyPayment(opened.context, opened.actor, input)
const settle = (input: Input, actor = opened.actor) => settlePayment(opened.context, actor, input)

/** Mines until the work is done: the node mines only when it is told to. */
async function mining<T>(work: Promise<T>): Promise<T> {
  let done = false
  const ended = work.finally(() => (done = true))
  while (!done) {
    await evm.mine()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return ended
}

test('says what it settles, in both versions, and that it sponsors nothing', () => {
  const { kinds, signers } = describeSupported(opened.context)
  expect(kinds.map(({ x402Version, network }) => [x402Version, network])).toEqual([
    [1, NETWORK],
    [2, NETWORK],
  ])
  expect(kinds[0]?.extra).toEqual({
    assetTransferMethods: ['txid', 'signed-transaction'],
    confirmations: 2,
  })
  expect(signers).toEqual({})
})

test('where the seller offers txid, a raw transaction that a stranger read first pays nothing, and the payer’s proof does', async () => {
  const { payer, payee, input, signedTransaction } = await signed()
  await registerPayee(opened.context, opened.actor.accountId, payee.address)
  const { paymentRequirements, paymentPayload } = input
  const offered = { ...paymentRequirements, extra: { assetTransferMethod: 'txid' } }
  const { extra: _, amount, ...v1 } = paymentRequirements
  const stolen = [
    { x402Version: 2 as const, paymentPayload, paymentRequirements: offered },
    {
      x402Version: 1 as const,
      paymentPayload: {
        x402Version: 1,
        scheme: 'exact',
        network: NETWORK,
        payload: { signedTransaction },
      },
      paymentRequirements: {
        ...v1,
        maxAmountRequired: amount,
        resource: 'https://shop.example/stranger',
        description: '',
        mimeType: '',
        extra: offered.extra,
      },
    },
  ]
  // No endpoint of the service has seen the transaction yet.
  for (const each of stolen) {
    const errorReason = 'unsupported_asset_transfer_method'
    expect(await settle(each)).toMatchObject({ success: false, errorReason, transaction: '' })
    const presented = receivePayment(opened.context, opened.actor, {
      walletAddress: payee.address,
      paymentProof: encodeHeader(each.paymentPayload),
      expectedAmount: '0.01',
      assetTransferMethod: 'txid',
      timeout: 5,
    })
    expect(await refusal(presented)).toEqual(refused('unsupported_method', 'method'))
  }
  const txRef = await evm.client.sendRawTransaction({
    serializedTransaction: signedTransaction,
  })
  await evm.mine(3)
  const proof = { payer, payTo: payee.address, txRef, network: NETWORK, amount: AMOUNT }
  const paid = receivePayment(opened.context, opened.actor, {
    walletAddress: payee.address,
    paymentProof: await proveTxid(proof),
    expectedAmount: '0.01',
    assetTransferMethod: 'txid',
    resource: URL,
    timeout: 10,
  })
  expect(await paid).toMatchObject({ verified: true, alreadyProcessed: false })
})

test('a method that does not move the asset is a bad parameter', async () => {
  const { payee, input } = await signed()
  const presented = receivePayment(opened.context, opened.actor, {
    walletAddress: payee.address,
    paymentProof: encodeHeader(input.paymentPayload),
    expectedAmount: '0.01',
    assetTransferMethod: 'eip3009',
    timeout: 5,
  })
  await expect(presented).rejects.toMatchObject({
    code: 'INVALID_PARAMETERS',
    facts: {
      details: {
        assetTransferMethod: 'Expected txid or signed-transaction, received "eip3009".',
      },
    },
  })
})

test('a signed transaction is verified without being broadcast, settled once, and recorded', async () => {
  const { payer, payee, input } = await signed()
  const other = await openAccount(opened.context)
  await registerPayee(opened.context, opened.actor.accountId, payee.address)
  const verified = await verify(input)
  expect(verified).toMatchObject({ isValid: true, payer: payer.address })
  expect(verified.extra?.checks.map(({ name, ok }) => [name, ok])).toContainEqual([
    'simulation',
    true,
  ])
  expect(await evm.client.getBalance({ address: payee.address })).toBe(0n)
  const settled = await mining(settle(input))
  expect(settled).toMatchObject({
    success: true,
    payer: payer.address,
    network: NETWORK,
    paymentId: expect.stringMatching(/^pay_/),
  })
  expect(await evm.client.getBalance({ address: payee.address })).toBe(AMOUNT)
  expect(await settle(input)).toMatchObject({
    success: false,
    errorReason: 'already_used',
    transaction: '',
  })
  expect(await settle(input, other)).toMatchObject({
    success: false,
    errorReason: 'payee_not_owned',
    transaction: '',
  })
  expect(await verifyPayment(opened.context, other, input)).toMatchObject({
    isValid: false,
    invalidReason: 'payee_not_owned',
  })
  await releasePayee(opened.context, opened.actor.accountId, payee.address)
  expect(await settle(input, other)).toMatchObject({ success: false, errorReason: 'already_used' })
  expect(await verify(input)).toMatchObject({ isValid: false, invalidReason: 'already_used' })
})

test('a signed transaction that the network shows before it is presented is refused: its bytes are public', async () => {
  const { input, signedTransaction } = await signed()
  expect(await verify(input)).toMatchObject({ isValid: true })
  await evm.client.sendRawTransaction({ serializedTransaction: signedTransaction })
  const refused = 'invalid_exact_evm_nonce_already_used'
  for (const blocks of [0, 1, 3]) {
    if (blocks > 0) await evm.mine(blocks)
    expect(await verify(input)).toMatchObject({ isValid: false, invalidReason: refused })
    expect(await settle(input)).toMatchObject({
      success: false,
      errorReason: refused,
      transaction: '',
    })
  }
})

test('of many settlements at once one succeeds', async () => {
  const { payee, input } = await signed()
  const answers = await mining(Promise.all(Array.from({ length: 8 }, () => settle(input))))
  expect(answers.filter(({ success }) => success)).toHaveLength(1)
  expect(await evm.client.getBalance({ address: payee.address })).toBe(AMOUNT)
})

test.each<[string, Made, string]>([
  ['too little', { value: AMOUNT - 1n }, 'invalid_exact_evm_payload_authorization_value'],
  ['too much', { value: AMOUNT + 1n }, 'invalid_exact_evm_payload_authorization_value'],
  [
    'another payee',
    { to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
    'invalid_exact_evm_payload_recipient_mismatch',
  ],
  ['another chain', { chainId: 1 }, 'invalid_network'],
  ['data', { data: '0x00' }, 'unexpected_instruction'],
  ['a nonce that is ahead', { nonce: 3 }, 'invalid_exact_evm_transaction_simulation_failed'],
  [
    'a balance that does not cover it',
    { balance: AMOUNT },
    'invalid_exact_evm_transaction_simulation_failed',
  ],
])('a signed transaction with %s is neither valid nor settled', async (_, made, reason) => {
  const { input } = await signed(made)
  expect(await verify(input)).toMatchObject({ isValid: false, invalidReason: reason })
  expect(await settle(input)).toMatchObject({
    success: false,
    errorReason: reason,
    transaction: '',
  })
})

test('an unsigned transaction is refused as unsigned', async () => {
  const { input, signedTransaction } = await signed()
  const unsigned = {
    ...input,
    paymentPayload: {
      ...input.paymentPayload,
      payload: { signedTransaction: signedTransaction.replace(/..$/, '') },
    },
  }
  expect(await settle(unsigned)).toMatchObject({
    success: false,
    errorReason: 'invalid_payload',
    transaction: '',
  })
})

test('a payment made before it was asked for is refused', async () => {
  const { payer, payee, input, signedTransaction } = await signed()
  const txRef = await evm.client.sendRawTransaction({ serializedTransaction: signedTransaction })
  await evm.mine(2)
  const header = await proveTxid({
    payer,
    payTo: payee.address,
    network: NETWORK,
    amount: AMOUNT,
    txRef,
    url: URL,
  })
  const paymentPayload = parseJson(Buffer.from(header, 'base64').toString()) as Record<
    string,
    unknown
  >
  const later = Math.ceil(Date.now() / 1000) + 3_600
  const requirements = {
    ...input.paymentRequirements,
    extra: { assetTransferMethod: 'txid', notBefore: later, expiresAt: later + 60 },
  }
  expect(
    await verify({ x402Version: 2, paymentPayload, paymentRequirements: requirements }),
  ).toMatchObject({ isValid: false, invalidReason: 'outside_window' })
  expect(
    await verify({
      x402Version: 2,
      paymentPayload,
      paymentRequirements: { ...requirements, extra: { assetTransferMethod: 'txid' } },
    }),
  ).toMatchObject({
    isValid: true,
  })
})

test('what was settled here is used for every door', async () => {
  const { payee, input } = await signed()
  await mining(settle(input))
  const paymentProof = Buffer.from(JSON.stringify(input.paymentPayload)).toString('base64')
  const body = {
    walletAddress: payee.address,
    paymentProof,
    expectedAmount: '0.01',
    resource: URL,
    timeout: 5,
  }
  expect(await refusal(receivePayment(opened.context, opened.actor, body))).toMatchObject({
    reason: 'already_used',
  })
})

const withTerms = (input: Input, changes: Record<string, unknown>) => ({
  ...input,
  paymentRequirements: { ...input.paymentRequirements, ...changes },
})

test.each<[string, (input: Input) => Input, string]>([
  [
    'another version than the payment',
    (input) => ({ ...input, x402Version: 1 }),
    'invalid_x402_version',
  ],
  [
    'a version that nobody knows',
    (input) => ({ ...input, x402Version: 3 }),
    'invalid_x402_version',
  ],
  [
    'a payload that is none',
    (input) => ({ ...input, paymentPayload: { x402Version: 2 } }),
    'invalid_payload',
  ],
  [
    'no requirements',
    (input) => ({ ...input, paymentRequirements: {} }),
    'invalid_payment_requirements',
  ],
  ['another scheme', (input) => withTerms(input, { scheme: 'upto' }), 'unsupported_scheme'],
  [
    'a network nobody configured',
    (input) => withTerms(input, { network: 'eip155:1' }),
    'invalid_network',
  ],
  [
    'another asset',
    (input) => withTerms(input, { asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' }),
    'invalid_payment_requirements',
  ],
  [
    'an amount of zero',
    (input) => withTerms(input, { amount: '0' }),
    'invalid_payment_requirements',
  ],
  [
    'an amount with decimals',
    (input) => withTerms(input, { amount: '1.5' }),
    'invalid_payment_requirements',
  ],
  [
    'no time to pay',
    (input) => withTerms(input, { maxTimeoutSeconds: 0 }),
    'invalid_payment_requirements',
  ],
  [
    'a payee of another family',
    (input) => withTerms(input, { payTo: '11111111111111111111111111111112' }),
    'invalid_payment_requirements',
  ],
])(
  'a request with %s is answered with a reason of x402 (sections 5.3 and 9)',
  async (_, change, reason) => {
    const input = change((await signed()).input)
    const { network = '' } = input.paymentRequirements
    expect(await verify(input)).toEqual({
      isValid: false,
      invalidReason: reason,
      invalidMessage: expect.any(String),
    })
    expect(await settle(input)).toEqual({
      success: false,
      errorReason: reason,
      errorMessage: expect.any(String),
      transaction: '',
      network,
    })
  },
)

test('the version may be named by the payment alone, as in the examples of the specification', async () => {
  const { input, payer } = await signed()
  const { paymentPayload, paymentRequirements } = input
  expect(await verify({ paymentPayload, paymentRequirements })).toMatchObject({
    isValid: true,
    payer: payer.address,
  })
})
