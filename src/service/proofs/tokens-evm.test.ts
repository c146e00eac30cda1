import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { erc20Abi, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import type { Asset } from '#contract/network.ts'
import { parseJson } from '#contract/json.ts'
import { callOf, type Authorization } from '#chains/evm/authorization.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { approvePermit2, deployTokens, evmPayer, payBill, sendFrom, withFacilitator, type EvmTokens } from '#testing/token-payers.ts'
import { alter, refusal, refused } from '#testing/proofs.ts'
import { eventually, openContext, type OpenedContext } from '#testing/service-context.ts'
import type { Requirements } from '#x402/requirements.ts'
import type { Context } from '../context.ts'
import { readSigned } from '../db/attempts.ts'
import { followOnce } from '../watchers/follow.ts'
import { Checklist } from './checklist.ts'
import { examine } from './examine.ts'
import { describeSupported, settlePayment, verifyPayment } from './facilitator.ts'
import { readProof, receivePayment } from './receive.ts'

/** Tokens of EVM that the payer signed and the service carries out, through the official facilitator on a real chain. */

const USDC = 1_500_000n
const URL = 'https://shop.example/a'
const NETWORK = 'eip155:31337'

let evm: EvmFixture
let tokens: EvmTokens
let opened: OpenedContext
let context: Context
let facilitator: PrivateKeyAccount
let miner: NodeJS.Timeout

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 4 })
  tokens = await deployTokens(evm)
  opened = await openContext([tokens.network], { engine: 'postgres' })
  const key = generatePrivateKey()
  facilitator = privateKeyToAccount(key)
  await evm.client.setBalance({ address: facilitator.address, value: 10n ** 18n })
  context = await withFacilitator(opened.context, opened.actor.accountId, { evm: key })
  miner = setInterval(() => void evm.mine().catch(() => undefined), 200)
})

