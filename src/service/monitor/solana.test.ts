import {
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  VersionedTransaction,
  type Keypair,
} from '@solana/web3.js'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { signVersion1 } from '#testing/chain-payments.ts'
import {
  hidesNewer,
  listsNewer,
  startGate,
  startSolana,
  type ListedPage,
  type SolanaFixture,
} from '#testing/local-chains.ts'
import { sendWithMemo, type MemoTransfer } from '#testing/memo-transfer.ts'
import { eventually, openContext, type OpenedContext } from '#testing/service-context.ts'
import { createChains } from '../service.ts'
import type { Actor, Context } from '../context/context.ts'
import { findPayment } from '../db/payments.ts'
import { buildTransaction } from '../payments/build.ts'
import { reportSubmitted } from './report.ts'
import { readPaymentBody } from '../payments/status.ts'
import { pollOnce } from './poll.ts'
import { startWatchers, type Watchers } from './start.ts'

const SOL = 1_000_000_000n
const MEMO_PROGRAM = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')

let solana: SolanaFixture
let opened: OpenedContext
let context: Context
let actor: Actor
let watchers: Watchers[]

beforeAll(async () => {
  solana = await startSolana({ slotTimeMs: 20 })
  opened = await openContext([solana.network])
  context = opened.context
  actor = opened.actor
  watchers = [startWatchers(context)]
})

afterAll(async () => {
  await Promise.all(watchers.map((watcher) => watcher.stop()))
  await opened[Symbol.asyncDispose]()
  await solana[Symbol.asyncDispose]()
})

type Built = Awaited<ReturnType<typeof buildTransaction>>

async function build(payer: Keypair, payee: Keypair, priorityFee?: string): Promise<Built> {
  const addresses = {
    walletAddress: payer.publicKey.toBase58(),
    recipientAddress: payee.publicKey.toBase58(),
  }
  return buildTransaction(context, actor, {
    ...addresses,
    amount: '0.1',
    ...(priorityFee && { priorityFee }),
  })
}

async function send(payer: Keypair, built: Built): Promise<string> {
  const transaction = VersionedTransaction.deserialize(Buffer.from(built.transaction, 'base64'))
  transaction.sign([payer])
  return solana.connection.sendRawTransaction(transaction.serialize())
}

const sendOwn = (payer: Keypair, payee: Keypair, transfer: MemoTransfer) =>
  sendWithMemo(solana, { payer, payee }, transfer)

async function untilStatus(built: Built, status: string) {
  return eventually(
    () => readPaymentBody(context, built.paymentId),
    (body) => body.status === status,
  )
}

/**
 * Works as if so much time had passed. The clock is that of the whole process: the watchers stop for it, as what they noted of
 * the future would count as fresh for as long afterwards.
 */
async function later(ms: number, work: () => Promise<unknown>): Promise<void> {
  await Promise.all(watchers.map((watcher) => watcher.stop()))
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + ms)
  try {
    await work()
  } finally {
    clock.mockRestore()
    watchers = [startWatchers(context)]
  }
}

async function parties() {
  const [payer, payee] = await Promise.all([solana.wallet(SOL), solana.wallet(SOL)])
  return { payer, payee }
}

test('a reported payment goes from created over pending and confirmed to finalized, with the fee that was really paid', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee, '0.00001')
  const signature = await send(payer, built)
  await reportSubmitted(context, actor, { paymentId: built.paymentId, signature })
  const final = await untilStatus(built, 'finalized')
  expect(final).toMatchObject({ signature, confirmations: 32, requiredConfirmations: 32 })
  expect(final.events.map(({ status }) => status)).toEqual([
    'created',
    'pending',
    'confirmed',
    'finalized',
  ])
  const left = BigInt(await solana.connection.getBalance(payer.publicKey))
  expect(final.fee?.amountAtomic).toBe((SOL - SOL / 10n - left).toString())
  expect(final.fee?.amountAtomic).toBe('15000')
})

