import {
  Keypair,
  PublicKey,
  Transaction,
  TransactionInstruction,
  VersionedTransaction,
} from '@solana/web3.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Asset } from '#contract/network.ts'
import { startSolana, type SolanaFixture } from '#testing/local-chains.ts'
import { balanceOnSolana, createMint, give, transferFee } from '#testing/local-tokens.ts'
import { eventually, openContext, ownWallet, type OpenedContext } from '#testing/service-context.ts'
import {
  accountOf,
  openAccount,
  TOKEN,
  TOKEN_2022,
  transferChecked,
} from '#testing/token-instructions.ts'
import type { Actor, Context } from '../context/context.ts'
import { buildTransaction } from '../payments/build.ts'
import { readHistory } from '../payments/list/history.ts'
import { reportSubmitted } from './report.ts'
import { readPaymentBody } from '../payments/status.ts'
import { readUnmatched } from '../payments/unmatched.ts'
import { startWatchers, type Watchers } from './start.ts'

const SOL = 1_000_000_000n
const MEMO_PROGRAM = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')

let solana: SolanaFixture
let opened: OpenedContext
let context: Context
let actor: Actor
let watchers: Watchers
let usdc: Asset
let newer: Asset
let turning: Asset

beforeAll(async () => {
  solana = await startSolana({ slotTimeMs: 20 })
  usdc = await createMint(solana)
  newer = {
    ...(await createMint(solana, {
      program: TOKEN_2022,
      extensions: [{ type: 12, value: new Uint8Array(32) }],
    })),
    symbol: 'NEWER',
  }
  turning = {
    ...(await createMint(solana, { program: TOKEN_2022, extensions: [transferFee(0)] })),
    symbol: 'TURNS',
  }
  opened = await openContext(
    [{ ...solana.network, assets: [...solana.network.assets, usdc, newer, turning] }],
    { engine: 'postgres' },
  )
  context = opened.context
  actor = opened.actor
  watchers = startWatchers(context)
})

afterAll(async () => {
  await watchers.stop()
  await opened[Symbol.asyncDispose]()
  await solana[Symbol.asyncDispose]()
})

type Built = Awaited<ReturnType<typeof buildTransaction>>

/** A payer with SOL and ten of each token, and a payee with nothing. */
async function parties() {
  const [payer, payee] = [await solana.wallet(SOL), Keypair.generate()]
  await give(solana, usdc, { owner: payer.publicKey, amount: 10_000_000n })
  await give(solana, newer, {
    owner: payer.publicKey,
    amount: 10_000_000n,
    program: TOKEN_2022,
    extensions: [{ type: 7, value: new Uint8Array() }],
  })
  return { payer, payee }
}

const build = (payer: Keypair, payee: Keypair, asset = 'USDC') =>
  buildTransaction(context, actor, {
    walletAddress: payer.publicKey.toBase58(),
    recipientAddress: payee.publicKey.toBase58(),
    amount: '2.5',
    asset,
  })

async function send(payer: Keypair, built: Built): Promise<string> {
  const transaction = VersionedTransaction.deserialize(Buffer.from(built.transaction, 'base64'))
  transaction.sign([payer])
  return solana.connection.sendRawTransaction(transaction.serialize())
}

/** A transaction as some other program would make it, on a fresh blockhash. */
async function sendOwn(
  payer: Keypair,
  memo: string,
  instructions: TransactionInstruction[],
  skipPreflight = false,
): Promise<string> {
  const transaction = new Transaction({
    feePayer: payer.publicKey,
    ...(await solana.connection.getLatestBlockhash()),
  })
  transaction.add(
    ...instructions,
    new TransactionInstruction({ programId: MEMO_PROGRAM, keys: [], data: Buffer.from(memo) }),
  )
  transaction.sign(payer)
  return solana.connection.sendRawTransaction(transaction.serialize(), { skipPreflight })
}

const accountFor = (owner: Keypair, asset = usdc, program = TOKEN) =>
  accountOf(owner.publicKey, new PublicKey(asset.address), program)

