import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decodeTransaction } from '#chains/solana/decode.ts'
import { MEMO_PROGRAM } from '#chains/solana/programs.ts'
import { endpoints } from '#contract/endpoints.ts'
import type { Network } from '#contract/network.ts'
import { associatedTokenAccount } from '#devnet/tokens/solana.ts'
import { startSolana, type SolanaFixture } from '#testing/local-chains.ts'
import {
  alter,
  proveMemo,
  proveTransfer,
  REFUSED_PAYEE,
  refusal,
  refused,
} from '#testing/proofs.ts'
import { startSynchronizedClock } from '#testing/synchronized-clock.ts'
import {
  eventually,
  openAccount,
  openContext,
  registerPayee,
  releasePayee,
  type OpenedContext,
} from '#testing/service-context.ts'
import { createTokens, payInvoice, solanaPayer } from '#testing/token-payers.ts'
import type { Actor, Context } from '../../context/context.ts'
import { buildTransaction } from '../../payments/build.ts'
import { readList } from '../../payments/list/history.ts'
import { reportSubmitted } from '../../monitor/report.ts'
import { readPaymentBody } from '../../payments/status.ts'
import { receivePayment } from '../receive.ts'
import { pollOnce } from '../../monitor/poll.ts'
import { buildSettlement } from './build.ts'

/**
 * What a payee settles alone on Solana: the payer's own transaction, which lands when the payee
 * adds its signature, or as it is.
 */

const SOL = 1_000_000_000n
const LAMPORTS = 10_000_000n
const URL = 'https://shop.example/a'

let solana: SolanaFixture
let network: Network
let clock: Awaited<ReturnType<typeof startSynchronizedClock>>
let opened: OpenedContext
let context: Context
let actor: Actor
/** Accounts that hold the tokens of the network. */
const holders: Keypair[] = Array.from({ length: 12 }, () => Keypair.generate())

beforeAll(async () => {
  solana = await startSolana({ slotTimeMs: 50 })
  clock = await startSynchronizedClock(solana.rpcUrl)
  const withTokens = await createTokens(
    solana,
    holders.map(({ publicKey }) => publicKey.toBase58()),
  )
  network = { ...withTokens, rpcUrls: [clock.url] }
  opened = await openContext([network])
  context = opened.context
  actor = opened.actor
})

afterAll(async () => {
  await opened[Symbol.asyncDispose]()
  await clock[Symbol.asyncDispose]()
  await solana[Symbol.asyncDispose]()
})

type Parties = { payer: Keypair; payee: Keypair; payTo: string }

async function parties(payeeHolds = SOL): Promise<Parties> {
  const payee = await solana.wallet(payeeHolds)
  return { payer: await solana.wallet(SOL), payee, payTo: payee.publicKey.toBase58() }
}

/**
 * A transfer that the payer signed; the payee pays the network fee unless `feePayer` says
 * otherwise.
 */
async function transfer(
  { payer, payee }: Parties,
  memo: string,
  { feePayer = payee, lamports = LAMPORTS, draws = false } = {},
): Promise<VersionedTransaction> {
  const { blockhash } = await solana.connection.getLatestBlockhash('confirmed')
  const instructions = [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 30_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000 }),
    SystemProgram.transfer({
      fromPubkey: draws ? payee.publicKey : payer.publicKey,
      toPubkey: draws ? payer.publicKey : payee.publicKey,
      lamports,
    }),
    new TransactionInstruction({
      programId: new PublicKey(MEMO_PROGRAM),
      keys: [],
      data: Buffer.from(memo),
    }),
  ]
  const message = new TransactionMessage({
    payerKey: feePayer.publicKey,
    recentBlockhash: blockhash,
    instructions,
  }).compileToV0Message()
  const transaction = new VersionedTransaction(message)
  if (!draws) transaction.sign([payer])
  return transaction
}

const prove = ({ payTo }: Parties, memo: string, transaction: VersionedTransaction) =>
  proveTransfer(
    { network: network.network, payTo, lamports: LAMPORTS, memo },
    transaction.serialize(),
  )

type Body = Parameters<typeof buildSettlement>[2]
const build = ({ payTo }: Parties, paymentProof: string, body: Partial<Body> = {}, as = actor) =>
  buildSettlement(context, as, {
    walletAddress: payTo,
    paymentProof,
    expectedAmount: '0.01',
    resource: URL,
    ...body,
  })
const receive = (
  { payTo }: Parties,
  paymentProof: string,
  body: Partial<Parameters<typeof receivePayment>[2]> = {},
) =>
  receivePayment(context, actor, {
    walletAddress: payTo,
    paymentProof,
    expectedAmount: '0.01',
    resource: URL,
    timeout: 20,
    ...body,
  })