test('a payment nobody reports is found by its memo', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee)
  const signature = await send(payer, built)
  expect(await untilStatus(built, 'confirmed')).toMatchObject({ signature })
})

test('a payment that the wallet makes as a transaction of version 1 is found by its memo, and becomes final', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee)
  const { blockhash: recentBlockhash } = await solana.connection.getLatestBlockhash()
  const signature = await solana.connection.sendRawTransaction(
    signVersion1(payer, {
      recentBlockhash,
      instructions: [
        SystemProgram.transfer({
          fromPubkey: payer.publicKey,
          toPubkey: payee.publicKey,
          lamports: SOL / 10n,
        }),
        new TransactionInstruction({
          programId: MEMO_PROGRAM,
          keys: [],
          data: Buffer.from(built.paymentId),
        }),
      ],
    }),
  )
  const final = await untilStatus(built, 'finalized')
  expect(final).toMatchObject({ signature, fee: { amountAtomic: '5000' } })
})

/** A service that asks the node through so many gates, and orders of it: nothing looks for them but `poll`. */
async function openGated(count = 1) {
  await using stack = new AsyncDisposableStack()
  const gates: Awaited<ReturnType<typeof startGate>>[] = []
  while (gates.length < count) gates.push(stack.use(await startGate(solana.rpcUrl)))
  const rpcUrls = gates.map(({ url }) => url)
  const own = stack.use(await openContext([{ ...solana.network, rpcUrls }]))
  const [chain] = own.context.chains.values()
  const [first, second = first] = gates
  if (!chain || !first || !second) throw new Error('no chain')
  const running = stack.move()
  return {
    gate: first,
    second,
    order: (from: Keypair, to: Keypair) =>
      buildTransaction(own.context, own.actor, {
        walletAddress: from.publicKey.toBase58(),
        recipientAddress: to.publicKey.toBase58(),
        amount: '0.1',
      }),
    report: (built: Built, signature: string) =>
      reportSubmitted(own.context, own.actor, { paymentId: built.paymentId, signature }),
    reportOf: async ({ paymentId }: Built) =>
      (await findPayment(own.context.db, paymentId))?.reportedSignature,
    body: (built: Built) => readPaymentBody(own.context, built.paymentId),
    poll: async () => (await pollOnce(own.context, chain, { expiredToo: false })).failures,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** Waits until an order cannot be paid any more by what was built for it. */
const untilLate = (...orders: readonly Built[]) =>
  eventually(
    () => solana.connection.getBlockHeight('finalized'),
    (height) => orders.every(({ lastValidBlockHeight }) => height > lastValidBlockHeight),
  )

/** Waits until transactions have other blockhashes than the one that was built for an order. */
function untilNewBlockhash(built: Built) {
  const { message } = VersionedTransaction.deserialize(Buffer.from(built.transaction, 'base64'))
  return eventually(
    () => solana.connection.getLatestBlockhash(),
    ({ blockhash }) => blockhash !== message.recentBlockhash,
  )
}

/** A transaction for an order that has failed and is final. */
async function fail(payer: Keypair, payee: Keypair, { paymentId: memo }: Built): Promise<string> {
  const signature = await sendOwn(payer, payee, { lamports: SOL / 10n, memo, units: 200 })
  await eventually(
    () => solana.connection.getSignatureStatus(signature, { searchTransactionHistory: true }),
    ({ value }) => value?.confirmationStatus === 'finalized' && value.err !== null,
  )
  return signature
}

test('a transaction of a version that cannot be read, with the memo of an order, ends the order neither way', async () => {
  await using own = await openGated()
  const { gate } = own
  const { payer, payee } = await parties()
  const built = await own.order(payer, payee)
  const signature = await sendOwn(payer, payee, { lamports: SOL / 10n, memo: built.paymentId })
  gate.lie = hidesNewer(signature)
  const poll = async () => {
    expect(await own.poll()).toEqual([])
    return own.body(built)
  }
  await untilLate(built)
  expect(await poll()).toMatchObject({ status: 'created' })
  expect(await poll()).toMatchObject({ status: 'created' })
  gate.lie = undefined
  expect(await eventually(poll, ({ status }) => status === 'finalized')).toMatchObject({
    signature,
  })
})

test('an order does not expire while a payment may lie behind more transactions of its payer and its payee than are read', async () => {
  await using own = await openGated()
  const { gate } = own
  const { payer, payee } = await parties()
  const built = await own.order(payer, payee)
  const signature = await sendOwn(payer, payee, { lamports: SOL / 10n, memo: built.paymentId })
  await untilLate(built)
  const slot = await solana.connection.getSlot()
  const poll = async () => {
    await own.poll()
    return own.body(built)
  }
  const sender = payer.publicKey.toBase58()
  gate.lie = listsNewer({ slot, count: 20_001 })
  expect(await poll()).toMatchObject({ status: 'created' })
  // A proof reads further than a search, and finds it: once it was proven that it is no other one, the order would be over.
  const read: string[] = []
  gate.lie = listsNewer({ slot, count: 7_000, onPage: ({ address }) => read.push(address) })
  await later(60_000, async () => {
    expect(await poll()).toMatchObject({ status: 'created' })
    await eventually(poll, () => read.filter((address) => address === sender).length > 20)
    expect(await poll()).toMatchObject({ status: 'created' })
  })
  gate.lie = undefined
  expect(await eventually(poll, ({ status }) => status === 'finalized')).toMatchObject({
    signature,
  })
})

/** Two orders of one payee that nobody pays, past their deadline, and the lists of their payers that proofs begin to read. */
async function lateOrders() {
  const own = await openGated()
  const { payer, payee } = await parties()
  const other = await solana.wallet(SOL)
  const [busy, quiet] = [await own.order(payer, payee), await own.order(other, payee)]
  const [proofs, pages]: [string[], string[]] = [[], []]
  return {
    gate: own.gate,
    payer,
    payee,
    busy,
    proofs,
    pages,
    untilLate: () => untilLate(busy, quiet),
    /** A search begins with a page of 100, a proof with one of 1,000. */
    onPage: ({ address, limit, before }: ListedPage) => {
      pages.push(address)
      if (limit === 1_000 && before === undefined) proofs.push(address)
    },
    look: async () => {
      expect(await own.poll()).toEqual([])
      return { busy: (await own.body(busy)).status, quiet: (await own.body(quiet)).status }
    },
    [Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
  }
}

test('an order expires although its payer has more transactions than are read, where its payee has fewer', async () => {
  await using orders = await lateOrders()
  const { gate, payer, onPage, look } = orders
  await orders.untilLate()
  const slot = await solana.connection.getSlot()
  gate.lie = listsNewer({ slot, count: 20_001, of: [payer.publicKey.toBase58()], onPage })
  expect(await look()).toMatchObject({ busy: 'created' })
  expect(await eventually(look, ({ busy }) => busy !== 'created')).toMatchObject({
    busy: 'expired',
  })
})

test('an absence that cannot be proven is read once a minute in the background, and the other payments of the round end', async () => {
  await using orders = await lateOrders()
  const { gate, payer, payee, proofs, pages, onPage, look } = orders
  await orders.untilLate()
  const slot = await solana.connection.getSlot()
  const [sender, receiver] = [payer.publicKey.toBase58(), payee.publicKey.toBase58()]
  gate.lie = listsNewer({ slot, count: 20_001, of: [sender, receiver], onPage })
  gate.delayMs = 20
  expect(await look()).toEqual({ busy: 'created', quiet: 'expired' })
  // The 20 pages of the payer are still being read.
  expect(pages.filter((address) => address === sender).length).toBeLessThan(20)
  gate.delayMs = 0
  await eventually(look, () => proofs.includes(receiver))
  const once = proofs.filter((address) => address === sender).length
  for (let round = 0; round < 3; round++) expect(await look()).toMatchObject({ busy: 'created' })
  expect(proofs.filter((address) => address === sender)).toHaveLength(once)
  await later(120_000, () =>
    eventually(look, () => proofs.filter((address) => address === receiver).length > 1),
  )
})

test('a failure for the code of an order that is not final at the deadline keeps the order open until it is, and no minute longer', async () => {
  await using orders = await lateOrders()
  const { gate, payer, payee, busy, look } = orders
  await orders.untilLate()
  const failed = await fail(payer, payee, busy)
  // As if it had landed just now.
  gate.lie = (asked, answer) => {
    if (!asked.includes('"getSignaturesForAddress"')) return answer
    const told = JSON.parse(answer) as { result: { signature: string; slot: number }[] }
    const result = told.result.map((each) =>
      each.signature === failed ? { ...each, slot: each.slot + 1_000_000 } : each,
    )
    return JSON.stringify({ ...told, result })
  }
  expect(await look()).toMatchObject({ busy: 'created' })
  gate.lie = undefined
  expect(await look()).toMatchObject({ busy: 'expired' })
})

test('what is found of an order that failed replaces no report of its payer', async () => {
  await using own = await openGated()
  const { payer, payee } = await parties()
  const built = await own.order(payer, payee)
  await untilNewBlockhash(built)
  await fail(payer, payee, built)
  const reported = '5'.repeat(87)
  await own.report(built, reported)
  for (let times = 0; times < 2; times++) expect(await own.poll()).toEqual([])
  expect(await own.reportOf(built)).toBe(reported)
})

test('an order that a payer names in a transaction of another amount is read once a minute', async () => {
  await using orders = await lateOrders()
  const { gate, payer, payee, busy, proofs, onPage, look } = orders
  await sendOwn(payer, payee, { lamports: 1n, memo: busy.paymentId })
  await orders.untilLate()
  gate.lie = listsNewer({ slot: 0, count: 0, onPage })
  for (let round = 0; round < 3; round++) expect(await look()).toMatchObject({ busy: 'created' })
  const sender = payer.publicKey.toBase58()
  expect(proofs.filter((address) => address === sender)).toHaveLength(1)
  await later(60_000, async () => expect(await look()).toMatchObject({ busy: 'created' }))
  expect(proofs.filter((address) => address === sender)).toHaveLength(2)
})

test('of two equal payments each transaction pays its own', async () => {
  const { payer, payee } = await parties()
  const [first, second] = [await build(payer, payee), await build(payer, payee)]
  const signature = await send(payer, second)
  await untilStatus(second, 'confirmed')
  await expect(
    reportSubmitted(context, actor, { paymentId: first.paymentId, signature }),
  ).rejects.toMatchObject({ code: 'INVALID_PARAMETERS' })
  expect(await readPaymentBody(context, first.paymentId)).toMatchObject({
    status: 'created',
    signature: null,
  })
})

test('a transaction with the right memo and another amount, or from another payer, pays nothing and blocks nothing', async () => {
  const { payer, payee } = await parties()
  const stranger = await solana.wallet(SOL)
  const built = await build(payer, payee)
  const less = await sendOwn(payer, payee, { lamports: SOL / 10n - 1n, memo: built.paymentId })
  const notTheirs = await sendOwn(stranger, payer, { lamports: SOL / 10n, memo: built.paymentId })
  await eventually(
    () => solana.connection.getSignatureStatuses([less, notTheirs]),
    // On a busy machine both may be final before anybody looks.
    ({ value }) =>
      value.every((status) => (status?.confirmationStatus ?? 'processed') !== 'processed'),
  )
  for (const signature of [less, notTheirs]) {
    await expect(
      reportSubmitted(context, actor, { paymentId: built.paymentId, signature }),
    ).rejects.toMatchObject({ code: 'INVALID_PARAMETERS' })
  }
  const signature = await send(payer, built)
  expect(await untilStatus(built, 'confirmed')).toMatchObject({ signature })
})

test('a report of nothing known leaves the payment created until it is found', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee)
  const unknown = '5'.repeat(87)
  expect(
    await reportSubmitted(context, actor, { paymentId: built.paymentId, signature: unknown }),
  ).toMatchObject({ status: 'created' })
  const signature = await send(payer, built)
  expect(await untilStatus(built, 'confirmed')).toMatchObject({ signature })
})

test.each(['0x'.padEnd(66, 'a'), 'abc', '5'.repeat(90), ''])(
  'a report of %j is refused by its shape',
  async (signature) => {
    const { payer, payee } = await parties()
    const built = await build(payer, payee)
    await expect(
      reportSubmitted(context, actor, { paymentId: built.paymentId, signature }),
    ).rejects.toMatchObject({
      code: 'INVALID_PARAMETERS',
      facts: { details: { signature: expect.any(String) } },
    })
  },
)

test('a payment nobody signs expires once its blockhash is finally out of date, not before; a late transaction with its memo still pays it', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee)
  const expired = await untilStatus(built, 'expired')
  expect(await solana.connection.getBlockHeight('finalized')).toBeGreaterThan(
    built.lastValidBlockHeight,
  )
  expect(expired.events.map(({ status }) => status)).toEqual(['created', 'expired'])
  await expect(send(payer, built)).rejects.toThrow(/Blockhash not found/i)

  const signature = await sendOwn(payer, payee, { lamports: SOL / 10n, memo: built.paymentId })
  await eventually(
    () => solana.connection.getSignatureStatuses([signature]),
    ({ value }) => value[0]?.confirmationStatus === 'confirmed',
  )
  await reportSubmitted(context, actor, { paymentId: built.paymentId, signature })
  const paid = await untilStatus(built, 'finalized')
  expect(paid.events.map(({ status }) => status)).toEqual([
    'created',
    'expired',
    'confirmed',
    'finalized',
  ])
})

