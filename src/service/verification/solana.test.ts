import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import bs58 from 'bs58'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { signVersion1 } from '#testing/chain-payments.ts'
import { hidesNewer, startGate, startSolana, type SolanaFixture } from '#testing/local-chains.ts'
import {
  alter,
  proveMemo,
  proveTransfer,
  REFUSED_PAYEE,
  refusal,
  refused,
  type SolanaProof,
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
import type { Actor, Context } from '../context/context.ts'
import { findPayment } from '../db/payments.ts'
import { event } from '../db/schema/payment.ts'
import { buildTransaction } from '../payments/build.ts'
import { readPaymentBody } from '../payments/status.ts'
import { pollOnce } from '../monitor/poll.ts'
import { receivePayment } from '../settlement/receive.ts'

/**
 * Native SOL: signed by the payer and broadcast by the service, or broadcast by the payer and bound
 * by its memo.
 */

const SOL = 1_000_000_000n
const LAMPORTS = 10_000_000n
const URL = 'https://shop.example/a'
const MEMO_PROGRAM = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')

let solana: SolanaFixture
let clock: Awaited<ReturnType<typeof startSynchronizedClock>>
let opened: OpenedContext
let context: Context
let actor: Actor

beforeAll(async () => {
  solana = await startSolana({ slotTimeMs: 50 })
  clock = await startSynchronizedClock(solana.rpcUrl)
  opened = await openContext([{ ...solana.network, rpcUrls: [clock.url] }])
  context = opened.context
  actor = opened.actor
})

afterAll(async () => {
  await opened[Symbol.asyncDispose]()
  await clock[Symbol.asyncDispose]()
  await solana[Symbol.asyncDispose]()
})

type Parties = { payer: Keypair; payee: Keypair; terms: SolanaProof }

async function parties(memo: string): Promise<Parties> {
  const payer = await solana.wallet(SOL)
  const payee = Keypair.generate()
  return {
    payer,
    payee,
    terms: {
      network: solana.network.network,
      payTo: payee.publicKey.toBase58(),
      lamports: LAMPORTS,
      memo,
    },
  }
}

async function sign(
  { payer, payee }: Parties,
  memo: string,
  lamports = LAMPORTS,
): Promise<VersionedTransaction> {
  const { blockhash } = await solana.connection.getLatestBlockhash('confirmed')
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 30_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000 }),
      SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payee.publicKey, lamports }),
      new TransactionInstruction({ programId: MEMO_PROGRAM, keys: [], data: Buffer.from(memo) }),
    ],
  })
  const transaction = new VersionedTransaction(message.compileToV0Message())
  transaction.sign([payer])
  return transaction
}

async function broadcast(transaction: VersionedTransaction): Promise<string> {
  return solana.connection.sendRawTransaction(transaction.serialize())
}

const receive = (
  { payee }: Parties,
  paymentProof: string,
  body: Partial<Parameters<typeof receivePayment>[2]> = {},
  as = actor,
) =>
  receivePayment(context, as, {
    walletAddress: payee.publicKey.toBase58(),
    paymentProof,
    expectedAmount: '0.01',
    resource: URL,
    timeout: 15,
    ...body,
  })