afterAll(async () => {
  clearInterval(miner)
  await opened?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

async function parties(options: { method?: 'eip3009' | 'permit2'; asset?: Asset; amount?: bigint } = {}) {
  const { method = 'eip3009', asset = method === 'eip3009' ? tokens.usdc : tokens.weth, amount = USDC } = options
  const [payer, payee] = await Promise.all([evm.wallet(10n ** 18n), evm.wallet(0n)])
  await tokens.fund(payer.address)
  if (method === 'permit2') await approvePermit2(evm, payer, asset)
  const requirements: Requirements = {
    scheme: 'exact',
    network: NETWORK,
    amount: amount.toString(),
    asset: asset.address,
    payTo: payee.address,
    maxTimeoutSeconds: 60,
    extra: { assetTransferMethod: method, ...(method === 'eip3009' && { name: 'USD Coin', version: '2' }) },
  }
  return { payer, payee, asset, amount, requirements, client: evmPayer(evm, payer) }
}

type Parties = Awaited<ReturnType<typeof parties>>

function receive({ payee, asset }: Parties, paymentProof: string, changes: Partial<Parameters<typeof receivePayment>[2]> = {}) {
  const expectedAmount = asset.symbol === 'USDC' ? '1.5' : '0.0000000000015'
  return receivePayment(context, opened.actor, {
    walletAddress: payee.address,
    paymentProof,
    expectedAmount,
    asset: asset.symbol,
    resource: URL,
    timeout: 30,
    ...changes,
  })
}

const balance = (asset: Asset, owner: string) =>
  evm.client.readContract({ address: asset.address as Hex, abi: erc20Abi, functionName: 'balanceOf', args: [owner as Hex] })

const inputOf = (header: string, requirements: Requirements) => ({
  x402Version: 2 as const,
  paymentPayload: parseJson(Buffer.from(header, 'base64').toString()) as Record<string, unknown>,
  paymentRequirements: requirements,
})

async function authorizationOf(all: Parties, header: string) {
  const { config } = context
  const [network] = config.networks
  if (!network) throw new Error('no network')
  const checklist = new Checklist()
  const terms = {
    network,
    asset: all.asset,
    payTo: all.payee.address,
    amountAtomic: all.amount,
    resource: null,
    resourceInfo: null,
    memo: null,
    notBefore: null,
    expiresAt: null,
    sponsors: [],
  }
  const { authorization } = await examine({ payment: readProof(header, checklist), terms, checklist })
  if (!authorization) throw new Error('no authorization')
  return authorization
}

test('says what it settles and who pays the network for it', () => {
  const { kinds, signers } = describeSupported(context)
  expect(kinds[1]).toEqual({
    x402Version: 2,
    scheme: 'exact',
    network: NETWORK,
    extra: { assetTransferMethods: ['txid', 'signed-transaction', 'eip3009', 'permit2'], confirmations: 2 },
  })
  expect(signers).toEqual({ 'eip155:*': [facilitator.address] })
})

describe.each(['eip3009', 'permit2'] as const)('%s', (method) => {
  test('is carried out once, and the same question gets the same payment', async () => {
    const all = await parties({ method })
    const header = await payBill(all.client, all.requirements)
    const received = await receive(all, header)
    expect(received).toMatchObject({
      verified: true,
      alreadyProcessed: false,
      sender: all.payer.address,
      amountAtomic: all.amount.toString(),
      symbol: all.asset.symbol,
    })
    expect(await balance(all.asset, all.payee.address)).toBe(all.amount)
    expect(await receive(all, header)).toMatchObject({ paymentId: received.paymentId, verified: true, alreadyProcessed: true })
    expect(await refusal(receive(all, header, { resource: 'https://shop.example/b' }))).toMatchObject({ reason: 'resource_mismatch' })
    expect(await refusal(receive(all, header, { resource: undefined }))).toMatchObject({ reason: 'already_used' })
    expect(await balance(all.asset, all.payee.address)).toBe(all.amount)
  })

  test('in version 1 is carried out as well', async () => {
    const all = await parties({ method })
    const header = await payBill(all.client, all.requirements, { version: 1 })
    expect(await receive(all, header)).toMatchObject({ verified: true })
    expect(await balance(all.asset, all.payee.address)).toBe(all.amount)
  })

  test('is verified without being carried out, and settled once', async () => {
    const all = await parties({ method })
    const input = inputOf(await payBill(all.client, all.requirements), all.requirements)
    expect(await verifyPayment(context, opened.actor, input)).toMatchObject({ isValid: true, payer: all.payer.address })
    expect(await balance(all.asset, all.payee.address)).toBe(0n)
    const settled = await settlePayment(context, opened.actor, input)
    expect(settled).toMatchObject({ success: true, payer: all.payer.address, network: NETWORK, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
    expect(await settlePayment(context, opened.actor, input)).toMatchObject({ success: false, errorReason: 'already_used', transaction: settled.transaction })
    expect(await verifyPayment(context, opened.actor, input)).toMatchObject({ isValid: false, invalidReason: 'already_used' })
  })

  test('of many calls at once moves the tokens once', async () => {
    const all = await parties({ method })
    const header = await payBill(all.client, all.requirements)
    const answers = await Promise.all(Array.from({ length: 6 }, () => receive(all, header)))
    expect(answers.filter(({ alreadyProcessed }) => !alreadyProcessed)).toHaveLength(1)
    expect(await balance(all.asset, all.payee.address)).toBe(all.amount)
  })

  test('that was carried out before it was presented buys nothing: what stands on the chain is public', async () => {
    const all = await parties({ method })
    const header = await payBill(all.client, all.requirements)
    await sendFrom(evm, all.payer, callOf(await authorizationOf(all, header)))
    expect(await balance(all.asset, all.payee.address)).toBe(all.amount)
    expect(await refusal(receive(all, header))).toEqual(refused('already_used', 'fresh'))
  })

  test.each<[string, (all: Parties) => Promise<string>, { reason: string }]>([
    ['another amount', async (all) => payBill(all.client, { ...all.requirements, amount: '1' }), { reason: 'amount_mismatch' }],
    ['another payee', async (all) => payBill(all.client, { ...all.requirements, payTo: facilitator.address }), { reason: 'recipient_mismatch' }],
    [
      'another network',
      async (all) => alter(await payBill(all.client, all.requirements), (v) => ({ ...v, accepted: { ...v.accepted, network: 'eip155:1' } })),
      { reason: 'network_mismatch' },
    ],
    [
      'a signature of somebody else',
      async (all) => alter(await payBill(all.client, all.requirements), (v) => ({ ...v, payload: { ...v.payload, signature: `0x${'11'.repeat(64)}1b` } })),
      { reason: 'invalid_signature' },
    ],
    [
      'nothing that is read',
      async (all) => alter(await payBill(all.client, all.requirements), (v) => ({ ...v, payload: { signature: '0x' } })),
      { reason: 'unsupported_method' },
    ],
  ])('with %s is refused, and nothing moves', async (name, make, wanted) => {
    const all = await parties({ method })
    const reason = name === 'nothing that is read' ? 'malformed' : wanted.reason
    expect(await refusal(receive(all, await make(all)))).toMatchObject({ reason })
    expect(await balance(all.asset, all.payee.address)).toBe(0n)
  })

  test('with the twin of its signature is refused', async () => {
    const all = await parties({ method })
    const header = await payBill(all.client, all.requirements)
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const twin = alter(header, (v) => {
      const signature = String(v.payload.signature)
      const s = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
      return { ...v, payload: { ...v.payload, signature: `${signature.slice(0, 66)}${s}${signature.endsWith('1b') ? '1c' : '1b'}` } }
    })
    expect(await refusal(receive(all, twin))).toEqual(refused('invalid_signature', 'signature'))
  })

  test('in another token than the one that was asked for never passes', async () => {
    const all = await parties({ method })
    const header = await payBill(all.client, all.requirements)
    const other = all.asset.symbol === 'USDC' ? 'WETH' : 'USDC'
    expect(await refusal(receive(all, header, { asset: other, expectedAmount: '1' }))).toMatchObject({ reason: 'asset_mismatch' })
    expect(await refusal(receive(all, header, { asset: undefined, expectedAmount: '0.001' }))).toMatchObject({ code: 'INVALID_PAYMENT_PROOF' })
    expect(await balance(all.asset, all.payee.address)).toBe(0n)
  })
})

test('a permit whose payer has not let Permit2 move the tokens is refused, and the reason says what is missing', async () => {
  const all = await parties({ method: 'permit2' })
  const stranger = await evm.wallet(10n ** 18n)
  await tokens.fund(stranger.address)
  const header = await payBill(evmPayer(evm, stranger), all.requirements)
  expect(await refusal(receive(all, header))).toEqual(refused('permit2_allowance_required', 'allowance'))
})

test('a permit for another spender is refused', async () => {
  const all = await parties({ method: 'permit2' })
  const header = alter(await payBill(all.client, all.requirements), (v) => ({
    ...v,
    payload: { ...v.payload, permit2Authorization: { ...(v.payload.permit2Authorization as object), spender: facilitator.address } },
  }))
  expect(await refusal(receive(all, header))).toEqual(refused('spender_mismatch', 'spender'))
})

test('an authorization that is over, or not valid yet, is refused', async () => {
  const all = await parties()
  const sign = async (validAfter: bigint, validBefore: bigint) => {
    const header = await payBill(all.client, all.requirements)
    const authorization = { ...(await authorizationOf(all, header)), validAfter, validBefore }
    const signature = await all.payer.signTypedData({
      domain: { name: 'USD Coin', version: '2', chainId: 31337, verifyingContract: tokens.usdc.address as Hex },
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
        authorization: { ...(v.payload.authorization as object), validAfter: validAfter.toString(), validBefore: validBefore.toString() },
      },
    }))
  }
  const now = BigInt(Math.floor(Date.now() / 1000))
  expect(await refusal(receive(all, await sign(0n, now + 3n)))).toEqual(refused('outside_window', 'valid_before'))
  expect(await refusal(receive(all, await sign(now + 60n, now + 600n)))).toEqual(refused('outside_window', 'valid_after'))
})

test('a payer who holds too little is refused before anything is sent', async () => {
  const all = await parties({ amount: 10n ** 10n })
  const nonce = await evm.client.getTransactionCount({ address: facilitator.address })
  const header = await payBill(all.client, all.requirements)
  expect(await refusal(receive(all, header, { expectedAmount: '10000' }))).toEqual(refused('insufficient_funds', 'balance'))
  expect(await evm.client.getTransactionCount({ address: facilitator.address })).toBe(nonce)
})

test('two processes settle at once from one wallet: every nonce once, every payment once', async () => {
  await using second = await openContext([tokens.network], { beside: opened.context })
  const other: Context = {
    ...second.context,
    config: { ...second.context.config, facilitators: context.config.facilitators ?? { allowed: [], loopback: true } },
  }
  const payments = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const all = await parties()
      return { all, header: await payBill(all.client, all.requirements) }
    }),
  )
  const answers = await Promise.all(
    payments.map(async ({ all, header }, index) =>
      receivePayment(index % 2 ? other : context, opened.actor, {
        walletAddress: all.payee.address,
        paymentProof: header,
        expectedAmount: '1.5',
        asset: 'USDC',
        timeout: 60,
      }),
    ),
  )
  expect(answers.every(({ verified }) => verified)).toBe(true)
  for (const { all } of payments) expect(await balance(all.asset, all.payee.address)).toBe(all.amount)
  const signed = await readSigned(context.db, { network: NETWORK, sender: facilitator.address }, 0)
  expect(new Set(signed.map(({ nonce }) => nonce)).size).toBe(signed.length)
})