test('a payment that lands and fails has failed, once that is final', async () => {
  const { payer, payee } = await parties()
  const built = await build(payer, payee)
  await solana.setAccount(payer.publicKey.toBase58(), { lamports: SOL / 20n })
  const transaction = VersionedTransaction.deserialize(Buffer.from(built.transaction, 'base64'))
  transaction.sign([payer])
  const signature = await solana.connection.sendRawTransaction(transaction.serialize(), {
    skipPreflight: true,
  })
  const failed = await untilStatus(built, 'failed')
  expect(failed).toMatchObject({ signature, failure: expect.stringContaining('landed and failed') })
  expect(failed.events.map(({ status }) => status)).toEqual(['created', 'pending', 'failed'])
})

test.each(['before', 'after'])(
  'a wallet whose transaction for the code of an order failed may pay by the same code %s the order expires',
  async (when) => {
    const { payer, payee } = await parties()
    const built = await build(payer, payee)
    await untilNewBlockhash(built)
    await fail(payer, payee, built)
    if (when === 'after') {
      const { events } = await untilStatus(built, 'expired')
      expect(events.map(({ status }) => status)).toEqual(['created', 'expired'])
    }
    const paying = { lamports: SOL / 10n, memo: built.paymentId }
    const signature = await sendOwn(payer, payee, paying)
    if (when === 'after')
      await reportSubmitted(context, actor, { paymentId: built.paymentId, signature })
    expect(await untilStatus(built, 'finalized')).toMatchObject({ signature, failure: null })
  },
)

