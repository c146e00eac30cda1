import { eq } from 'drizzle-orm'
import {
  encodeFunctionData,
  erc20Abi,
  parseAbi,
  parseEther,
  parseTransaction,
  toHex,
  type Hex,
} from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endpoints } from '#contract/endpoints.ts'
import type { Asset } from '#contract/network.ts'
import { isPaid } from '#contract/payment.ts'
import { multicall3 } from '#devnet/tokens/evm.ts'
import {
  approvePermit2,
  deployTokens,
  evmPayer,
  payInvoice,
  queueFrom,
  sendFrom,
  withFacilitator,
  type EvmTokens,
} from '#testing/token-payers.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import {
  openParties,
  openPayeeFixture,
  settleBuilt,
  type PayeeFixture,
} from '#testing/payee-fixture.ts'
import { alter, REFUSED_PAYEE, refusal, refused } from '#testing/proofs.ts'
import { eventually, openAccount, registerPayee, releasePayee } from '#testing/service-context.ts'
import type { Requirements } from '#x402/requirements.ts'
import { event, payment } from '../../db/schema/payment.ts'
import { readList } from '../../payments/list/history.ts'
import { readSummary } from '../../payments/list/summary.ts'
import { readPaymentBody } from '../../payments/status.ts'
import { reportSubmitted } from '../../monitor/report.ts'
import { receivePayment } from '../receive.ts'

/**
 * What a payee settles alone on EVM: each row of the table lands when the payee signs it, and one
 * proof is one grant at every endpoint.
 */

const URL = 'https://shop.example/a'

let evm: EvmFixture
let tokens: EvmTokens
let fixture: PayeeFixture

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 4 })
  tokens = await deployTokens(evm)
  fixture = await openPayeeFixture(evm, tokens.network)
})

afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

async function parties(payeeHolds?: bigint) {
  const all = await openParties(evm, payeeHolds)
  await tokens.fund(all.payer.address)
  return all
}

type Parties = Awaited<ReturnType<typeof parties>>