test('without a wallet that pays the network nothing is decided, and nothing moves', async () => {
  const all = await parties()
  const header = await payBill(all.client, all.requirements)
  const bare = opened.context
  const body = { walletAddress: all.payee.address, paymentProof: header, expectedAmount: '1.5', asset: 'USDC', timeout: 5 }
  expect(await refusal(receivePayment(bare, opened.actor, body))).toMatchObject({ code: 'PAYMENT_VERIFICATION_FAILED' })
  expect(await balance(all.asset, all.payee.address)).toBe(0n)
  expect(await receive(all, header)).toMatchObject({ verified: true })
})

test('an authorization that somebody else carries out first is this payment all the same', async () => {
  clearInterval(miner)
  try {
    const all = await parties()
    const header = await payBill(all.client, all.requirements)
    const authorization = await authorizationOf(all, header)
    const waiting = receive(all, header, { timeout: 20 })
    // Ours waits in the pool; another one with a higher tip goes first.
    const pooled = async () => {
      const { pending } = await evm.client.getTxpoolContent()
      return Object.keys(pending).some((sender) => sender.toLowerCase() === facilitator.address.toLowerCase())
    }
    while (!(await pooled())) await new Promise((resolve) => setTimeout(resolve, 50))
    const front = await evm.wallet(10n ** 18n)
    await sendFrom(evm, front, { ...callOf(authorization), gas: 200_000n })
    await evm.mine(12)
    expect(await waiting).toMatchObject({ verified: true, sender: all.payer.address })
    expect(await balance(all.asset, all.payee.address)).toBe(all.amount)
  } finally {
    miner = setInterval(() => void evm.mine().catch(() => undefined), 200)
  }
})