function transfer(from: Keypair, to: Keypair, amount: bigint): TransactionInstruction {
  const mint = new PublicKey(usdc.address)
  return transferChecked({
    source: accountFor(from),
    mint,
    destination: accountFor(to),
    authority: from.publicKey,
    amount,
    decimals: 6,
  })
}

const opening = (payer: Keypair, owner: Keypair) =>
  openAccount({ payer: payer.publicKey, owner: owner.publicKey, mint: new PublicKey(usdc.address) })

const read = (built: Built) => readPaymentBody(context, built.paymentId)

const untilStatus = (built: Built, status: string) =>
  eventually(
    () => read(built),
    (body) => body.status === status,
  )

const untilConfirmed = (signatures: string[]) =>
  eventually(
    () => solana.connection.getSignatureStatuses(signatures),
    ({ value }) =>
      value.every(
        (status) =>
          status?.confirmationStatus === 'confirmed' || status?.confirmationStatus === 'finalized',
      ),
  )

test.each<['USDC' | 'NEWER', PublicKey]>([
  ['USDC', TOKEN],
  ['NEWER', TOKEN_2022],
])(
  'a reported payment in %s goes from created to finalized, and status and history name its asset',
  async (symbol, program) => {
    const { payer, payee } = await parties()
    const token = symbol === 'USDC' ? usdc : newer
    const asset = { asset: token.address, symbol, decimals: 6, amountAtomic: '2500000' }
    const built = await build(payer, payee, symbol)
    const signature = await send(payer, built)
    await reportSubmitted(context, actor, { paymentId: built.paymentId, signature })
    const final = await untilStatus(built, 'finalized')
    expect(final).toMatchObject({ signature, failure: null, ...asset })
    expect(final.events.map(({ status }) => status)).toEqual([
      'created',
      'pending',
      'confirmed',
      'finalized',
    ])
    expect(await balanceOnSolana(solana, accountFor(payee, token, program))).toBe(2_500_000n)
    const query = { type: 'all', limit: 50, offset: 0, asset: symbol } as const
    const { payments } = await readHistory(context, actor, {
      params: { walletAddress: payee.publicKey.toBase58() },
      query,
      body: undefined,
    })
    expect(payments).toEqual([
      expect.objectContaining({
        paymentId: built.paymentId,
        type: 'received',
        status: 'finalized',
        ...asset,
      }),
    ])
  },
)

test('a token payment nobody reports is found by its memo, whether its account was opened or there', async () => {
  const { payer, payee } = await parties()
  for (const amount of [2_500_000n, 5_000_000n]) {
    const built = await build(payer, payee)
    const signature = await send(payer, built)
    expect(await untilStatus(built, 'confirmed')).toMatchObject({ signature })
    expect(await balanceOnSolana(solana, accountFor(payee))).toBe(amount)
  }
})

test('the right memo over another amount, another token, another recipient or another source pays nothing and blocks nothing', async () => {
  const { payer, payee } = await parties()
  const stranger = await parties()
  const built = await build(payer, payee)
  const memo = built.paymentId
  const mint = new PublicKey(newer.address)
  const otherToken = transferChecked({
    source: accountFor(payer, newer, TOKEN_2022),
    mint,
    destination: accountFor(payee, newer, TOKEN_2022),
    authority: payer.publicKey,
    amount: 2_500_000n,
    decimals: 6,
    program: TOKEN_2022,
  })
  const wrong = [
    await sendOwn(payer, memo, [opening(payer, payee), transfer(payer, payee, 2_499_999n)]),
    await sendOwn(payer, memo, [
      openAccount({ payer: payer.publicKey, owner: payee.publicKey, mint, program: TOKEN_2022 }),
      otherToken,
    ]),
    await sendOwn(payer, memo, [transfer(payer, stranger.payer, 2_500_000n)]),
    await sendOwn(stranger.payer, memo, [
      opening(stranger.payer, payee),
      transfer(stranger.payer, payee, 2_500_000n),
    ]),
    await sendOwn(payer, memo, [
      transfer(payer, payee, 1_250_000n),
      transfer(payer, payee, 1_250_000n),
    ]),
  ]
  await untilConfirmed(wrong)
  for (const signature of wrong)
    await expect(
      reportSubmitted(context, actor, { paymentId: built.paymentId, signature }),
    ).rejects.toMatchObject({ code: 'INVALID_PARAMETERS' })
  const signature = await send(payer, built)
  expect(await untilStatus(built, 'confirmed')).toMatchObject({ signature })
})