function bill(
  { payee }: Parties,
  asset: Asset,
  { method, amount }: { method: string; amount: bigint },
): Requirements {
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

const dollars = (all: Parties) =>
  payInvoice(
    evmPayer(evm, all.payer),
    bill(all, tokens.usdc, { method: 'eip3009', amount: 1_000_000n }),
  )

describe('an authorization of EIP-3009', () => {
  test('is executed by the payee, found by the monitor, and consumed for both endpoints', async () => {
    const all = await parties()
    await registerPayee(fixture.context, fixture.actor.accountId, all.payee.address)
    const proof = await dollars(all)
    const built = await fixture.build(all.payee, proof)
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

    const hash = await settleBuilt(evm, all.payee, built.transaction)
    await fixture.followed(built.paymentId, 'finalized')
    const body = await readPaymentBody(fixture.context, built.paymentId)
    expect(body).toMatchObject({
      mode: 'received',
      signature: hash,
      events: [{ status: 'created' }, { status: 'pending' }, { status: 'confirmed' }, {}],
    })

    const told = await fixture.context.db
      .select()
      .from(event)
      .where(eq(event.paymentId, built.paymentId))
      .orderBy(event.id)
    expect(told.flatMap(({ kind }) => (kind === 'payment' ? [] : [kind]))).toEqual([
      'verification',
      'settlement',
    ])

    expect(await fixture.receive(all.payee, proof)).toMatchObject({
      verified: true,
      alreadyProcessed: true,
      paymentId: built.paymentId,
      signature: hash,
    })
    expect(await fixture.build(all.payee, proof)).toMatchObject({
      settlement: 'already_settled',
      kind: 'receipt',
      alreadyProcessed: true,
      paymentId: built.paymentId,
    })
    expect(await refusal(fixture.receive(all.payee, proof, { resource: `${URL}/other` }))).toEqual(
      refused('resource_mismatch', 'resource'),
    )
    const other = await openAccount(fixture.context)
    expect(await refusal(fixture.build(all.payee, proof, {}, other))).toEqual(REFUSED_PAYEE)
    await releasePayee(fixture.context, fixture.actor.accountId, all.payee.address)
    expect(await refusal(fixture.build(all.payee, proof, {}, other))).toEqual(
      refused('already_used', 'single_use'),
    )
  })

  test('that the payee has executed is found by the other endpoint before the next poll', async () => {
    const all = await parties()
    const proof = await dollars(all)
    const built = await fixture.build(all.payee, proof)
    await settleBuilt(evm, all.payee, built.transaction)
    expect(await fixture.receive(all.payee, proof)).toMatchObject({
      verified: true,
      alreadyProcessed: true,
      paymentId: built.paymentId,
    })
    expect(await fixture.status(built.paymentId)).toBe('confirmed')
  })

  test('that the payee sends while the other door sends it too moves once, and is one payment', async () => {
    const all = await parties()
    const proof = await dollars(all)
    const secret = generatePrivateKey()
    await evm.client.setBalance({ address: privateKeyToAddress(secret), value: parseEther('1') })
    const sponsored = await withFacilitator(fixture.context, fixture.actor.accountId, {
      evm: secret,
    })
    const built = await fixture.build(all.payee, proof)
    const pooled = parseTransaction(toHex(Buffer.from(built.transaction, 'base64')))
    if (pooled.type !== 'eip1559') throw new Error('not such a transaction')
    await evm.client.sendRawTransaction({
      serializedTransaction: await all.payee.signTransaction(pooled),
    })
    let answered = false
    const ask = {
      walletAddress: all.payee.address,
      paymentProof: proof,
      expectedAmount: '1',
      asset: 'USDC',
      resource: URL,
      timeout: 30,
    }
    const answering = receivePayment(sponsored, fixture.actor, ask).finally(() => (answered = true))
    while (!answered) {
      await evm.mine()
      await fixture.follow()
    }
    expect(await answering).toMatchObject({ verified: true })
    await evm.mine(3)
    await fixture.follow()
    const rows = await fixture.context.db
      .select()
      .from(payment)
      .where(eq(payment.sender, all.payer.address))
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
    const answers = await Promise.all([
      fixture.build(all.payee, proof),
      fixture.build(all.payee, proof),
      fixture.build(all.payee, proof),
    ])
    expect(new Set(answers.map(({ paymentId }) => paymentId)).size).toBe(1)
    await settleBuilt(evm, all.payee, answers[2]?.transaction ?? '')
    await fixture.followed(answers[0]?.paymentId ?? '', 'finalized')
  })

  test('is reported by the payee, and no other transaction is taken for it', async () => {
    const all = await parties()
    const built = await fixture.build(all.payee, await dollars(all))
    const other = await sendFrom(evm, all.payee, { to: all.payer.address, value: 1n, gas: 21_000n })
    await evm.mine(2)
    const report = (signature: string) =>
      reportSubmitted(fixture.context, fixture.actor, { paymentId: built.paymentId, signature })
    expect(await refusal(report(other))).toEqual({ code: 'INVALID_PARAMETERS' })
    const again = await fixture.build(all.payee, await dollars(all))
    expect(again.paymentId).not.toBe(built.paymentId)
    const hash = await settleBuilt(evm, all.payee, again.transaction)
    expect(
      await reportSubmitted(fixture.context, fixture.actor, {
        paymentId: again.paymentId,
        signature: hash,
      }),
    ).toMatchObject({ signature: hash })
    await fixture.followed(again.paymentId ?? '', 'finalized')
    expect(await fixture.status(built.paymentId)).toBe('created')
  })

  test('offers the validator what the payee says', async () => {
    const all = await parties()
    const built = await fixture.build(all.payee, await dollars(all), { priorityFee: '0.0001' })
    const { gas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(
      toHex(Buffer.from(built.transaction, 'base64')),
    )
    expect(gas * maxPriorityFeePerGas).toBeGreaterThan(parseEther('0.000099'))
    expect(gas * maxPriorityFeePerGas).toBeLessThanOrEqual(parseEther('0.0001'))
  })

  test('needs a payee that can pay the network', async () => {
    const all = await parties(0n)
    expect(await refusal(fixture.build(all.payee, await dollars(all)))).toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      reason: 'network_fee',
    })
  })

  test('that two questions were asked about pays one of them, and the other is over', async () => {
    const all = await parties()
    const proof = await dollars(all)
    const asked = [
      await fixture.build(all.payee, proof),
      await fixture.build(all.payee, proof, { resource: undefined }),
    ]
    expect(new Set(asked.map(({ paymentId }) => paymentId)).size).toBe(2)
    await settleBuilt(evm, all.payee, asked[1]?.transaction ?? '')
    const bodies = await eventually(
      async () => {
        await fixture.follow()
        return Promise.all(
          asked.map(({ paymentId }) => readPaymentBody(fixture.context, paymentId)),
        )
      },
      (now) => now.every(({ status }) => status !== 'pending'),
    )
    const [paid, over] = bodies.toSorted((a, b) => a.status.localeCompare(b.status))
    expect(paid?.status).toBe('confirmed')
    // One that was seen in the chain before the other was confirmed has failed.
    expect(over?.status).toMatch(/^(expired|failed)$/)
    expect(over?.failure).toMatch(/another payment/)
  })

  test.each([
    ['for more than was asked', 'amount_mismatch', 'amount', { expectedAmount: '0.5' }],
    ['for another resource', 'resource_mismatch', 'resource', { resource: `${URL}/b` }],
    ['in another asset', 'asset_mismatch', 'asset', { asset: 'WETH' }],
  ])('%s is refused', async (_, reason, check, body) => {
    const all = await parties()
    expect(await refusal(fixture.build(all.payee, await dollars(all), body))).toEqual(
      refused(reason, check),
    )
  })

  test('to another recipient, with a signature of another account, or of tokens the payer does not have is refused', async () => {
    const [all, other] = [await parties(), await parties()]
    const proof = await dollars(all)
    expect(await refusal(fixture.build(other.payee, proof))).toEqual(
      refused('recipient_mismatch', 'recipient'),
    )
    const stolen = alter(proof, (value) => ({
      ...value,
      payload: { ...value.payload, signature: `0x${'12'.repeat(64)}1b` },
    }))
    expect(await refusal(fixture.build(all.payee, stolen))).toEqual(
      refused('invalid_signature', 'signature'),
    )
    const rich = payInvoice(
      evmPayer(evm, all.payer),
      bill(all, tokens.usdc, { method: 'eip3009', amount: 10n ** 12n }),
    )
    expect(
      await refusal(fixture.build(all.payee, await rich, { expectedAmount: '1000000' })),
    ).toEqual(refused('simulation_failed', 'simulation'))
  })

  test('that ends in a moment decides nothing, and one that stands on the chain already is refused', async () => {
    const all = await parties()
    const short = {
      ...bill(all, tokens.usdc, { method: 'eip3009', amount: 1_000_000n }),
      maxTimeoutSeconds: 1,
    }
    const late = await payInvoice(evmPayer(evm, all.payer), short)
    expect(await refusal(fixture.build(all.payee, late))).toEqual({
      code: 'PAYMENT_VERIFICATION_FAILED',
    })
    const proof = await dollars(all)
    const built = await fixture.build(all.payee, proof)
    await settleBuilt(evm, all.payee, built.transaction)
    const stranger = await openAccount(fixture.context)
    expect(await refusal(fixture.build(all.payee, proof, {}, stranger))).toEqual(
      refused('already_used', 'fresh'),
    )
  })
})