/** The network fee as the account's books have it, and what the wallet holds. */
async function feeAndBalance(paymentId: string, wallet: Keypair) {
  const query = v.parse(endpoints.paymentList.query, { limit: '500' })
  const { payments } = await readList(context, actor, query)
  const fee = payments.find((row) => row.paymentId === paymentId)?.fee
  const balance = BigInt(await solana.connection.getBalance(wallet.publicKey))
  return { payer: fee?.payer, own: fee?.own, atomic: BigInt(fee?.amountAtomic ?? 0), balance }
}

/** The payee adds its signature to what was built for it, and broadcasts it. */
async function settle(payee: Keypair, transaction: string): Promise<string> {
  const given = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
  given.sign([payee])
  return broadcast(given.serialize())
}

async function broadcast(bytes: Uint8Array): Promise<string> {
  const signature = await solana.connection.sendRawTransaction(bytes)
  await eventually(
    () => solana.connection.getSignatureStatus(signature),
    ({ value }) =>
      value?.confirmationStatus === 'confirmed' || value?.confirmationStatus === 'finalized',
  )
  return signature
}

const followed = (paymentId: string, wanted: string) =>
  eventually(
    async () => {
      const chain = context.chains.get(network.network)
      if (!chain) throw new Error('no chain')
      const { failures } = await pollOnce(context, chain, { expiredToo: false })
      expect(failures).toEqual([])
      return (await readPaymentBody(context, paymentId)).status
    },
    (status) => status === wanted,
  )

describe('a transfer of SOL whose fee the payee pays', () => {
  test('is co-signed by the payee, found by its memo, and used up with that at both doors', async () => {
    const all = await parties()
    await registerPayee(context, actor.accountId, all.payTo)
    const proof = prove(all, 'order-1', await transfer(all, 'order-1'))
    const height = await solana.connection.getBlockHeight('confirmed')
    const built = await build(all, proof, { memo: 'order-1' })
    // The payer's blockhash may be of any of the 32 blocks after the confirmed one.
    expect(built.lastValidBlockHeight).toBeGreaterThanOrEqual(height + 150 + 32)
    expect(built).toMatchObject({
      verified: true,
      status: 'created',
      settlement: 'required',
      kind: 'native-transfer',
      encoding: 'solana-wire-v0',
      signer: all.payTo,
      sender: all.payer.publicKey.toBase58(),
      fee: { amountAtomic: '10030' },
    })
    const signature = await settle(all.payee, built.transaction)
    await followed(built.paymentId, 'finalized')
    const body = await readPaymentBody(context, built.paymentId)
    expect(body).toMatchObject({
      mode: 'received',
      signature,
      events: [{ status: 'created' }, { status: 'pending' }, { status: 'confirmed' }, {}],
    })
    // What the payee received, less the fee in its books, is what it holds more.
    const { payer, own, atomic, balance } = await feeAndBalance(built.paymentId, all.payee)
    expect({ payer, own }).toEqual({ payer: all.payTo, own: true })
    expect(atomic).toBeGreaterThan(0n)
    expect(balance).toBe(SOL + LAMPORTS - atomic)
    expect(await receive(all, proof, { memo: 'order-1' })).toMatchObject({
      verified: true,
      alreadyProcessed: true,
      paymentId: built.paymentId,
    })
    expect(await build(all, proof, { memo: 'order-1' })).toMatchObject({
      settlement: 'already_settled',
      kind: 'receipt',
      alreadyProcessed: true,
    })
    const other = await openAccount(context)
    expect(await refusal(build(all, proof, { memo: 'order-1' }, other))).toEqual(REFUSED_PAYEE)
    await releasePayee(context, actor.accountId, all.payTo)
    expect(await refusal(build(all, proof, { memo: 'order-1' }, other))).toEqual(
      refused('already_used', 'single_use'),
    )
  })

  test('that was reported is looked at at once', async () => {
    const all = await parties()
    const proof = prove(all, 'order-2', await transfer(all, 'order-2'))
    const built = await build(all, proof, { memo: 'order-2' })
    const other = await settle(
      all.payee,
      (await build(all, prove(all, 'order-3', await transfer(all, 'order-3')), { memo: 'order-3' }))
        .transaction,
    )
    const report = (signature: string) =>
      reportSubmitted(context, actor, { paymentId: built.paymentId, signature })
    expect(await refusal(report(other))).toEqual({ code: 'INVALID_PARAMETERS' })
    const signature = await settle(all.payee, built.transaction)
    expect(await report(signature)).toMatchObject({
      status: expect.stringMatching(/confirmed|finalized/),
      signature,
    })
  })

  test('that nobody broadcasts in time is over, and its proof with it', async () => {
    const all = await parties()
    const proof = prove(all, 'order-4', await transfer(all, 'order-4'))
    const built = await build(all, proof, { memo: 'order-4' })
    await followed(built.paymentId, 'expired')
    expect(await refusal(build(all, proof, { memo: 'order-4' }))).toEqual(
      refused('simulation_failed', 'simulation'),
    )
  })

  test('needs a payee that can pay the network', async () => {
    const all = await parties(0n)
    const proof = prove(all, 'order-5', await transfer(all, 'order-5'))
    const code = await refusal(build(all, proof, { memo: 'order-5' }))
    expect(['INSUFFICIENT_BALANCE', 'INVALID_PAYMENT_PROOF']).toContain(code.code)
  })

  test('of another amount, to another recipient, with another memo, or of the payee’s own tokens is refused', async () => {
    const [all, other] = [await parties(), await parties()]
    const less = await transfer(all, 'order-6', { lamports: LAMPORTS - 1n })
    expect(await refusal(build(all, prove(all, 'order-6', less), { memo: 'order-6' }))).toEqual(
      refused('amount_mismatch', 'lamports'),
    )
    const away = await transfer({ ...all, payee: other.payee }, 'order-6', { feePayer: all.payee })
    expect(await refusal(build(all, prove(all, 'order-6', away), { memo: 'order-6' }))).toEqual(
      refused('recipient_mismatch', 'destination'),
    )
    const memo = await transfer(all, 'order-7')
    expect(await refusal(build(all, prove(all, 'order-6', memo), { memo: 'order-6' }))).toEqual(
      refused('memo_mismatch', 'memo'),
    )
    const draw = await transfer(all, 'order-6', { draws: true })
    expect(
      await refusal(build(all, prove(all, 'order-6', draw), { memo: 'order-6' })),
    ).toMatchObject({ code: 'INVALID_PAYMENT_PROOF' })
  })

  test('whose fee a stranger pays, or with the payer’s signature spoiled, is refused', async () => {
    const all = await parties()
    const foreign = await transfer(all, 'order-8', { feePayer: Keypair.generate() })
    expect(await refusal(build(all, prove(all, 'order-8', foreign), { memo: 'order-8' }))).toEqual(
      refused('fee_payer_mismatch', 'fee_payer'),
    )
    const spoiled = await transfer(all, 'order-8')
    spoiled.signatures[1]?.fill(7)
    expect(await refusal(build(all, prove(all, 'order-8', spoiled), { memo: 'order-8' }))).toEqual(
      refused('invalid_signature', 'signatures'),
    )
  })
})

