import { VersionedTransaction, type Keypair } from '@solana/web3.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGate, startSolana, type SolanaFixture } from '#testing/local-chains.ts'
import { sendWithMemo, type MemoTransfer } from '#testing/memo-transfer.ts'
import { eventually, openContext, ownWallet, type OpenedContext } from '#testing/service-context.ts'
import type { Chain } from '../chains/chain.ts'
import { buildTransaction } from '../payments/build.ts'
import { readPaymentBody } from '../payments/status.ts'
import { assignUnmatched } from '../payments/unmatched-assign.ts'
import { readUnmatched } from '../payments/unmatched.ts'
import { pollOnce } from './poll.ts'

/** Transfers whose memo names an order that is over on Solana: the money has arrived, and pays nothing. */

const SOL = 1_000_000_000n
const PAID = SOL / 10n

let solana: SolanaFixture
let gate: Awaited<ReturnType<typeof startGate>>
let opened: OpenedContext
let chain: Chain

beforeAll(async () => {
  solana = await startSolana({ slotTimeMs: 20 })
  gate = await startGate(solana.rpcUrl)
  opened = await openContext([{ ...solana.network, rpcUrls: [gate.url] }])
  const [first] = opened.context.chains.values()
  if (!first) throw new Error('no chain')
  chain = first
})
afterAll(async () => {
  await opened?.[Symbol.asyncDispose]()
  await gate?.[Symbol.asyncDispose]()
  await solana?.[Symbol.asyncDispose]()
})

async function poll(): Promise<void> {
  expect((await pollOnce(opened.context, chain, { expiredToo: true })).failures).toEqual([])
}

const body = (paymentId: string) => readPaymentBody(opened.context, paymentId)

async function follow(paymentId: string, ...statuses: readonly string[]) {
  const look = () => poll().then(() => body(paymentId))
  return eventually(look, ({ status }) => statuses.includes(status))
}

const order = (payer: Keypair, payee: Keypair, reference?: string) =>
  buildTransaction(opened.context, opened.actor, {
    walletAddress: payer.publicKey.toBase58(),
    recipientAddress: payee.publicKey.toBase58(),
    amount: '0.1',
    ...(reference !== undefined && { metadata: { referenceId: reference } }),
  })

/** What is listed of a payee, polled until so many are there. */
async function listed(payee: Keypair, count: number) {
  const read = async () => {
    await poll()
    const page = { limit: 100, offset: 0 }
    const { transfers } = await readUnmatched(opened.context, opened.actor, page)
    return transfers.filter(({ recipient }) => recipient === payee.publicKey.toBase58())
  }
  return eventually(read, (transfers) => transfers.length >= count)
}

/** Waits until the chain has all of them. */
const untilConfirmed = (signatures: readonly string[]) =>
  eventually(
    () =>
      solana.connection.getSignatureStatuses([...signatures], { searchTransactionHistory: true }),
    ({ value }) =>
      value.every((status) => (status?.confirmationStatus ?? 'processed') !== 'processed'),
  )

/** An order of an own wallet, and ways to send what names it. */
async function openOrder() {
  const [payer, payee] = await Promise.all([solana.wallet(SOL), solana.wallet(SOL)])
  await ownWallet(opened, payee.publicKey.toBase58())
  const built = await order(payer, payee)
  const memo = built.paymentId
  return {
    ...built,
    payer,
    payee,
    send: (from: Keypair, transfer: Partial<MemoTransfer> = {}) =>
      sendWithMemo(solana, { payer: from, payee }, { lamports: PAID, memo, ...transfer }),
  }
}

async function paidOrder() {
  const made = await openOrder()
  const signature = await made.send(made.payer)
  // On a busy machine a round may see both at once.
  await follow(made.paymentId, 'confirmed', 'finalized')
  return { ...made, signature }
}

test('what names a paid order is listed once as unmatched, with what arrived and from whom, and pays nothing', async () => {
  const { paymentId, payer, payee, send, signature } = await paidOrder()
  const [friend, stranger] = await Promise.all([solana.wallet(SOL), solana.wallet(SOL)])
  const [again, other, dust, failed] = [
    await send(payer, { lamports: PAID / 2n }),
    await send(friend),
    await send(stranger, { lamports: 1n }),
    await send(payer, { units: 200 }),
  ]
  await untilConfirmed([again, other, dust, failed])
  const money = await listed(payee, 2)
  expect(money).toHaveLength(2)
  expect(money).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        signature: again,
        sender: payer.publicKey.toBase58(),
        amountAtomic: (PAID / 2n).toString(),
        symbol: 'SOL',
        candidates: [],
        assigned: null,
        refundedBy: null,
      }),
      expect.objectContaining({
        signature: other,
        sender: friend.publicKey.toBase58(),
        amountAtomic: PAID.toString(),
      }),
    ]),
  )
  for (let times = 0; times < 2; times++) await poll()
  expect(await listed(payee, 2)).toHaveLength(2)
  expect(await follow(paymentId, 'finalized')).toMatchObject({ signature })
  expect(await listed(payee, 2)).toHaveLength(2)
})

test('what names an order is listed also where the order has failed', async () => {
  const { paymentId, transaction, payer, payee, send } = await openOrder()
  await solana.setAccount(payer.publicKey.toBase58(), { lamports: PAID / 2n })
  const built = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
  built.sign([payer])
  await solana.connection.sendRawTransaction(built.serialize(), { skipPreflight: true })
  await follow(paymentId, 'failed')
  await solana.setAccount(payer.publicKey.toBase58(), { lamports: SOL })
  const signature = await send(payer)
  expect(await listed(payee, 1)).toMatchObject([{ signature, amountAtomic: PAID.toString() }])
  expect(await body(paymentId)).toMatchObject({ status: 'failed' })
})

test('what names a paid order is refunded once, and fits no other order', async () => {
  const { payer, payee, send } = await paidOrder()
  // Other bytes than the first one's.
  const signature = await send(payer, { units: 50_000 })
  const [transfer] = await listed(payee, 1)
  const { paymentId: equal } = await order(payer, payee)
  const actor = opened.actor
  await expect(
    assignUnmatched(
      opened.context,
      { actor, transferId: transfer?.transferId ?? '' },
      { paymentId: equal },
    ),
  ).rejects.toMatchObject({ code: 'INVALID_PARAMETERS' })

  const refund = await order(payee, payer, signature)
  const { paymentId } = refund
  expect(await listed(payee, 1)).toMatchObject([{ refundedBy: { paymentId, status: 'created' } }])
  await expect(order(payee, payer, signature)).rejects.toMatchObject({
    code: 'INVALID_PARAMETERS',
    facts: { details: { reason: { code: 'transfer_refunded' } } },
  })
  const built = VersionedTransaction.deserialize(Buffer.from(refund.transaction, 'base64'))
  built.sign([payee])
  await solana.connection.sendRawTransaction(built.serialize())
  await follow(paymentId, 'finalized')
  expect(await listed(payee, 1)).toMatchObject([{ refundedBy: { paymentId, status: 'finalized' } }])
})

test('a transaction that names a paid order and is no money for it is read once', async () => {
  const { payee, send } = await paidOrder()
  const stranger = await solana.wallet(SOL)
  const dust = await send(stranger, { lamports: 1n })
  await untilConfirmed([dust])
  let reads = 0
  gate.lie = (asked, answer) => {
    if (asked.includes('"getTransaction"') && asked.includes(dust)) reads++
    return answer
  }
  for (let times = 0; times < 3; times++) await poll()
  gate.lie = undefined
  expect(reads).toBe(1)
  expect(await listed(payee, 0)).toEqual([])
})