describe('a permit of Permit2', () => {
  test('is settled by the payee through the proxy', async () => {
    const all = await parties()
    await approvePermit2(evm, all.payer, tokens.weth)
    const requirements = bill(all, tokens.weth, { method: 'permit2', amount: parseEther('0.01') })
    const proof = await payInvoice(evmPayer(evm, all.payer), requirements)
    const ask = { expectedAmount: '0.01', asset: 'WETH' }
    const built = await fixture.build(all.payee, proof, ask)
    expect(built).toMatchObject({
      settlement: 'required',
      kind: 'permit2',
      signer: all.payee.address,
    })
    const hash = await settleBuilt(evm, all.payee, built.transaction)
    await fixture.followed(built.paymentId, 'finalized')
    expect(await fixture.receive(all.payee, proof, ask)).toMatchObject({
      verified: true,
      alreadyProcessed: true,
      signature: hash,
    })
  })
})

describe.each(['eip3009', 'permit2'] as const)('an authorization by %s', (method) => {
  test('that was ordered for the payee books the network fee to the wallet that executed it', async () => {
    const usdc = method === 'eip3009'
    const asset = usdc ? tokens.usdc : tokens.weth
    const amount = usdc ? 1_000_000n : parseEther('0.01')
    const ask = usdc ? {} : { expectedAmount: '0.01', asset: 'WETH' }
    let booked = 0n
    for (const by of ['payee', 'stranger'] as const) {
      const all = await parties()
      const stranger = await evm.wallet(parseEther('1'))
      await registerPayee(fixture.context, fixture.actor.accountId, all.payee.address)
      if (!usdc) await approvePermit2(evm, all.payer, asset)
      const proof = await payInvoice(evmPayer(evm, all.payer), bill(all, asset, { method, amount }))
      const { paymentId, transaction } = await fixture.build(all.payee, proof, ask)
      const feesBefore = await readFees()
      if (by === 'payee') await settleBuilt(evm, all.payee, transaction)
      else {
        const { to, data } = parseTransaction(toHex(Buffer.from(transaction, 'base64')))
        if (!to || !data) throw new Error('no call')
        await sendFrom(evm, stranger, { to, data, gas: 300_000n })
      }
      await fixture.followed(paymentId, 'finalized')
      const spent = async (wallet: { address: Hex }) =>
        parseEther('1') - (await evm.client.getBalance({ address: wallet.address }))
      const fee = await feeOf(paymentId)
      expect(fee?.payer).toBe({ payee: all.payee, stranger }[by].address)
      expect(BigInt(fee?.amountAtomic ?? 0)).toBe(await spent({ payee: all.payee, stranger }[by]))
      // What the payee's wallet spent is what its books say, to the base unit.
      const more = (await readFees()) - feesBefore
      expect(more).toBe(await spent(all.payee))
      booked += more
      expect(fee?.own).toBe(by === 'payee')
    }
    expect(booked).toBeGreaterThan(0n)
  })
})

