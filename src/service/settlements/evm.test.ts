import { eq } from 'drizzle-orm'
import { createWalletClient, erc20Abi, http, keccak256, parseEther, parseTransaction, stringToBytes, toHex, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress, type PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Asset } from '#contract/network.ts'
import { isPaid } from '#contract/payment.ts'
import { approvePermit2, deployTokens, evmPayer, payBill, sendFrom, withFacilitator, type EvmTokens } from '#testing/token-payers.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { alter, proveTxid, refusal, refused } from '#testing/proofs.ts'
import { eventually, openAccount, openContext, type OpenedContext } from '#testing/service-context.ts'
import { encodeHeader } from '#x402/header.ts'
import type { Requirements } from '#x402/requirements.ts'
import type { Actor, Context } from '../context.ts'
import { event, payment } from '../db/schema.ts'
import { readPaymentBody } from '../payments/status.ts'
import { reportSubmitted } from '../payments/report.ts'
import { receivePayment } from '../proofs/receive.ts'
import { followOnce } from '../watchers/follow.ts'
import { buildSettlement } from './build.ts'

/** What a payee settles alone on EVM: each row of the table lands when the payee signs it, and one proof is one grant at whatever door. */

const URL = 'https://shop.example/a'

let evm: EvmFixture
let tokens: EvmTokens
let opened: OpenedContext
let context: Context
let actor: Actor

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 4 })
  tokens = await deployTokens(evm)
  opened = await openContext([tokens.network])
  context = opened.context
  actor = opened.actor
})

afterAll(async () => {
  await opened[Symbol.asyncDispose]()
  await evm[Symbol.asyncDispose]()
})

type Parties = { payer: PrivateKeyAccount; payee: PrivateKeyAccount }

async function parties(payeeHolds = parseEther('1')): Promise<Parties> {
  const [payer, payee] = [await evm.wallet(parseEther('1')), await evm.wallet(payeeHolds)]
  await tokens.fund(payer.address)
  return { payer, payee }
}

function bill({ payee }: Parties, asset: Asset, { method, amount }: { method: string; amount: bigint }): Requirements {
  const extra = method === 'eip3009' ? { name: 'USD Coin', version: '2' } : {}
  const { network } = evm.network
  return {
    scheme: 'exact',
    network,
    amount: amount.toString(),
    asset: asset.address,
    payTo: payee.address,
    maxTimeoutSeconds: 600,
    extra: { assetTransferMethod: method, ...extra },
  }
}

const dollars = (all: Parties) => payBill(evmPayer(evm, all.payer), bill(all, tokens.usdc, { method: 'eip3009', amount: 1_000_000n }))

type Body = Parameters<typeof buildSettlement>[2]
const build = ({ payee }: Parties, paymentProof: string, body: Partial<Body> = {}, as = actor) =>
  buildSettlement(context, as, { walletAddress: payee.address, paymentProof, expectedAmount: '1', asset: 'USDC', resource: URL, ...body })
const receive = ({ payee }: Parties, paymentProof: string, body: Partial<Parameters<typeof receivePayment>[2]> = {}) =>
  receivePayment(context, actor, { walletAddress: payee.address, paymentProof, expectedAmount: '1', asset: 'USDC', resource: URL, timeout: 10, ...body })

/** The payee signs what it was given, byte for byte, and mines it. */
async function settle(payee: PrivateKeyAccount, transaction: string): Promise<Hex> {
  const parsed = parseTransaction(toHex(Buffer.from(transaction, 'base64')))
  if (parsed.type !== 'eip1559') throw new Error('not such a transaction')
  const serializedTransaction = await payee.signTransaction(parsed)
  const hash = await createWalletClient({ transport: http(evm.rpcUrl) }).sendRawTransaction({ serializedTransaction })
  await evm.mine(3)
  return hash
}

async function follow(): Promise<void> {
  const chain = context.chains.get(evm.network.network)
  if (!chain) throw new Error('no chain')
  const { failures } = await followOnce(context, chain, { expiredToo: false })
  expect(failures).toEqual([])
}

const status = async (paymentId: string) => (await readPaymentBody(context, paymentId)).status
const followed = (paymentId: string, wanted: string) =>
  eventually(
    async () => {
      await evm.mine()
      await follow()
      return status(paymentId)
    },
    (now) => now === wanted,
  )