test('a token account that was given away after the payment was built is not the recipient’s', async () => {
  const { payer, payee } = await parties()
  await give(solana, usdc, { owner: payee.publicKey, amount: 0n })
  const built = await build(payer, payee)
  await give(solana, usdc, {
    owner: payee.publicKey,
    amount: 0n,
    given: Keypair.generate().publicKey,
  })
  const signature = await send(payer, built)
  await untilConfirmed([signature])
  await expect(
    reportSubmitted(context, actor, { paymentId: built.paymentId, signature }),
  ).rejects.toMatchObject({ code: 'INVALID_PARAMETERS' })
  expect(await read(built)).toMatchObject({ status: 'created', signature: null })
})

test('a token payment that fails on the chain has failed, once that is final, though its account was never opened', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee)
  // The tokens are gone by the time the payment lands.
  await give(solana, usdc, { owner: payer.publicKey, amount: 1n })
  const transaction = VersionedTransaction.deserialize(Buffer.from(built.transaction, 'base64'))
  transaction.sign([payer])
  const signature = await solana.connection.sendRawTransaction(transaction.serialize(), {
    skipPreflight: true,
  })
  expect(await untilStatus(built, 'failed')).toMatchObject({
    signature,
    failure: expect.stringContaining('landed and failed'),
  })
})

test('a transfer that fails because its account is gone has failed', async () => {
  const { payer, payee } = await parties()
  await give(solana, usdc, { owner: payee.publicKey, amount: 0n })
  const built = await build(payer, payee)
  expect(built.decoded).toMatchObject({ recipientAccount: { opened: false } })
  await solana.setAccount(accountFor(payee).toBase58(), {
    lamports: 0n,
    data: '',
    owner: '11111111111111111111111111111111',
  })
  const transaction = VersionedTransaction.deserialize(Buffer.from(built.transaction, 'base64'))
  transaction.sign([payer])
  const signature = await solana.connection.sendRawTransaction(transaction.serialize(), {
    skipPreflight: true,
  })
  expect(await untilStatus(built, 'failed')).toMatchObject({ signature })
})

test('a token that begins to keep a part after the payment was built has not paid, the payment says so, and what arrived is unmatched', async () => {
  const { payer, payee } = await parties()
  await ownWallet(opened, payee.publicKey.toBase58())
  await give(solana, turning, {
    owner: payer.publicKey,
    amount: 10_000_000n,
    program: TOKEN_2022,
    extensions: [{ type: 2, value: new Uint8Array(8) }],
  })
  const built = await build(payer, payee, 'TURNS')
  await createMint(solana, {
    program: TOKEN_2022,
    extensions: [transferFee(100)],
    at: new PublicKey(turning.address),
  })
  const signature = await send(payer, built)
  expect(await untilStatus(built, 'failed')).toMatchObject({
    signature,
    failure: expect.stringContaining('2475000 instead of 2500000'),
  })
  expect(await balanceOnSolana(solana, accountFor(payee, turning, TOKEN_2022))).toBe(2_475_000n)
  const { transfers } = await readUnmatched(context, actor, { limit: 100, offset: 0 })
  expect(transfers.filter(({ recipient }) => recipient === payee.publicKey.toBase58())).toEqual([
    expect.objectContaining({
      signature,
      sender: payer.publicKey.toBase58(),
      symbol: 'TURNS',
      amountAtomic: '2475000',
      candidates: [],
    }),
  ])
})

test('a token payment nobody signs expires', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee)
  const expired = await untilStatus(built, 'expired')
  expect(expired.events.map(({ status }) => status)).toEqual(['created', 'expired'])
})

test('a token payment to oneself cannot exist', async () => {
  const { payer } = await parties()
  await expect(build(payer, payer)).rejects.toMatchObject({ code: 'INVALID_RECIPIENT' })
})