test('a token whose fee the payee pays is co-signed by the payee', async () => {
  const [payer, payee] = holders
  const [, usdc] = network.assets
  if (!payer || !payee || !usdc) throw new Error('no holders')
  const payTo = payee.publicKey.toBase58()
  await solana.setAccount(payTo, { lamports: SOL })
  const requirements = {
    scheme: 'exact',
    network: network.network,
    amount: '2000000',
    asset: usdc.address,
    payTo,
    maxTimeoutSeconds: 60,
    extra: { feePayer: payTo },
  }
  const proof = await payInvoice(solanaPayer(solana, payer), requirements)
  const all = { payer, payee, payTo }
  const ask = { expectedAmount: '2', asset: 'USDC' }
  const built = await build(all, proof, ask)
  expect(built).toMatchObject({
    settlement: 'required',
    kind: 'token-transfer',
    signer: payTo,
    amountAtomic: '2000000',
  })
  const balance = async () =>
    BigInt(
      (
        await solana.connection.getTokenAccountBalance(
          associatedTokenAccount(payee.publicKey),
          'confirmed',
        )
      ).value.amount,
    )
  const before = await balance()
  const signature = await settle(payee, built.transaction)
  expect((await balance()) - before).toBe(2_000_000n)
  await followed(built.paymentId, 'finalized')
  expect(await receive(all, proof, ask)).toMatchObject({
    verified: true,
    alreadyProcessed: true,
    signature,
  })
})