describe('a transfer that the service broadcasts', () => {
  test.each([1, 2] as const)(
    'lands and is received, in version %i, with its events',
    async (version) => {
      const all = await parties('order-1')
      const transaction = await sign(all, 'order-1')
      const answer = await receive(
        all,
        proveTransfer({ ...all.terms, version }, transaction.serialize()),
        { memo: 'order-1' },
      )
      expect(answer).toMatchObject({
        verified: true,
        alreadyProcessed: false,
        status: 'confirmed',
        sender: all.payer.publicKey.toBase58(),
        amountAtomic: LAMPORTS.toString(),
      })
      expect(answer.signature).toBe(bs58.encode(transaction.signatures[0] ?? new Uint8Array()))
      expect(await solana.connection.getBalance(all.payee.publicKey)).toBe(Number(LAMPORTS))
      const body = await readPaymentBody(context, answer.paymentId ?? '')
      expect(body).toMatchObject({ mode: 'received', resource: URL })
      expect(body.events.map(({ status }) => status)).toEqual(['pending', 'confirmed'])
    },
  )

  test('is received once: the same question gets the same payment, another one is refused', async () => {
    const all = await parties('order-2')
    await registerPayee(context, opened.actor.accountId, all.payee.publicKey.toBase58())
    const header = proveTransfer(all.terms, (await sign(all, 'order-2')).serialize())
    const first = await receive(all, header, { memo: 'order-2' })
    expect(await receive(all, header, { memo: 'order-2' })).toMatchObject({
      paymentId: first.paymentId,
      alreadyProcessed: true,
      verified: true,
    })
    expect(await refusal(receive(all, header, { memo: 'order-2', resource: undefined }))).toEqual(
      refused('already_used', 'single_use'),
    )
    expect(
      await refusal(receive(all, header, { memo: 'order-2' }, await openAccount(context))),
    ).toEqual(REFUSED_PAYEE)
    expect(await solana.connection.getBalance(all.payee.publicKey)).toBe(Number(LAMPORTS))
  })

  test('is one grant through both doors: what was broadcast here cannot be handed in as a payment of the payer', async () => {
    const all = await parties('order-3')
    const payee = all.payee.publicKey.toBase58()
    await registerPayee(context, opened.actor.accountId, payee)
    const answer = await receive(
      all,
      proveTransfer(all.terms, (await sign(all, 'order-3')).serialize()),
      { memo: 'order-3' },
    )
    const other = await openAccount(context)
    expect(
      await refusal(
        receive(all, proveMemo(all.terms, answer.signature), {
          memo: 'order-3',
          resource: undefined,
        }),
      ),
    ).toEqual(refused('already_used', 'single_use'))
    await releasePayee(context, opened.actor.accountId, payee)
    expect(
      await refusal(
        receive(all, proveMemo(all.terms, answer.signature), { memo: 'order-3' }, other),
      ),
    ).toEqual(refused('already_used', 'single_use'))
  })

  test('and that the payer has broadcast already is received as it landed', async () => {
    const all = await parties('order-4')
    const transaction = await sign(all, 'order-4')
    await broadcast(transaction)
    expect(
      await receive(all, proveTransfer(all.terms, transaction.serialize()), { memo: 'order-4' }),
    ).toMatchObject({ verified: true })
  })

  test('of many calls at once is broadcast once and granted once', async () => {
    const all = await parties('order-5')
    const header = proveTransfer(all.terms, (await sign(all, 'order-5')).serialize())
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => receive(all, header, { memo: 'order-5' })),
    )
    expect(answers.filter(({ alreadyProcessed }) => !alreadyProcessed)).toHaveLength(1)
    expect(await solana.connection.getBalance(all.payee.publicKey)).toBe(Number(LAMPORTS))
  })

  test('that the network would refuse is refused before it is recorded', async () => {
    const all = await parties('order-6')
    await solana.setAccount(all.payer.publicKey.toBase58(), { lamports: LAMPORTS / 2n })
    expect(
      await refusal(
        receive(all, proveTransfer(all.terms, (await sign(all, 'order-6')).serialize()), {
          memo: 'order-6',
        }),
      ),
    ).toEqual(refused('simulation_failed', 'simulation'))
  })

  test.each([
    [
      'a signature that is not the payer’s',
      'invalid_signature',
      'signatures',
      (transaction: VersionedTransaction) => transaction.signatures[0]?.fill(7),
    ],
    ['bytes that are no transaction', 'malformed', 'transaction', undefined],
  ])('with %s is refused', async (_, reason, check, change) => {
    const all = await parties('order-7')
    const transaction = await sign(all, 'order-7')
    change?.(transaction)
    const bytes = change ? transaction.serialize() : new Uint8Array([1, 2, 3])
    expect(
      await refusal(receive(all, proveTransfer(all.terms, bytes), { memo: 'order-7' })),
    ).toEqual(refused(reason, check))
  })

  test('and whose memo names an order keeps that order open for as long as it can land', async () => {
    const all = await parties('order')
    const { paymentId } = await buildTransaction(context, actor, {
      walletAddress: all.payer.publicKey.toBase58(),
      recipientAddress: all.terms.payTo,
      amount: '0.01',
      resource: URL,
    })
    const before = await findPayment(context.db, paymentId)
    // A wallet may take a newer blockhash than the one the order was built with.
    const newer = await eventually(
      () => solana.connection.getLatestBlockhash('confirmed'),
      ({ lastValidBlockHeight }) =>
        lastValidBlockHeight > (before?.lastValidBlockHeight ?? Infinity),
    )
    const transaction = await sign(all, paymentId)
    const terms = { ...all.terms, memo: paymentId }
    expect(await receive(all, proveTransfer(terms, transaction.serialize()))).toMatchObject({
      verified: true,
      paymentId,
    })
    const after = await findPayment(context.db, paymentId)
    expect(after?.lastValidBlockHeight).toBeGreaterThanOrEqual(newer.lastValidBlockHeight)
  })

  test('with another memo, amount or payee is refused', async () => {
    const all = await parties('order-8')
    const other = await parties('order-8')
    const refuse = async (transaction: VersionedTransaction) =>
      refusal(receive(all, proveTransfer(all.terms, transaction.serialize()), { memo: 'order-8' }))
    expect(await refuse(await sign(all, 'order-9'))).toEqual(refused('memo_mismatch', 'memo'))
    expect(await refuse(await sign(all, 'order-8', LAMPORTS - 1n))).toEqual(
      refused('amount_mismatch', 'lamports'),
    )
    expect(await refuse(await sign({ ...all, payee: other.payee }, 'order-8'))).toEqual(
      refused('recipient_mismatch', 'destination'),
    )
  })

  test('without a memo that was asked for is refused unless the account gave its memo out', async () => {
    const all = await parties('order-10')
    expect(
      await refusal(
        receive(all, proveTransfer(all.terms, (await sign(all, 'order-10')).serialize())),
      ),
    ).toEqual(refused('memo_mismatch', 'memo'))
  })

  test('for a payment that this account gave out is that payment', async () => {
    const all = await parties('')
    const built = await give(all)
    const transaction = VersionedTransaction.deserialize(Buffer.from(built.transaction, 'base64'))
    transaction.sign([all.payer])
    const answer = await receive(all, proveTransfer(all.terms, transaction.serialize()))
    expect(answer).toMatchObject({ paymentId: built.paymentId, verified: true })
    const { events } = await readPaymentBody(context, built.paymentId)
    expect(events.map(({ status }) => status)).toEqual(['created', 'pending', 'confirmed'])
  })

  test('that a node lost is pending with its payment, and a repetition sends the same bytes again', async () => {
    const all = await parties('order-11')
    const header = proveTransfer(all.terms, (await sign(all, 'order-11')).serialize())
    clock.swallowing = true
    const waiting = await receive(all, header, { memo: 'order-11', timeout: 1 }).finally(
      () => (clock.swallowing = false),
    )
    expect(waiting).toMatchObject({
      verified: false,
      status: 'pending',
      paymentId: expect.stringMatching(/^pay_/),
    })
    const { paymentId } = waiting
    expect(await receive(all, header, { memo: 'order-11' })).toMatchObject({
      paymentId,
      verified: true,
      alreadyProcessed: false,
    })
    expect(await receive(all, header, { memo: 'order-11' })).toMatchObject({
      paymentId,
      verified: true,
      alreadyProcessed: true,
    })
    const told = await context.db
      .select()
      .from(event)
      .where(eq(event.paymentId, paymentId ?? ''))
      .orderBy(event.id)
    expect(told.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      'payment pending',
      'verification pending',
      'payment confirmed',
      'settlement confirmed',
    ])
    expect(await solana.connection.getBalance(all.payee.publicKey)).toBe(Number(LAMPORTS))
  })

  test('that can no longer land fails, and its proof is refused from then on', async () => {
    const all = await parties('order-12')
    const header = proveTransfer(all.terms, (await sign(all, 'order-12')).serialize())
    // The node drops the bytes, no matter who sends them, until it has forgotten their blockhash.
    clock.swallowing = true
    onTestFinished(() => void (clock.swallowing = false))
    const { paymentId } = await receive(all, header, { memo: 'order-12', timeout: 1 })
    const chain = context.chains.get(solana.network.network)
    if (!chain || !paymentId) throw new Error('no payment')
    await eventually(
      async () => {
        await pollOnce(context, chain, { expiredToo: false })
        return readPaymentBody(context, paymentId)
      },
      ({ status }) => status === 'failed',
    )
    expect(await refusal(receive(all, header, { memo: 'order-12' }))).toEqual(
      refused('transaction_failed', 'transaction'),
    )
    expect(await solana.connection.getBalance(all.payee.publicKey)).toBe(0)
  })
})

