import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Hex } from 'viem'
import { parseJson } from '#contract/json.ts'
import { callOf } from '#chains/evm/authorization.ts'
import {
  openMinedTokenFixture,
  type MinedTokenFixture,
  type Parties,
} from '#testing/token-fixture.ts'
import { evmPayer, payInvoice, sendFrom } from '#testing/token-payers.ts'
import { alter, refusal, refused, withHighS } from '#testing/proofs.ts'
import type { Requirements } from '#x402/requirements.ts'
import { describeSupported, settlePayment, verifyPayment } from '../settlement/facilitator.ts'

/**
 * EVM tokens that the payer signed and the service executes, through the official facilitator on a
 * real chain: what is required of a proof.
 */

const NETWORK = 'eip155:31337'

let fixture: MinedTokenFixture

beforeAll(async () => {
  fixture = await openMinedTokenFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

const inputOf = (header: string, requirements: Requirements) => ({
  x402Version: 2 as const,
  paymentPayload: parseJson(Buffer.from(header, 'base64').toString()) as Record<string, unknown>,
  paymentRequirements: requirements,
})

test('lists what it settles and the fee payer for it', () => {
  const { kinds, signers } = describeSupported(fixture.context)
  expect(kinds[1]).toEqual({
    x402Version: 2,
    scheme: 'exact',
    network: NETWORK,
    extra: {
      assetTransferMethods: ['txid', 'signed-transaction', 'eip3009', 'permit2'],
      confirmations: 2,
    },
  })
  expect(signers).toEqual({ 'eip155:*': [fixture.facilitator.address] })
})

describe.each(['eip3009', 'permit2'] as const)('%s', (method) => {
  test('is executed once, and the same request gets the same payment', async () => {
    const all = await fixture.parties({ method })
    const header = await payInvoice(all.client, all.requirements)
    const received = await fixture.receive(all, header)
    expect(received).toMatchObject({
      verified: true,
      alreadyProcessed: false,
      sender: all.payer.address,
      amountAtomic: all.amount.toString(),
      symbol: all.asset.symbol,
    })
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
    expect(await fixture.receive(all, header)).toMatchObject({
      paymentId: received.paymentId,
      verified: true,
      alreadyProcessed: true,
    })
    expect(
      await refusal(fixture.receive(all, header, { resource: 'https://shop.example/b' })),
    ).toMatchObject({ reason: 'resource_mismatch' })
    expect(await refusal(fixture.receive(all, header, { resource: undefined }))).toMatchObject({
      reason: 'already_used',
    })
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
  })

  test('in version 1 is executed too', async () => {
    const all = await fixture.parties({ method })
    const header = await payInvoice(all.client, all.requirements, { version: 1 })
    expect(await fixture.receive(all, header)).toMatchObject({ verified: true })
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
  })

  test('is verified without being executed, and settled once', async () => {
    const all = await fixture.parties({ method })
    const input = inputOf(await payInvoice(all.client, all.requirements), all.requirements)
    expect(await verifyPayment(fixture.context, fixture.actor, input)).toMatchObject({
      isValid: true,
      payer: all.payer.address,
    })
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(0n)
    const settled = await settlePayment(fixture.context, fixture.actor, input)
    expect(settled).toMatchObject({
      success: true,
      payer: all.payer.address,
      network: NETWORK,
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    })
    expect(await settlePayment(fixture.context, fixture.actor, input)).toMatchObject({
      success: false,
      errorReason: 'already_used',
      transaction: '',
    })
    expect(await verifyPayment(fixture.context, fixture.actor, input)).toMatchObject({
      isValid: false,
      invalidReason: 'already_used',
    })
  })

  test('of many calls at once moves the tokens once', async () => {
    const all = await fixture.parties({ method })
    const header = await payInvoice(all.client, all.requirements)
    const answers = await Promise.all(Array.from({ length: 6 }, () => fixture.receive(all, header)))
    expect(answers.filter(({ alreadyProcessed }) => !alreadyProcessed)).toHaveLength(1)
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
  })

  test('that was executed before it was presented is refused: everyone can read it on the chain', async () => {
    const all = await fixture.parties({ method })
    const header = await payInvoice(all.client, all.requirements)
    await sendFrom(fixture.evm, all.payer, callOf(await fixture.authorizationOf(all, header)))
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
    expect(await refusal(fixture.receive(all, header))).toEqual(refused('already_used', 'fresh'))
  })

  test.each<[string, (all: Parties) => Promise<string>, { reason: string }]>([
    [
      'another amount',
      async (all) => payInvoice(all.client, { ...all.requirements, amount: '1' }),
      { reason: 'amount_mismatch' },
    ],
    [
      'another payee',
      async (all) =>
        payInvoice(all.client, { ...all.requirements, payTo: fixture.facilitator.address }),
      { reason: 'recipient_mismatch' },
    ],
    [
      'another network',
      async (all) =>
        alter(await payInvoice(all.client, all.requirements), (v) => ({
          ...v,
          accepted: { ...v.accepted, network: 'eip155:1' },
        })),
      { reason: 'network_mismatch' },
    ],
    [
      'a signature of another account',
      async (all) =>
        alter(await payInvoice(all.client, all.requirements), (v) => ({
          ...v,
          payload: { ...v.payload, signature: `0x${'11'.repeat(64)}1b` },
        })),
      { reason: 'invalid_signature' },
    ],
    [
      'nothing that is read',
      async (all) =>
        alter(await payInvoice(all.client, all.requirements), (v) => ({
          ...v,
          payload: { signature: '0x' },
        })),
      { reason: 'unsupported_method' },
    ],
  ])('with %s is refused, and nothing moves', async (name, make, wanted) => {
    const all = await fixture.parties({ method })
    const reason = name === 'nothing that is read' ? 'malformed' : wanted.reason
    expect(await refusal(fixture.receive(all, await make(all)))).toMatchObject({ reason })
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(0n)
  })

  test('with the twin of its signature is refused', async () => {
    const all = await fixture.parties({ method })
    const header = await payInvoice(all.client, all.requirements)
    expect(await refusal(fixture.receive(all, withHighS(header)))).toEqual(
      refused('invalid_signature', 'signature'),
    )
  })

  test('in another token than the one that was asked for never passes', async () => {
    const all = await fixture.parties({ method })
    const header = await payInvoice(all.client, all.requirements)
    const other = all.asset.symbol === 'USDC' ? 'WETH' : 'USDC'
    expect(
      await refusal(fixture.receive(all, header, { asset: other, expectedAmount: '1' })),
    ).toMatchObject({ reason: 'asset_mismatch' })
    expect(
      await refusal(fixture.receive(all, header, { asset: undefined, expectedAmount: '0.001' })),
    ).toMatchObject({ code: 'INVALID_PAYMENT_PROOF' })
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(0n)
  })
})

test('a permit whose payer has not let Permit2 move the tokens is refused, and the reason says what is missing', async () => {
  const all = await fixture.parties({ method: 'permit2' })
  const stranger = await fixture.evm.wallet(10n ** 18n)
  await fixture.tokens.fund(stranger.address)
  const header = await payInvoice(evmPayer(fixture.evm, stranger), all.requirements)
  expect(await refusal(fixture.receive(all, header))).toEqual(
    refused('permit2_allowance_required', 'allowance'),
  )
})

test('a permit for another spender is refused', async () => {
  const all = await fixture.parties({ method: 'permit2' })
  const header = alter(await payInvoice(all.client, all.requirements), (v) => ({
    ...v,
    payload: {
      ...v.payload,
      permit2Authorization: {
        ...(v.payload.permit2Authorization as object),
        spender: fixture.facilitator.address,
      },
    },
  }))
  expect(await refusal(fixture.receive(all, header))).toEqual(
    refused('spender_mismatch', 'spender'),
  )
})

test('an authorization that is not valid at this moment is not accepted, and only one that is over by the final chain is called bad', async () => {
  const all = await fixture.parties()
  const sign = async (validAfter: bigint, validBefore: bigint) => {
    const header = await payInvoice(all.client, all.requirements)
    const authorization = {
      ...(await fixture.authorizationOf(all, header)),
      validAfter,
      validBefore,
    }
    const signature = await all.payer.signTypedData({
      domain: {
        name: 'USD Coin',
        version: '2',
        chainId: 31337,
        verifyingContract: fixture.tokens.usdc.address as Hex,
      },
      types: {
        TransferWithAuthorization: [
          { name: 'from', type: 'address' },
          { name: 'to', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'validAfter', type: 'uint256' },
          { name: 'validBefore', type: 'uint256' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'TransferWithAuthorization',
      message: { ...authorization, value: authorization.amountAtomic },
    })
    return alter(header, (v) => ({
      ...v,
      payload: {
        signature,
        authorization: {
          ...(v.payload.authorization as object),
          validAfter: validAfter.toString(),
          validBefore: validBefore.toString(),
        },
      },
    }))
  }
  const now = BigInt(Math.floor(Date.now() / 1000))
  const undecided = { code: 'PAYMENT_VERIFICATION_FAILED' }
  const verify = async (header: string) =>
    (await verifyPayment(fixture.context, fixture.actor, inputOf(header, all.requirements)))
      .invalidReason
  const [ending, early, over] = [
    await sign(0n, now + 3n),
    await sign(now + 60n, now + 600n),
    await sign(0n, now - 3_600n),
  ]
  expect(await refusal(fixture.receive(all, ending))).toEqual(undecided)
  expect(await verify(ending)).toBe('invalid_exact_evm_payload_authorization_valid_before')
  expect(await refusal(fixture.receive(all, early))).toEqual(undecided)
  expect(await verify(early)).toBe('invalid_exact_evm_payload_authorization_valid_after')
  expect(await refusal(fixture.receive(all, over))).toEqual(
    refused('outside_window', 'valid_before'),
  )
  expect(await verify(over)).toBe('invalid_exact_evm_payload_authorization_valid_before')
})

test('a payer who holds too little is refused before anything is sent', async () => {
  const all = await fixture.parties({ amount: 10n ** 10n })
  const nonce = await fixture.evm.client.getTransactionCount({
    address: fixture.facilitator.address,
  })
  const header = await payInvoice(all.client, all.requirements)
  expect(await refusal(fixture.receive(all, header, { expectedAmount: '10000' }))).toEqual(
    refused('insufficient_funds', 'balance'),
  )
  expect(
    await fixture.evm.client.getTransactionCount({ address: fixture.facilitator.address }),
  ).toBe(nonce)
})