test('a token that says it moved less than it was asked to is no payment', async () => {
  const all = await parties()
  // The real token, its Transfer event turned into one of half the amount: a fee on transfer as the chain shows it.
  const header = await payBill(all.client, all.requirements)
  const chain = context.chains.get(NETWORK)
  if (!chain) throw new Error('no chain')
  const lying: Context = {
    ...context,
    chains: new Map([
      [
        NETWORK,
        {
          ...chain,
          observe: async (signature) => {
            const seen = await chain.observe(signature)
            return seen.state === 'landed' ? { ...seen, moved: (seen.moved ?? []).map((moved) => ({ ...moved, amountAtomic: moved.amountAtomic / 2n })) } : seen
          },
        },
      ],
    ]),
  }
  const body = { walletAddress: all.payee.address, paymentProof: header, expectedAmount: '1.5', asset: 'USDC', timeout: 15 }
  expect(await refusal(receivePayment(lying, opened.actor, body))).toEqual(refused('transaction_failed', 'transaction'))
})

test('what was signed and recorded by a process that died is sent by the watcher', async () => {
  const all = await parties()
  const header = await payBill(all.client, all.requirements)
  const chain = context.chains.get(NETWORK)
  if (!chain) throw new Error('no chain')
  // Everything is kept, and nothing leaves: the process ends between the two.
  const dying: Context = { ...context, chains: new Map([[NETWORK, { ...chain, broadcast: async () => ({ accepted: true }) }]]) }
  const body = { walletAddress: all.payee.address, paymentProof: header, expectedAmount: '1.5', asset: 'USDC', timeout: 2 }
  const waiting = await receivePayment(dying, opened.actor, body)
  expect(waiting).toMatchObject({ verified: false, status: 'pending', paymentId: expect.stringMatching(/^pay_/) })
  expect(await balance(all.asset, all.payee.address)).toBe(0n)
  await eventually(
    async () => {
      await followOnce(context, chain, { expiredToo: false })
      return balance(all.asset, all.payee.address)
    },
    (held) => held === all.amount,
  )
  expect(await receivePayment(context, opened.actor, { ...body, timeout: 20 })).toMatchObject({ paymentId: waiting.paymentId, verified: true })
})