describe('an authorization of EIP-3009', () => {
  test('is carried out by the payee, found by the watcher, and used up with that at both doors', async () => {
    const all = await parties()
    const proof = await dollars(all)
    const built = await build(all, proof)
    expect(built).toMatchObject({
      verified: true,
      alreadyProcessed: false,
      status: 'created',
      settlement: 'required',
      kind: 'eip3009',
      encoding: 'evm-rlp-unsigned',
      signer: all.payee.address,
      sender: all.payer.address,
      recipient: all.payee.address,
      amountAtomic: '1000000',
      resource: URL,
      signature: null,
    })
    expect(built.checks.every(({ ok }) => ok)).toBe(true)
    expect(built.expiresAt - Date.now()).toBeLessThanOrEqual(60_000)
    const parsed = parseTransaction(toHex(Buffer.from(built.transaction, 'base64')))
    expect(parsed).toMatchObject({ to: tokens.usdc.address.toLowerCase(), chainId: 31337 })
    expect(parsed.value ?? 0n).toBe(0n)

    const hash = await settle(all.payee, built.transaction)
    await followed(built.paymentId, 'finalized')
    const body = await readPaymentBody(context, built.paymentId)
    expect(body).toMatchObject({ mode: 'received', signature: hash, events: [{ status: 'created' }, { status: 'pending' }, { status: 'confirmed' }, {}] })

    const told = await context.db.select().from(event).where(eq(event.paymentId, built.paymentId)).orderBy(event.id)
    expect(told.flatMap(({ kind }) => (kind === 'payment' ? [] : [kind]))).toEqual(['verification', 'settlement'])

    expect(await receive(all, proof)).toMatchObject({ verified: true, alreadyProcessed: true, paymentId: built.paymentId, signature: hash })
    expect(await build(all, proof)).toMatchObject({ settlement: 'already_settled', kind: 'receipt', alreadyProcessed: true, paymentId: built.paymentId })
    expect(await refusal(receive(all, proof, { resource: `${URL}/other` }))).toEqual(refused('resource_mismatch', 'resource'))
    expect(await refusal(build(all, proof, {}, await openAccount(context)))).toEqual(refused('already_used', 'single_use'))
  })

  test('that the payee has carried out is found by the other door before any watcher looks', async () => {
    const all = await parties()
    const proof = await dollars(all)
    const built = await build(all, proof)
    await settle(all.payee, built.transaction)
    expect(await receive(all, proof)).toMatchObject({ verified: true, alreadyProcessed: true, paymentId: built.paymentId })
    expect(await status(built.paymentId)).toBe('confirmed')
  })

  test('that the payee sends while the other door sends it too moves once, and is one payment', async () => {
    const all = await parties()
    const proof = await dollars(all)
    const secret = generatePrivateKey()
    await evm.client.setBalance({ address: privateKeyToAddress(secret), value: parseEther('1') })
    const sponsored = await withFacilitator(context, actor.accountId, { evm: secret })
    const built = await build(all, proof)
    const pooled = parseTransaction(toHex(Buffer.from(built.transaction, 'base64')))
    if (pooled.type !== 'eip1559') throw new Error('not such a transaction')
    await evm.client.sendRawTransaction({ serializedTransaction: await all.payee.signTransaction(pooled) })
    let answered = false
    const ask = { walletAddress: all.payee.address, paymentProof: proof, expectedAmount: '1', asset: 'USDC', resource: URL, timeout: 30 }
    const answering = receivePayment(sponsored, actor, ask).finally(() => (answered = true))
    while (!answered) {
      await evm.mine()
      await follow()
    }
    expect(await answering).toMatchObject({ verified: true })
    await evm.mine(3)
    await follow()
    const rows = await context.db.select().from(payment).where(eq(payment.sender, all.payer.address))
    expect(rows.filter(({ status: now }) => isPaid(now))).toHaveLength(1)
    expect(rows.every(({ status: now }) => isPaid(now) || now === 'expired')).toBe(true)
    const balance = await evm.client.readContract({
      address: tokens.usdc.address as Hex,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [all.payee.address],
    })
    expect(balance).toBe(1_000_000n)
  })

  test('is built as often as it is asked for, as one payment, until it has landed', async () => {
    const all = await parties()
    const proof = await dollars(all)
    const answers = await Promise.all([build(all, proof), build(all, proof), build(all, proof)])
    expect(new Set(answers.map(({ paymentId }) => paymentId)).size).toBe(1)
    await settle(all.payee, answers[2]?.transaction ?? '')
    await followed(answers[0]?.paymentId ?? '', 'finalized')
  })

  test('is reported by the payee, and no other transaction is taken for it', async () => {
    const all = await parties()
    const built = await build(all, await dollars(all))
    const other = await sendFrom(evm, all.payee, { to: all.payer.address, value: 1n, gas: 21_000n })
    await evm.mine(2)
    const report = (signature: string) => reportSubmitted(context, actor, { paymentId: built.paymentId, signature })
    expect(await refusal(report(other))).toEqual({ code: 'INVALID_PARAMETERS' })
    const again = await build(all, await dollars(all))
    expect(again.paymentId).not.toBe(built.paymentId)
    const hash = await settle(all.payee, again.transaction)
    expect(await reportSubmitted(context, actor, { paymentId: again.paymentId, signature: hash })).toMatchObject({ signature: hash })
    await followed(again.paymentId ?? '', 'finalized')
    expect(await status(built.paymentId)).toBe('created')
  })

  test('offers the validator what the payee says', async () => {
    const all = await parties()
    const built = await build(all, await dollars(all), { priorityFee: '0.0001' })
    const { gas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(toHex(Buffer.from(built.transaction, 'base64')))
    expect(gas * maxPriorityFeePerGas).toBeGreaterThan(parseEther('0.000099'))
    expect(gas * maxPriorityFeePerGas).toBeLessThanOrEqual(parseEther('0.0001'))
  })

  test('needs a payee that can pay the network', async () => {
    const all = await parties(0n)
    expect(await refusal(build(all, await dollars(all)))).toEqual({ code: 'INSUFFICIENT_BALANCE' })
  })

  test('that two questions were asked about pays one of them, and the other is over', async () => {
    const all = await parties()
    const proof = await dollars(all)
    const asked = [await build(all, proof), await build(all, proof, { resource: undefined })]
    expect(new Set(asked.map(({ paymentId }) => paymentId)).size).toBe(2)
    await settle(all.payee, asked[1]?.transaction ?? '')
    await follow()
    const bodies = await Promise.all(asked.map(({ paymentId }) => readPaymentBody(context, paymentId)))
    expect(bodies.map(({ status: now }) => now).toSorted()).toEqual(['confirmed', 'expired'])
    expect(bodies.find(({ status: now }) => now === 'expired')?.failure).toMatch(/another payment/)
  })

  test.each([
    ['for more than was asked', 'amount_mismatch', 'amount', { expectedAmount: '0.5' }],
    ['for another resource', 'resource_mismatch', 'resource', { resource: `${URL}/b` }],
    ['in another asset', 'asset_mismatch', 'asset', { asset: 'WETH' }],
  ])('%s is refused', async (_, reason, check, body) => {
    const all = await parties()
    expect(await refusal(build(all, await dollars(all), body))).toEqual(refused(reason, check))
  })

  test('to somebody else, with a signature of somebody else, or of tokens the payer does not have is refused', async () => {
    const [all, other] = [await parties(), await parties()]
    const proof = await dollars(all)
    expect(await refusal(build(other, proof))).toEqual(refused('recipient_mismatch', 'recipient'))
    const stolen = alter(proof, (value) => ({ ...value, payload: { ...value.payload, signature: `0x${'12'.repeat(64)}1b` } }))
    expect(await refusal(build(all, stolen))).toEqual(refused('invalid_signature', 'signature'))
    const rich = payBill(evmPayer(evm, all.payer), bill(all, tokens.usdc, { method: 'eip3009', amount: 10n ** 12n }))
    expect(await refusal(build(all, await rich, { expectedAmount: '1000000' }))).toEqual(refused('simulation_failed', 'simulation'))
  })

  test('that is over, or stands on the chain already, is refused', async () => {
    const all = await parties()
    const short = { ...bill(all, tokens.usdc, { method: 'eip3009', amount: 1_000_000n }), maxTimeoutSeconds: 1 }
    const late = await payBill(evmPayer(evm, all.payer), short)
    expect(await refusal(build(all, late))).toEqual(refused('outside_window', 'valid_before'))
    const proof = await dollars(all)
    const built = await build(all, proof)
    await settle(all.payee, built.transaction)
    const stranger = await openAccount(context)
    expect(await refusal(build(all, proof, {}, stranger))).toEqual(refused('already_used', 'fresh'))
  })
})

describe('a permit of Permit2', () => {
  test('is settled by the payee through the proxy', async () => {
    const all = await parties()
    await approvePermit2(evm, all.payer, tokens.weth)
    const requirements = bill(all, tokens.weth, { method: 'permit2', amount: parseEther('0.01') })
    const proof = await payBill(evmPayer(evm, all.payer), requirements)
    const ask = { expectedAmount: '0.01', asset: 'WETH' }
    const built = await build(all, proof, ask)
    expect(built).toMatchObject({ settlement: 'required', kind: 'permit2', signer: all.payee.address })
    const hash = await settle(all.payee, built.transaction)
    await followed(built.paymentId, 'finalized')
    expect(await receive(all, proof, ask)).toMatchObject({ verified: true, alreadyProcessed: true, signature: hash })
  })
})

describe('a transaction that the payer signed', () => {
  async function signed({ payer, payee }: Parties): Promise<{ proof: string; bytes: Hex }> {
    const { maxFeePerGas, maxPriorityFeePerGas } = await evm.client.estimateFeesPerGas()
    const nonce = await evm.client.getTransactionCount({ address: payer.address })
    const fields = { chainId: 31337, to: payee.address, value: parseEther('0.01'), nonce, gas: 21_000n, maxFeePerGas, maxPriorityFeePerGas }
    const bytes = await payer.signTransaction({ type: 'eip1559', ...fields })
    const accepted = bill({ payer, payee }, context.config.networks[0]?.assets[0] as Asset, { method: 'signed-transaction', amount: parseEther('0.01') })
    return { proof: encodeHeader({ x402Version: 2, resource: { url: URL }, accepted, payload: { signedTransaction: bytes } }), bytes }
  }
  const ask = { expectedAmount: '0.01', asset: 'ETH' }

  test('comes back as it is, for anybody to broadcast, and is used up when it lands', async () => {
    const all = await parties()
    const { proof, bytes } = await signed(all)
    const built = await build(all, proof, ask)
    expect(built).toMatchObject({ settlement: 'broadcast_only', kind: 'signed-transaction', encoding: 'evm-rlp-signed', signer: null, fee: null })
    expect(toHex(Buffer.from(built.transaction, 'base64'))).toBe(bytes)
    expect(await status(built.paymentId)).toBe('created')
    const hash = await evm.client.sendRawTransaction({ serializedTransaction: bytes })
    await evm.mine(3)
    await followed(built.paymentId, 'finalized')
    expect(await receive(all, proof, ask)).toMatchObject({ alreadyProcessed: true, paymentId: built.paymentId, signature: hash })
  })

  test('whose place another one took is over', async () => {
    const all = await parties()
    const { proof } = await signed(all)
    const built = await build(all, proof, ask)
    await sendFrom(evm, all.payer, { to: all.payer.address, gas: 21_000n })
    await evm.mine(10)
    await followed(built.paymentId, 'expired')
    expect(await refusal(build(all, proof, ask))).toEqual(refused('simulation_failed', 'simulation'))
  })
})

describe('ether that the payer has sent', () => {
  const ask = { expectedAmount: '0.01', asset: 'ETH' }

  test('is received, and its payee may write that on the chain', async () => {
    const all = await parties()
    const txRef = await sendFrom(evm, all.payer, { to: all.payee.address, value: parseEther('0.01'), gas: 21_000n })
    await evm.mine(2)
    const proof = await proveTxid({ payer: all.payer, payTo: all.payee.address, txRef, network: evm.network.network, amount: parseEther('0.01') })
    const built = await build(all, proof, ask)
    expect(built).toMatchObject({
      verified: true,
      alreadyProcessed: false,
      settlement: 'already_settled',
      kind: 'receipt',
      signer: all.payee.address,
      signature: txRef,
      status: 'confirmed',
    })
    expect(await receive(all, proof, ask)).toMatchObject({ verified: true, alreadyProcessed: true, paymentId: built.paymentId })
    const hash = await settle(all.payee, built.transaction)
    const note = await evm.client.getTransaction({ hash })
    const digest = keccak256(stringToBytes(`x402-receipt:${built.paymentId}`))
    expect([note.to, note.value, note.input]).toEqual([all.payer.address.toLowerCase(), 0n, digest])
    expect((await evm.client.getTransactionReceipt({ hash })).status).toBe('success')
  })

  test('and is not confirmed yet is undecided, and nothing is used up', async () => {
    const all = await parties()
    const proof = await proveTxid({
      payer: all.payer,
      payTo: all.payee.address,
      txRef: `0x${'ab'.repeat(32)}`,
      network: evm.network.network,
      amount: parseEther('0.01'),
    })
    expect(await refusal(build(all, proof, ask))).toEqual({ code: 'PAYMENT_VERIFICATION_FAILED' })
  }, 60_000)
})

test('what is wrong with the request is told at once', async () => {
  const all = await parties()
  const call = build(all, await dollars(all), { priorityFee: '-1' })
  await expect(call).rejects.toMatchObject({ code: 'INVALID_PARAMETERS', facts: { details: { priorityFee: expect.any(String) } } })
})
