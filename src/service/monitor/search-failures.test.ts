import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGate, startSolana, type SolanaFixture } from '#testing/local-chains.ts'
import { sendWithMemo } from '#testing/memo-transfer.ts'
import { executeAsOwner } from '#testing/postgres.ts'
import { eventually, openContext } from '#testing/service-context.ts'
import { buildTransaction } from '../payments/build.ts'
import { readPaymentBody } from '../payments/status.ts'
import { pollOnce } from './poll.ts'

/** An RPC endpoint that does not list the transactions of one account. */

const SOL = 1_000_000_000n

let solana: SolanaFixture

beforeAll(async () => {
  solana = await startSolana({ slotTimeMs: 20 })
})
afterAll(() => solana?.[Symbol.asyncDispose]())

/** Three orders of different people, of which two are paid and not reported, and the first one's payee cannot be searched. */
async function openOrders() {
  await using stack = new AsyncDisposableStack()
  const gate = stack.use(await startGate(solana.rpcUrl))
  const { context, actor } = stack.use(
    await openContext([{ ...solana.network, rpcUrls: [gate.url] }]),
  )
  const [chain] = context.chains.values()
  if (!chain) throw new Error('no chain')
  const open = async () => {
    const [payer, payee] = await Promise.all([solana.wallet(SOL), solana.wallet(SOL)])
    const { paymentId } = await buildTransaction(context, actor, {
      walletAddress: payer.publicKey.toBase58(),
      recipientAddress: payee.publicKey.toBase58(),
      amount: '0.1',
    })
    const pay = () =>
      sendWithMemo(solana, { payer, payee }, { lamports: SOL / 10n, memo: paymentId })
    return { paymentId, payee, pay }
  }
  const [silent, other, unpaid] = [await open(), await open(), await open()]
  const address = silent.payee.publicKey.toBase58()
  const status = async ({ paymentId }: { paymentId: string }) =>
    (await readPaymentBody(context, paymentId)).status
  const running = stack.move()
  return {
    context,
    gate,
    silent,
    other,
    unpaid,
    lie: (asked: string, answer: string) =>
      asked.includes('"getSignaturesForAddress"') && asked.includes(address) ? '{}' : answer,
    async poll() {
      const { failures } = await pollOnce(context, chain, { expiredToo: true })
      return {
        failures: failures.length,
        silent: await status(silent),
        other: await status(other),
        unpaid: await status(unpaid),
      }
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const PAID = /^(?:confirmed|finalized)$/

test('a search that fails for one payee hides no payments to another one, and ends none', async () => {
  await using orders = await openOrders()
  const { gate, silent, other, poll, lie } = orders
  await Promise.all([silent.pay(), other.pay()])
  gate.lie = lie
  const seen = await eventually(poll, ({ unpaid }) => unpaid === 'expired')
  expect(seen).toMatchObject({ failures: 1, silent: 'created', other: expect.stringMatching(PAID) })
  gate.lie = undefined
  expect(await eventually(poll, (each) => PAID.test(each.silent))).toMatchObject({ failures: 0 })
})

test('a search that fails for one payee hides the expired payments to no other', async () => {
  await using orders = await openOrders()
  const { context, gate, silent, other, poll, lie } = orders
  await executeAsOwner(
    { target: context.config.database, db: context.db },
    `update service.payment set status = 'expired', expires_at = now() - interval '20 hours'`,
  )
  await Promise.all([silent.pay(), other.pay()])
  gate.lie = lie
  expect(await eventually(poll, (each) => PAID.test(each.other))).toMatchObject({
    failures: 1,
    silent: 'expired',
  })
  gate.lie = undefined
  expect(await eventually(poll, (each) => PAID.test(each.silent))).toMatchObject({ failures: 0 })
})