describe('a transaction that settles three proofs', () => {
  /** The payee executes in one call what it was given, and pays for it once. */
  async function executeTogether(all: Parties, transactions: readonly string[]): Promise<bigint> {
    const calls = transactions.map((transaction) => {
      const { to, data } = parseTransaction(toHex(Buffer.from(transaction, 'base64')))
      if (!to || !data) throw new Error('no call')
      return { target: to, allowFailure: false, callData: data }
    })
    const before = await evm.client.getBalance({ address: all.payee.address })
    await queueFrom(evm, all.payee, {
      tip: 5n * 10n ** 9n,
      to: multicall3.address,
      data: encodeFunctionData({
        abi: parseAbi([
          'struct Call { address target; bool allowFailure; bytes callData; }',
          'function aggregate3(Call[] calls)',
        ]),
        functionName: 'aggregate3',
        args: [calls],
      }),
      gas: 1_000_000n,
    })
    await evm.mine()
    return before - (await evm.client.getBalance({ address: all.payee.address }))
  }

  /** What the list books of these payments as fees of the account. */
  async function booked(paymentIds: readonly string[]): Promise<bigint[]> {
    const fees = await Promise.all(paymentIds.map((id) => feeOf(id)))
    return fees.flatMap((fee) => (fee?.own ? [BigInt(fee.amountAtomic)] : []))
  }

  async function built() {
    const all = await parties()
    await registerPayee(fixture.context, fixture.actor.accountId, all.payee.address)
    const ids: string[] = []
    const transactions: string[] = []
    for (let count = 0; count < 3; count++) {
      const { paymentId, transaction } = await fixture.build(all.payee, await dollars(all))
      ids.push(paymentId)
      transactions.push(transaction)
    }
    return { all, ids, transactions }
  }

  test.each(['confirmed', 'finalized'])(
    'books its fee once in the list and in the overview when they are %s',
    async (status) => {
      const { all, ids, transactions } = await built()
      const feesBefore = await readFees()
      const spent = await executeTogether(all, transactions)
      for (const id of ids) await fixture.followed(id, status)
      expect(await booked(ids)).toEqual([spent])
      expect((await readFees()) - feesBefore).toBe(spent)
    },
  )

  test('books its fee where another of them is in the books with what our wallet paid for it', async () => {
    const all = await parties()
    await registerPayee(fixture.context, fixture.actor.accountId, all.payee.address)
    const secret = generatePrivateKey()
    await evm.client.setBalance({ address: privateKeyToAddress(secret), value: parseEther('1') })
    const sponsored = await withFacilitator(fixture.context, fixture.actor.accountId, {
      evm: secret,
    })
    const presented = await dollars(all)
    const orders = [
      await fixture.build(all.payee, presented),
      await fixture.build(all.payee, await dollars(all)),
    ]
    const feesBefore = await readFees()
    // The first of them that is confirmed.
    const presenting = receivePayment(sponsored, fixture.actor, {
      walletAddress: all.payee.address,
      paymentProof: presented,
      expectedAmount: '1',
      asset: 'USDC',
      resource: URL,
      timeout: 30,
    })
    const address = privateKeyToAddress(secret)
    await eventually(
      () => evm.client.getTransactionCount({ address, blockTag: 'pending' }),
      (count) => count > 0,
    )
    const spent = await executeTogether(
      all,
      orders.map(({ transaction }) => transaction),
    )
    await evm.mine(2)
    const { paymentId, verified } = await presenting
    expect(verified).toBe(true)
    const ids = [paymentId ?? '', orders[1]?.paymentId ?? '']
    for (const id of ids) await fixture.followed(id, 'finalized')
    const held = await evm.client.getBalance({ address })
    const reverted = parseEther('1') - held
    expect(reverted).toBeGreaterThan(0n)
    expect(await booked(ids)).toEqual([reverted, spent])
    expect((await readFees()) - feesBefore).toBe(reverted + spent)
  })

  test('books its fee once after its block was replaced', async () => {
    const { all, ids, transactions } = await built()
    const feesBefore = await readFees()
    await executeTogether(all, transactions)
    const [hash] = (await evm.client.getBlock()).transactions
    if (!hash) throw new Error('no transaction')
    const raw = await evm.client.request({
      method: 'eth_getRawTransactionByHash' as never,
      params: [hash] as never,
    })
    for (const id of ids) await fixture.followed(id, 'confirmed')
    const { blockNumber } = await evm.client.getTransactionReceipt({ hash })
    const depth = Number((await evm.client.getBlockNumber()) - blockNumber) + 1
    await evm.client.request({ method: 'anvil_reorg' as never, params: [depth, []] as never })
    await fixture.follow()
    expect(await Promise.all(ids.map((id) => fixture.status(id)))).toEqual(
      ids.map(() => 'rolled_back'),
    )
    expect([await booked(ids), (await readFees()) - feesBefore]).toEqual([[], 0n])
    await evm.client.sendRawTransaction({ serializedTransaction: raw }).catch(() => undefined)
    for (const id of ids) await fixture.followed(id, 'finalized')
    const { gasUsed, effectiveGasPrice } = await evm.client.getTransactionReceipt({ hash })
    const spent = gasUsed * effectiveGasPrice
    expect(await booked(ids)).toEqual([spent])
    expect((await readFees()) - feesBefore).toBe(spent)
  })
})

async function feeOf(paymentId: string) {
  const query = v.parse(endpoints.paymentList.query, { limit: '500' })
  const { payments } = await readList(fixture.context, fixture.actor, query)
  return payments.find((row) => row.paymentId === paymentId)?.fee
}

/** Of the overview. */
async function readFees(): Promise<bigint> {
  const { assets } = await readSummary(fixture.context, fixture.actor, {
    wallets: undefined,
    days: 7,
  })
  return assets.reduce((sum, { feesAtomic }) => sum + BigInt(feesAtomic), 0n)
}

test('what is wrong with the request is told at once', async () => {
  const all = await parties()
  const call = fixture.build(all.payee, await dollars(all), { priorityFee: '-1' })
  await expect(call).rejects.toMatchObject({
    code: 'INVALID_PARAMETERS',
    facts: { details: { priorityFee: expect.any(String) } },
  })
})