const isNotFinal = (_: string, answer: string) =>
  answer.replaceAll('"confirmationStatus":"finalized"', '"confirmationStatus":"confirmed"')

/** A service with two endpoints, and an order whose payer makes transactions on later blockhashes. */
async function orderAtTwo() {
  const own = await openGated(2)
  const { payer, payee } = await parties()
  const built = await own.order(payer, payee)
  await untilNewBlockhash(built)
  return {
    built,
    report: (signature: string) => own.report(built, signature),
    first: own.gate,
    second: own.second,
    payer,
    pay: () => sendOwn(payer, payee, { lamports: SOL / 10n, memo: built.paymentId }),
    fail: () => fail(payer, payee, built),
    look: async () => {
      expect(await own.poll()).toEqual([])
      return own.body(built)
    },
    [Symbol.asyncDispose]: () => own[Symbol.asyncDispose](),
  }
}

test.each(['reported', 'found'])(
  'a wallet may pay by the same code although one of two endpoints did not show its %s failure as final at first',
  async (how) => {
    await using order = await orderAtTwo()
    const failed = await order.fail()
    order.second.lie = isNotFinal
    if (how === 'reported') await order.report(failed)
    expect(await order.look()).toMatchObject({ status: 'created' })
    expect(await order.look()).toMatchObject({ status: 'created' })
    order.second.lie = undefined
    expect(await order.look()).toMatchObject({ status: 'created' })
    const signature = await order.pay()
    expect(await eventually(order.look, ({ status }) => status === 'finalized')).toMatchObject({
      signature,
      failure: null,
    })
  },
)

