import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Family } from '#contract/address.ts'
import {
  startEvm,
  startSolana,
  type EvmFixture,
  type SolanaFixture,
} from '#testing/local-chains.ts'
import { refusal, refused } from '#testing/proofs.ts'
import { startSynchronizedClock } from '#testing/synchronized-clock.ts'
import {
  eventually,
  openAccount,
  openContext,
  type OpenedContext,
} from '#testing/service-context.ts'
import type { Actor, Context } from '../context/context.ts'
import { readAttempts } from '../db/attempts.ts'
import { receivePayment } from '../settlement/receive.ts'
import { createWallet } from '../wallets/create-wallet.ts'
import { pollOnce } from '../monitor/poll.ts'
import { sendPayment } from './send.ts'
import { readPaymentBody } from '../payments/status.ts'

/**
 * The proof of a payment from a managed wallet buys its resource from a seller of any account, and
 * nothing else.
 */

const URL = 'https://shop.example/a'

let evm: EvmFixture
let solana: SolanaFixture
let clock: Awaited<ReturnType<typeof startSynchronizedClock>>
let opened: OpenedContext
let context: Context
let buyer: Actor
let seller: Actor
let later = 0

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 4 })
  await evm.mine()
  solana = await startSolana({ slotTimeMs: 50 })
  clock = await startSynchronizedClock(solana.rpcUrl)
  opened = await openContext([evm.network, { ...solana.network, rpcUrls: [clock.url] }], {
    now: () => new Date(Date.now() + later),
  })
  context = opened.context
  buyer = opened.actor
  seller = await openAccount(context)
})

afterAll(async () => {
  await opened[Symbol.asyncDispose]()
  await clock[Symbol.asyncDispose]()
  await solana[Symbol.asyncDispose]()
  await evm[Symbol.asyncDispose]()
})

async function managed(family: Family): Promise<string> {
  const { address } = await createWallet(
    { ...context, now: new Date() },
    { accountId: buyer.accountId, family, name: 'till' },
  )
  if (family === 'evm')
    await evm.client.setBalance({ address: address as `0x${string}`, value: 10n ** 18n })
  else await solana.setAccount(address, { lamports: 1_000_000_000n })
  return address
}

const payeeOf = async (family: Family) =>
  family === 'evm'
    ? (await evm.wallet(0n)).address
    : (await solana.wallet(1_000_000_000n)).publicKey.toBase58()

async function send(family: Family, resource: string | undefined) {
  const [walletAddress, recipientAddress] = [await managed(family), await payeeOf(family)]
  const body = {
    walletAddress,
    recipientAddress,
    amount: '0.01',
    ...(resource !== undefined && { resource }),
  }
  const sent = await sendPayment(context, buyer, { body, idempotency: undefined, waitMs: 0 })
  return { ...sent, walletAddress, recipientAddress }
}

const receive = (payee: string, paymentProof: string | null, resource: string | undefined = URL) =>
  receivePayment(context, seller, {
    walletAddress: payee,
    paymentProof: paymentProof ?? '',
    expectedAmount: '0.01',
    resource,
    timeout: 20,
  })

/** Advances the chain and the watchers until the payment is as wanted. */
function followed(paymentId: string, wanted: RegExp) {
  return eventually(
    async () => {
      await evm.mine()
      for (const chain of context.chains.values())
        await pollOnce(context, chain, { expiredToo: false })
      return readPaymentBody(context, paymentId)
    },
    ({ status }) => wanted.test(status),
  )
}

describe.each(['evm', 'solana'] as const)('on %s', (family) => {
  test('a proof is told with the payment, and buys the resource once it has landed', async () => {
    const sent = await send(family, URL)
    expect(sent.paymentProof).not.toBeNull()
    await followed(sent.paymentId, /confirmed|finalized/)
    const { paymentProof } = await readPaymentBody(context, sent.paymentId)
    expect(JSON.parse(Buffer.from(paymentProof ?? '', 'base64').toString())).toMatchObject({
      x402Version: 2,
      resource: { url: URL },
      accepted: { scheme: 'exact', payTo: sent.recipientAddress },
    })
    expect(await refusal(receive(sent.recipientAddress, paymentProof, `${URL}/other`))).toEqual(
      refused('resource_mismatch', 'resource'),
    )
    const received = await receive(sent.recipientAddress, paymentProof)
    expect(received).toMatchObject({
      verified: true,
      alreadyProcessed: false,
      sender: sent.walletAddress,
      signature: sent.signature,
    })
    // The seller's account has a separate payment; the buyer's does not change.
    expect(received.paymentId).not.toBe(sent.paymentId)
    expect(await receive(sent.recipientAddress, paymentProof)).toMatchObject({
      alreadyProcessed: true,
      paymentId: received.paymentId,
    })
  })
})

test('a payment for nothing in particular buys no resource', async () => {
  const sent = await send('evm', undefined)
  await followed(sent.paymentId, /confirmed|finalized/)
  expect(await refusal(receive(sent.recipientAddress, sent.paymentProof))).toEqual(
    refused('resource_mismatch', 'resource'),
  )
})

test('of a transaction and its replacement, the one that landed is proven', async () => {
  const sent = await send('evm', URL)
  const [first] = await readAttempts(context.db, sent.paymentId)
  // A node that forgets it, and a block that asks for more than it offers.
  await evm.client.dropTransaction({ hash: first?.signature as Hex })
  await evm.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 20n * 10n ** 9n })
  await evm.mine()
  later += 31_000
  const attempts = await eventually(
    async () => {
      for (const chain of context.chains.values())
        await pollOnce(context, chain, { expiredToo: false })
      return readAttempts(context.db, sent.paymentId)
    },
    ({ length }) => length > 1,
  )
  expect(new Set(attempts.map(({ paymentProof }) => paymentProof)).size).toBe(attempts.length)
  const landed = await followed(sent.paymentId, /confirmed|finalized/)
  expect(landed.paymentProof).toBe(
    attempts.find(({ signature }) => signature === landed.signature)?.paymentProof,
  )
  expect(await receive(sent.recipientAddress, landed.paymentProof)).toMatchObject({
    verified: true,
    signature: landed.signature,
  })
})