describe('a transfer that the payer broadcast', () => {
  test('is received by its memo, and followed to finality', async () => {
    const all = await parties('order-20')
    const txRef = await broadcast(await sign(all, 'order-20'))
    const answer = await receive(all, proveMemo(all.terms, txRef), { memo: 'order-20' })
    expect(answer).toMatchObject({
      verified: true,
      signature: txRef,
      sender: all.payer.publicKey.toBase58(),
    })
    const chain = context.chains.get(solana.network.network)
    if (!chain || !answer.paymentId) throw new Error('no payment')
    const id = answer.paymentId
    await eventually(
      async () => {
        await pollOnce(context, chain, { expiredToo: false })
        return readPaymentBody(context, id)
      },
      ({ status }) => status === 'finalized',
    )
  })

  test('as a transaction of version 1 is received by its memo, and by nothing else', async () => {
    const all = await parties('order-26')
    const { blockhash: recentBlockhash } = await solana.connection.getLatestBlockhash('confirmed')
    const signed = signVersion1(all.payer, {
      recentBlockhash,
      instructions: [
        SystemProgram.transfer({
          fromPubkey: all.payer.publicKey,
          toPubkey: all.payee.publicKey,
          lamports: LAMPORTS,
        }),
        new TransactionInstruction({
          programId: MEMO_PROGRAM,
          keys: [],
          data: Buffer.from('order-26'),
        }),
      ],
    })
    // Nobody was asked to sign such a transaction: it is no proof while it is not on the chain.
    expect(
      await refusal(receive(all, proveTransfer(all.terms, signed), { memo: 'order-26' })),
    ).toMatchObject(refused('malformed', 'transaction'))
    const txRef = await solana.connection.sendRawTransaction(signed)
    const header = proveMemo(all.terms, txRef)
    expect(await refusal(receive(all, header, { memo: 'order-27' }))).toEqual(
      refused('memo_mismatch', 'memo'),
    )
    const answer = await receive(all, header, { memo: 'order-26' })
    expect(answer).toMatchObject({ verified: true, signature: txRef })
    expect(await receive(all, header, { memo: 'order-26' })).toMatchObject({
      verified: true,
      alreadyProcessed: true,
      paymentId: answer.paymentId,
    })
  })

  test('of a version that cannot be read is pending, not refused', async () => {
    const all = await parties('order-28')
    const txRef = await broadcast(await sign(all, 'order-28'))
    await using gate = await startGate(clock.url)
    gate.lie = hidesNewer(txRef)
    await using own = await openContext([{ ...solana.network, rpcUrls: [gate.url] }])
    const present = () =>
      receivePayment(own.context, own.actor, {
        walletAddress: all.payee.publicKey.toBase58(),
        paymentProof: proveMemo(all.terms, txRef),
        expectedAmount: '0.01',
        resource: URL,
        memo: 'order-28',
        timeout: 1,
      })
    expect(await present()).toMatchObject({ verified: false, status: 'pending', paymentId: null })
    gate.lie = undefined
    expect(await present()).toMatchObject({ verified: true, signature: txRef })
  })

  test('whose memo is another, or none of this account’s, is refused', async () => {
    const all = await parties('order-21')
    const header = proveMemo(all.terms, await broadcast(await sign(all, 'order-21')))
    expect(await refusal(receive(all, header, { memo: 'order-22' }))).toEqual(
      refused('memo_mismatch', 'memo'),
    )
    expect(await refusal(receive(all, header))).toEqual(refused('memo_mismatch', 'memo'))
  })

  test('for a payment that this account gave out buys its resource and no other', async () => {
    const all = await parties('')
    const built = await give(all)
    const transaction = VersionedTransaction.deserialize(Buffer.from(built.transaction, 'base64'))
    transaction.sign([all.payer])
    const header = proveMemo(all.terms, await broadcast(transaction))
    const elsewhere = alter(header, (value) => ({ ...value, resource: { url: `${URL}/other` } }))
    expect(await refusal(receive(all, elsewhere, { resource: `${URL}/other` }))).toEqual(
      refused('resource_mismatch', 'memo_resource'),
    )
    expect(await refusal(receive(all, header, {}, await openAccount(context)))).toEqual(
      refused('memo_mismatch', 'memo'),
    )
    expect(await receive(all, header)).toMatchObject({
      paymentId: built.paymentId,
      verified: true,
      status: expect.stringMatching(/confirmed|finalized/),
    })
  })

  test.each([
    ['a payment link', { metadata: { paymentLink: 'lnk_1' } }],
    ['a payment link for the resource', { metadata: { paymentLink: 'lnk_1' }, resource: URL }],
    ['an order without a resource', {}],
  ])('for %s buys no resource, before and after it is confirmed', async (_, order) => {
    const all = await parties('')
    const built = await give(all, order)
    const transaction = VersionedTransaction.deserialize(Buffer.from(built.transaction, 'base64'))
    transaction.sign([all.payer])
    const header = proveMemo(all.terms, await broadcast(transaction))
    expect(await refusal(receive(all, header, { resource: undefined }))).toEqual(
      refused('already_used', 'paid_order'),
    )
    const chain = context.chains.get(solana.network.network)
    if (!chain) throw new Error('no chain')
    await eventually(
      async () => {
        await pollOnce(context, chain, { expiredToo: false })
        return readPaymentBody(context, built.paymentId)
      },
      ({ status }) => status === 'confirmed' || status === 'finalized',
    )
    expect(await refusal(receive(all, header, { resource: undefined }))).toEqual(
      refused('already_used', 'paid_order'),
    )
  })

  test.each([
    ['less', LAMPORTS - 1n],
    ['more', LAMPORTS + 1n],
  ])('of %s than asked is refused', async (_, lamports) => {
    const all = await parties('order-23')
    const header = proveMemo(all.terms, await broadcast(await sign(all, 'order-23', lamports)))
    expect(await refusal(receive(all, header, { memo: 'order-23' }))).toEqual(
      refused('amount_mismatch', 'paid_amount'),
    )
  })

  test('to another recipient, or from a payer other than the stated one, is refused', async () => {
    const all = await parties('order-24')
    const other = await parties('order-24')
    const away = proveMemo(
      all.terms,
      await broadcast(await sign({ ...all, payee: other.payee }, 'order-24')),
    )
    expect(await refusal(receive(all, away, { memo: 'order-24' }))).toEqual(
      refused('recipient_mismatch', 'paid_to'),
    )
    const stolen = proveMemo(
      all.terms,
      await broadcast(await sign(all, 'order-24')),
      other.payer.publicKey.toBase58(),
    )
    expect(await refusal(receive(all, stolen, { memo: 'order-24' }))).toEqual(
      refused('payer_mismatch', 'payer'),
    )
  })

  test('that nobody knows is pending, not refused', async () => {
    const all = await parties('order-25')
    const txRef = bs58.encode((await sign(all, 'order-25')).signatures[0] ?? new Uint8Array(64))
    expect(
      await receive(all, proveMemo(all.terms, txRef), { memo: 'order-25', timeout: 1 }),
    ).toMatchObject({
      verified: false,
      status: 'pending',
      paymentId: null,
      sender: null,
    })
  })
})

async function give(
  { payer, payee }: Parties,
  order: { resource?: string; metadata?: Record<string, unknown> } = { resource: URL },
) {
  return buildTransaction(context, actor, {
    walletAddress: payer.publicKey.toBase58(),
    recipientAddress: payee.publicKey.toBase58(),
    amount: '0.01',
    ...order,
  })
}