test('a failed transaction of the wallet ends no order while the one that the service built is under way', async () => {
  await using order = await orderAtTwo()
  const { built, payer, first, second } = order
  await solana.setAccount(payer.publicKey.toBase58(), { lamports: SOL / 20n })
  const transaction = VersionedTransaction.deserialize(Buffer.from(built.transaction, 'base64'))
  transaction.sign([payer])
  const signature = await solana.connection.sendRawTransaction(transaction.serialize(), {
    skipPreflight: true,
  })
  const notFinal = (asked: string, answer: string) =>
    asked.includes(signature) ? isNotFinal(asked, answer) : answer
  first.lie = second.lie = notFinal
  expect(await eventually(order.look, ({ status }) => status !== 'created')).toMatchObject({
    status: 'pending',
  })
  await order.fail()
  expect(await order.look()).toMatchObject({ status: 'pending' })
  expect(await order.look()).toMatchObject({ status: 'pending' })
  first.lie = second.lie = undefined
  expect(await eventually(order.look, ({ status }) => status === 'failed')).toMatchObject({
    signature,
  })
})

test.each(['is paid by the same code', 'fails at its deadline'])(
  'an order whose confirmed transaction finally failed, made by the wallet, %s',
  async (end) => {
    await using order = await orderAtTwo()
    const failed = await order.fail()
    const succeeded = (asked: string, answer: string) =>
      isNotFinal(
        asked,
        answer
          .replaceAll(/"err":\{"InstructionError".*?\]\}/g, '"err":null')
          .replaceAll(/"status":\{"Err".*?\]\}\}/g, '"status":{"Ok":null}'),
      )
    order.first.lie = order.second.lie = succeeded
    expect(await eventually(order.look, ({ status }) => status !== 'created')).toMatchObject({
      status: 'confirmed',
      signature: failed,
    })
    order.first.lie = order.second.lie = undefined
    expect(await order.look()).toMatchObject({ status: 'rolled_back' })
    expect(await order.look()).toMatchObject({ status: 'rolled_back' })
    if (end === 'fails at its deadline') {
      expect(await eventually(order.look, ({ status }) => status !== 'rolled_back')).toMatchObject({
        status: 'failed',
        failure: expect.stringContaining('landed and failed'),
      })
      return
    }
    const signature = await order.pay()
    expect(await eventually(order.look, ({ status }) => status === 'finalized')).toMatchObject({
      signature,
      failure: null,
    })
  },
)

test('two watching processes write each event once', async () => {
  watchers.push(startWatchers({ ...context, chains: createChains([solana.network]) }))
  const { payer, payee } = await parties()
  const built = await build(payer, payee)
  await send(payer, built)
  const { events } = await untilStatus(built, 'finalized')
  expect(events.map(({ status }) => status)).toEqual([
    'created',
    'pending',
    'confirmed',
    'finalized',
  ])
})
