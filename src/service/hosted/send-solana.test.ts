import { afterAll, beforeAll, expect, test } from 'vitest'
import { PublicKey, SystemProgram, VersionedTransaction, type Keypair } from '@solana/web3.js'
import { signVersion1 } from '#testing/chain-payments.ts'
import { startGate, startSolana, type SolanaFixture } from '#testing/local-chains.ts'
import { untilDecided } from '#testing/until-decided.ts'
import { eventually, openContext, type OpenedContext } from '#testing/service-context.ts'
import type { Actor, Context } from '../context/context.ts'
import { chainOf } from '../context/network.ts'
import { readAttempts } from '../db/attempts.ts'
import { reconcile } from '../reconciliation/reconcile.ts'
import { createWallet } from '../wallets/create-wallet.ts'
import { startWatchers, type Watchers } from '../monitor/start.ts'
import { sendPayment } from './send.ts'
import { readPaymentBody } from '../payments/status.ts'

const SOL = 1_000_000_000n

let solana: SolanaFixture
let gate: Awaited<ReturnType<typeof startGate>>
let opened: OpenedContext
let context: Context
let actor: Actor
let watchers: Watchers

beforeAll(async () => {
  solana = await startSolana({ slotTimeMs: 20 })
  gate = await startGate(solana.rpcUrl)
  opened = await openContext([{ ...solana.network, rpcUrls: [gate.url] }])
  context = opened.context
  actor = opened.actor
  watchers = startWatchers(context)
})

afterAll(async () => {
  await watchers.stop()
  await opened[Symbol.asyncDispose]()
  await gate[Symbol.asyncDispose]()
  await solana[Symbol.asyncDispose]()
})

async function managed(lamports: bigint): Promise<string> {
  const { address } = await createWallet(
    { ...context, now: new Date() },
    { accountId: actor.accountId, family: 'solana', name: 'till' },
  )
  await solana.setAccount(address, { lamports })
  return address
}

function send(
  sender: string,
  payee: Keypair,
  options: { amount?: string; priorityFee?: string; waitMs?: number } = {},
) {
  const { amount = '0.01', waitMs = 0, ...rest } = options
  const body = {
    walletAddress: sender,
    recipientAddress: payee.publicKey.toBase58(),
    amount,
    ...rest,
  }
  return sendPayment(context, actor, { body, idempotency: undefined, waitMs })
}

const balanceOf = async (payee: Keypair) =>
  BigInt(await solana.connection.getBalance(payee.publicKey))

test('a payment carries its id as memo, confirms within the wait, and becomes final', async () => {
  const payee = await solana.wallet(SOL)
  const reply = await send(await managed(SOL), payee, {
    amount: '0.1',
    priorityFee: '0.00001',
    waitMs: 20_000,
  })
  expect(['confirmed', 'finalized']).toContain(reply.status)
  const [attempt] = await readAttempts(context.db, reply.paymentId)
  expect(attempt?.signature).toBe(reply.signature)
  const { message } = VersionedTransaction.deserialize(
    Buffer.from(attempt?.signedTransaction ?? '', 'base64'),
  )
  expect(Buffer.from(message.compiledInstructions.at(-1)?.data ?? []).toString()).toBe(
    reply.paymentId,
  )
  const final = await eventually(
    () => readPaymentBody(context, reply.paymentId),
    ({ status }) => status === 'finalized',
  )
  expect(final.events.map(({ status }) => status)).toEqual([
    'created',
    'pending',
    'confirmed',
    'finalized',
  ])
  expect(final.fee?.amountAtomic).toBe('15000')
  expect(await balanceOf(payee)).toBe(SOL + SOL / 10n)
})

test('a payment is handed to every endpoint, also while the first one takes it', async () => {
  const sent: string[] = []
  const watch = (name: string) => (asked: string, answer: string) => {
    if (asked.includes('"sendTransaction"')) sent.push(name)
    return answer
  }
  await using first = await startGate(solana.rpcUrl)
  await using second = await startGate(solana.rpcUrl)
  first.lie = watch('first')
  second.lie = watch('second')
  const network = { ...solana.network, rpcUrls: [first.url, second.url] }
  await using other = await openContext([network])
  const { accountId } = other.actor
  const wallet = { accountId, family: 'solana', name: 'till' } as const
  const { address } = await createWallet({ ...other.context, now: new Date() }, wallet)
  await solana.setAccount(address, { lamports: SOL })
  const recipientAddress = (await solana.wallet(SOL)).publicKey.toBase58()
  const body = { walletAddress: address, recipientAddress, amount: '0.01' }
  await untilDecided(() =>
    sendPayment(other.context, other.actor, { body, idempotency: undefined, waitMs: 0 }),
  )
  await eventually(
    async () => new Set(sent).size,
    (endpoints) => endpoints === 2,
  )
})