test('a token transaction that its payer signed wholly takes its fee from the payer, and none from the payee', async () => {
  const [, , payer, payee] = holders
  const [, usdc] = network.assets
  if (!payer || !payee || !usdc) throw new Error('no holders')
  const all = { payer, payee, payTo: payee.publicKey.toBase58() }
  const address = payer.publicKey.toBase58()
  await registerPayee(context, actor.accountId, all.payTo)
  await solana.setAccount(address, { lamports: SOL })
  const requirements = {
    scheme: 'exact',
    network: network.network,
    amount: '2000000',
    asset: usdc.address,
    payTo: all.payTo,
    maxTimeoutSeconds: 60,
    extra: { feePayer: address },
  }
  const proof = await payInvoice(solanaPayer(solana, payer), requirements)
  const built = await build(all, proof, { expectedAmount: '2', asset: 'USDC' })
  expect(built).toMatchObject({ settlement: 'broadcast_only', kind: 'token-transfer' })
  await broadcast(Buffer.from(built.transaction, 'base64'))
  await followed(built.paymentId, 'finalized')
  const fee = await feeAndBalance(built.paymentId, payer)
  expect(fee).toMatchObject({ payer: address, own: false })
  expect(fee.balance).toBe(SOL - fee.atomic)
  expect(fee.atomic).toBeGreaterThan(0n)
})

describe('a transfer of SOL that is wholly signed', () => {
  test('comes back as it is, for anybody to broadcast', async () => {
    const all = await parties()
    const transaction = await transfer(all, 'order-20', { feePayer: all.payer })
    const proof = prove(all, 'order-20', transaction)
    const built = await build(all, proof, { memo: 'order-20' })
    expect(built).toMatchObject({ settlement: 'broadcast_only', signer: null, fee: null })
    expect(
      Buffer.from(built.transaction, 'base64').equals(Buffer.from(transaction.serialize())),
    ).toBe(true)
    const signature = await broadcast(Buffer.from(built.transaction, 'base64'))
    await followed(built.paymentId, 'finalized')
    expect(await receive(all, proof, { memo: 'order-20' })).toMatchObject({
      alreadyProcessed: true,
      signature,
    })
  })

  test('and was built by this service is that payment', async () => {
    const all = await parties()
    const order = {
      walletAddress: all.payer.publicKey.toBase58(),
      recipientAddress: all.payTo,
      amount: '0.01',
      resource: URL,
    }
    const given = await buildTransaction(context, actor, order)
    const transaction = VersionedTransaction.deserialize(Buffer.from(given.transaction, 'base64'))
    transaction.sign([all.payer])
    const proof = proveTransfer(
      { network: network.network, payTo: all.payTo, lamports: LAMPORTS },
      transaction.serialize(),
    )
    const built = await build(all, proof)
    expect(built).toMatchObject({ settlement: 'broadcast_only', paymentId: given.paymentId })
    await broadcast(Buffer.from(built.transaction, 'base64'))
    await followed(given.paymentId, 'confirmed')
    expect(await receive(all, proof)).toMatchObject({ verified: true, paymentId: given.paymentId })
  })
})

test('SOL that the payer has sent is received, and its payee may write that on the chain', async () => {
  const all = await parties()
  const txRef = await broadcast(
    (await transfer(all, 'order-30', { feePayer: all.payer })).serialize(),
  )
  const proof = proveMemo(
    { network: network.network, payTo: all.payTo, lamports: LAMPORTS, memo: 'order-30' },
    txRef,
  )
  const built = await build(all, proof, { memo: 'order-30' })
  expect(built).toMatchObject({
    verified: true,
    alreadyProcessed: false,
    settlement: 'already_settled',
    kind: 'receipt',
    signer: all.payTo,
    signature: txRef,
  })
  const elsewhere = alter(proof, (value) => ({ ...value, resource: { url: `${URL}/b` } }))
  expect(await refusal(build(all, elsewhere, { memo: 'order-30', resource: `${URL}/b` }))).toEqual(
    refused('already_used', 'single_use'),
  )
  expect(await receive(all, proof, { memo: 'order-30' })).toMatchObject({
    alreadyProcessed: true,
    paymentId: built.paymentId,
  })

  const note = await settle(all.payee, built.transaction)
  const landed = await solana.connection.getTransaction(note, {
    commitment: 'confirmed',
    maxSupportedTransactionVersion: 0,
  })
  expect(landed?.meta?.err).toBeNull()
  const facts = decodeTransaction(Buffer.from(built.transaction, 'base64'))
  if (!facts.ok) throw new Error(facts.problem.code)
  expect(facts.feePayer).toBe(all.payTo)
  expect(facts.operations).toContainEqual(
    expect.objectContaining({
      kind: 'memo',
      text: `x402-receipt:${built.paymentId}`,
      signers: [all.payTo],
    }),
  )
})