describe('a facilitator that somebody else runs', () => {
  type Elsewhere = { settles: (authorization: Authorization) => Promise<string>; asked: string[] }

  /** Verifies everything; settles as it is told to. */
  async function elsewhere(all: Parties, header: string, { settles, asked }: Elsewhere) {
    const authorization = await authorizationOf(all, header)
    const server = createServer((request, response) => {
      asked.push(request.url ?? '')
      const verifying = request.url?.endsWith('/verify')
      request.resume().once('end', () => {
        void (async () => {
          const answer = verifying ? { isValid: true } : { success: true, transaction: await settles(authorization), network: NETWORK }
          response.end(JSON.stringify(answer))
        })()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x402`
    const config = { ...context.config, facilitators: { allowed: [url], loopback: true } }
    const body = { walletAddress: all.payee.address, paymentProof: header, expectedAmount: '1.5', asset: 'USDC', facilitatorUrl: url, timeout: 5 }
    return (changes: { timeout?: number } = {}) => receivePayment({ ...context, config }, opened.actor, { ...body, ...changes })
  }

  test('settles a token, and the chain is read for it', async () => {
    const all = await parties()
    const header = await payBill(all.client, all.requirements)
    const helper = await evm.wallet(10n ** 18n)
    const asked: string[] = []
    const receiveThere = await elsewhere(all, header, { asked, settles: (authorization) => sendFrom(evm, helper, { ...callOf(authorization), gas: 200_000n }) })
    const received = await receiveThere({ timeout: 20 })
    expect(received).toMatchObject({ verified: true, sender: all.payer.address, verifiedBy: expect.stringContaining('/x402') })
    expect(await balance(all.asset, all.payee.address)).toBe(all.amount)
    // The same question gets the same payment, and nobody is asked to settle again.
    expect(await receiveThere({ timeout: 20 })).toMatchObject({ paymentId: received.paymentId, alreadyProcessed: true })
    expect(asked).toEqual(['/x402/verify', '/x402/settle'])
  })

  test('that says it settled a token and did not gets no grant, and the payment is still open', async () => {
    const all = await parties()
    const header = await payBill(all.client, all.requirements)
    const asked: string[] = []
    const receiveThere = await elsewhere(all, header, { asked, settles: async () => `0x${'ab'.repeat(32)}` })
    const told = await receiveThere()
    expect(told).toMatchObject({ verified: false, status: 'pending' })
    expect(await receiveThere()).toMatchObject({ paymentId: told.paymentId, verified: false })
    expect(await balance(all.asset, all.payee.address)).toBe(0n)
  })
})