test.each([
  ['0.001', undefined, true],
  ['0.000999999', undefined, false],
  ['100.000000001', undefined, false],
  ['0.01', '0.01', true],
  ['0.01', '0.00001', true],
  ['0.01', '0.010000001', false],
  ['0.01', '0.000009999', false],
])(
  'the amount %s with the priority fee %s is within the bounds: %s',
  async (amount, priorityFee, good) => {
    const answer = send(await managed(SOL), await solana.wallet(SOL), {
      amount,
      ...(priorityFee && { priorityFee }),
    })
    if (good) await expect(answer).resolves.toMatchObject({ mode: 'hosted' })
    else await expect(answer).rejects.toMatchObject({ code: 'INVALID_PARAMETERS' })
  },
)

test('a program is refused as a recipient, by its code', async () => {
  const body = {
    walletAddress: await managed(SOL),
    recipientAddress: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
    amount: '0.01',
  }
  await expect(
    sendPayment(context, actor, { body, idempotency: undefined, waitMs: 0 }),
  ).rejects.toMatchObject({
    code: 'INVALID_RECIPIENT',
    facts: { details: { reason: { code: 'program_account', params: {} } } },
  })
})

test('equal sends at the same moment are as many transfers', async () => {
  const payee = await solana.wallet(SOL)
  const sender = await managed(SOL)
  const sent = await Promise.all(
    Array.from({ length: 5 }, () => untilDecided(() => send(sender, payee))),
  )
  const paid = async () =>
    (await Promise.all(sent.map(({ paymentId }) => readPaymentBody(context, paymentId)))).map(
      ({ status, failure }) => failure ?? status,
    )
  await eventually(paid, (statuses) =>
    statuses.every((status) => status === 'confirmed' || status === 'finalized'),
  )
  expect(await balanceOf(payee)).toBe(SOL + 5n * (SOL / 100n))
})

test('a transaction that a node refuses to run is not told as failed: it is signed again, and pays once', async () => {
  const payee = await solana.wallet(SOL)
  const sender = await managed(SOL)
  gate.refuse = 'sendTransaction'
  const { paymentId } = await send(sender, payee)
  const [attempt] = await readAttempts(context.db, paymentId)
  // Expired, but not finally: a node that is asked to run it reports its refusal as the outcome
  // of a transaction.
  await eventually(
    () => solana.connection.getBlockHeight('confirmed'),
    (height) => height > Number(attempt?.lastValidBlockHeight),
  )
  await solana.connection.sendRawTransaction(
    Buffer.from(attempt?.signedTransaction ?? '', 'base64'),
    { skipPreflight: true },
  )
  gate.refuse = undefined
  const paid = await eventually(
    () => readPaymentBody(context, paymentId),
    ({ status }) => status === 'finalized' || status === 'failed',
  )
  expect([paid.status, paid.failure]).toEqual(['finalized', null])
  expect(await balanceOf(payee)).toBe(SOL + SOL / 100n)
})

test('a transaction that was never sent is signed again once its blockhash has expired, and pays once', async () => {
  const payee = await solana.wallet(SOL)
  const sender = await managed(SOL)
  gate.refuse = 'sendTransaction'
  const { paymentId, signature } = await send(sender, payee)
  const signed = () => readAttempts(context.db, paymentId)
  await eventually(signed, ({ length }) => length > 1)
  gate.refuse = undefined
  const paid = await eventually(
    () => readPaymentBody(context, paymentId),
    ({ status }) => status === 'finalized',
  )
  const attempts = await signed()
  expect(attempts.at(-1)?.signature).toBe(signature)
  expect(attempts.map((attempt) => attempt.signature)).toContain(paid.signature)
  expect(paid.signature).not.toBe(signature)
  for (const [index, attempt] of attempts.slice(0, -1).entries()) {
    const before = attempts[index + 1]
    expect(Number(attempt.lastValidBlockHeight)).toBeGreaterThan(
      Number(before?.lastValidBlockHeight) + 100,
    )
  }
  expect(await balanceOf(payee)).toBe(SOL + SOL / 100n)
})

test('a transaction of version 1 that names a managed wallet stops no comparison and, after a restart, no payment', async () => {
  const [payee, stranger] = [await solana.wallet(SOL), await solana.wallet(SOL)]
  const sender = await managed(SOL)
  const chain = chainOf(context, solana.network.network)
  const compare = () =>
    eventually(
      () => reconcile(context, chain, sender),
      (verdict) => verdict !== 'later',
    )
  expect(await compare()).toBe('equal')
  const transfer = SystemProgram.transfer({
    fromPubkey: stranger.publicKey,
    toPubkey: new PublicKey(sender),
    lamports: 1_000,
  })
  const { blockhash: recentBlockhash } = await solana.connection.getLatestBlockhash()
  await solana.connection.sendRawTransaction(
    signVersion1(stranger, { recentBlockhash, instructions: [transfer] }),
  )
  await eventually(
    () => solana.connection.getBalance(new PublicKey(sender)),
    (balance) => BigInt(balance) === SOL + 1_000n,
  )
  const restarted = { ...context }
  const body = {
    walletAddress: sender,
    recipientAddress: payee.publicKey.toBase58(),
    amount: '0.01',
  }
  const reply = await sendPayment(restarted, actor, {
    body,
    idempotency: undefined,
    waitMs: 20_000,
  })
  expect(['confirmed', 'finalized']).toContain(reply.status)
  expect(await compare()).toBe('equal')
})
