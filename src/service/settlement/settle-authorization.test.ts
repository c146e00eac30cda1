import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createWalletClient, http } from 'viem'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { callOf, type VerifiedAuthorization } from '#chains/evm/authorization.ts'
import { readSent } from '#testing/sent-statements.ts'
import { eventually, openContext } from '#testing/service-context.ts'
import {
  openMinedTokenFixture,
  type MinedTokenFixture,
  type Parties,
} from '#testing/token-fixture.ts'
import { payInvoice, sendFrom } from '#testing/token-payers.ts'
import { refusal, refused } from '#testing/proofs.ts'
import type { Context } from '../context/context.ts'
import { readSigned } from '../db/attempts.ts'
import { resumeWallet } from '../db/wallet-ledger.ts'
import { pollOnce } from '../monitor/poll.ts'
import { readUnmatched } from '../payments/unmatched.ts'
import { reconcile } from '../reconciliation/reconcile.ts'
import { receivePayment } from './receive.ts'

/**
 * What a payer of tokens signed, executed by the service, by another one, by a facilitator, or by
 * nobody: who pays the network fee, and what the chain shows of it.
 */

const NETWORK = 'eip155:31337'

let fixture: MinedTokenFixture

beforeAll(async () => {
  fixture = await openMinedTokenFixture()
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

test('two processes settle at once from one wallet: every nonce once, every payment once', async () => {
  await using second = await openContext([fixture.tokens.network], {
    beside: fixture.opened.context,
  })
  const other: Context = {
    ...second.context,
    config: {
      ...second.context.config,
      facilitators: fixture.context.config.facilitators ?? { allowed: [], loopback: true },
    },
  }
  const payments = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const all = await fixture.parties()
      return { all, header: await payInvoice(all.client, all.requirements) }
    }),
  )
  const answers = await Promise.all(
    payments.map(async ({ all, header }, index) =>
      receivePayment(index % 2 ? other : fixture.context, fixture.actor, {
        walletAddress: all.payee.address,
        paymentProof: header,
        expectedAmount: '1.5',
        asset: 'USDC',
        timeout: 60,
      }),
    ),
  )
  expect(answers.every(({ verified }) => verified)).toBe(true)
  for (const { all } of payments)
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
  const signed = await readSigned(
    fixture.context.db,
    { network: NETWORK, sender: fixture.facilitator.address },
    0,
  )
  expect(new Set(signed.map(({ nonce }) => nonce)).size).toBe(signed.length)
})

test('a settlement is recorded in nine statements, and its used proof is not given back', async () => {
  const all = await fixture.parties()
  const header = await payInvoice(all.client, all.requirements)
  const sent = await readSent(async () => {
    const { verified } = await receivePayment(fixture.context, fixture.actor, {
      walletAddress: all.payee.address,
      paymentProof: header,
      expectedAmount: '1.5',
      asset: 'USDC',
      timeout: 60,
    })
    expect(verified).toBe(true)
  })
  const recorded = sent.findIndex((query) => query.includes('insert into "service"."payment"'))
  const transaction = sent.slice(
    sent.lastIndexOf('begin', recorded),
    sent.indexOf('commit', recorded) + 1,
  )
  expect(transaction).toHaveLength(9)
  expect(transaction[1]?.split('pg_advisory_xact_lock')).toHaveLength(3)
  expect(transaction[6]).toMatch(
    /insert into "service"."payment".*update "service"."claim".*insert into service.event.*"service"."attempt".*"service"."settlement_fee"/s,
  )
  expect(sent.filter((query) => query.includes('delete from "service"."claim"'))).toEqual([])
})

test('without a fee payer nothing is decided and no money moves', async () => {
  const all = await fixture.parties()
  const header = await payInvoice(all.client, all.requirements)
  const bare = fixture.opened.context
  const body = {
    walletAddress: all.payee.address,
    paymentProof: header,
    expectedAmount: '1.5',
    asset: 'USDC',
    timeout: 5,
  }
  expect(await refusal(receivePayment(bare, fixture.actor, body))).toMatchObject({
    code: 'PAYMENT_VERIFICATION_FAILED',
  })
  expect(await fixture.balance(all.asset, all.payee.address)).toBe(0n)
  expect(await fixture.receive(all, header)).toMatchObject({ verified: true })
})

test('an authorization that a third party executes first still settles this payment', async () => {
  using _ = fixture.withoutMining()
  const all = await fixture.parties()
  const header = await payInvoice(all.client, all.requirements)
  const authorization = await fixture.authorizationOf(all, header)
  const waiting = fixture.receive(all, header, { timeout: 20 })
  // Ours waits in the pool; another one with a higher tip goes first.
  const pooled = async () => {
    const { pending } = await fixture.evm.client.getTxpoolContent()
    return Object.keys(pending).some(
      (sender) => sender.toLowerCase() === fixture.facilitator.address.toLowerCase(),
    )
  }
  while (!(await pooled())) await new Promise((resolve) => setTimeout(resolve, 50))
  const front = await fixture.evm.wallet(10n ** 18n)
  await sendFrom(fixture.evm, front, { ...callOf(authorization), gas: 200_000n })
  await fixture.evm.mine(12)
  expect(await waiting).toMatchObject({ verified: true, sender: all.payer.address })
  expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
})

test('the wallet that settles is not stopped while a node does not show what it settled', async () => {
  const { context, chain, facilitator } = fixture
  const compare = (by: typeof chain) => reconcile(context, by, facilitator.address)
  await eventually(
    () => compare(chain),
    (verdict) => verdict === 'equal',
  )
  const all = await fixture.parties()
  const header = await payInvoice(all.client, all.requirements)
  expect(await fixture.receive(all, header)).toMatchObject({ verified: true })
  const forgetful: typeof chain = {
    ...chain,
    audit: (...asked) => chain.audit(...asked),
    observe: async () => ({ state: 'not_found' }),
  }
  const { height } = await chain.head()
  await eventually(
    () => chain.audit(facilitator.address, null),
    (audit) => audit !== undefined && audit.height > height,
  )
  expect(await compare(forgetful)).toBe('later')
  await eventually(
    () => compare(chain),
    (verdict) => verdict === 'equal',
  )
})

test.each(['another transaction', 'an authorization of EIP-7702'])(
  'the wallet that settles is stopped when %s has its nonce, though the payment still waits',
  async (kind) => {
    const { context, chain, facilitator, evm } = fixture
    const compare = () => reconcile(context, chain, facilitator.address)
    await eventually(compare, (verdict) => verdict === 'equal')
    using _ = fixture.withoutMining()
    const all = await fixture.parties({ validSeconds: 86_400 })
    const header = await payInvoice(all.client, all.requirements)
    const nonce = await evm.client.getTransactionCount({ address: facilitator.address })
    await fixture.receive(all, header, { timeout: 5 }).catch(() => undefined)
    await eventually(
      () => readSigned(context.db, { network: NETWORK, sender: facilitator.address }, nonce),
      (signed) => signed.length > 0,
    )
    const authorizes = kind !== 'another transaction'
    const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n }
    const { address } = all.payee
    const thief = createWalletClient({
      account: authorizes ? await evm.wallet(10n ** 18n) : facilitator,
      transport: http(evm.rpcUrl),
    })
    const stolen = authorizes
      ? await thief.sendTransaction({
          chain: null,
          to: address,
          gas: 200_000n,
          authorizationList: [
            await facilitator.signAuthorization({ chainId: 31_337, nonce, address }),
          ],
          ...fees,
        })
      : await thief.sendTransaction({
          chain: null,
          nonce,
          to: address,
          value: 1n,
          gas: 21_000n,
          ...fees,
        })
    await evm.mine(12)
    expect((await evm.client.getTransactionReceipt({ hash: stolen })).status).toBe('success')
    await eventually(
      async () => {
        await evm.mine()
        return compare()
      },
      (verdict) => verdict === 'stopped',
    )
    const [ledger] = await resumeWallet(context.db, facilitator.address)
    expect(ledger).toBeDefined()
  },
)

test('a token that says it moved less than it was asked to is no payment, and what arrived is unmatched', async () => {
  const all = await fixture.parties()
  // The real token, with its Transfer event changed to half the amount: a fee on transfer as the
  // chain shows it.
  const header = await payInvoice(all.client, all.requirements)
  const lying = fixture.withChain({
    observe: (signature, as = (seen) => seen) =>
      fixture.chain.observe(signature, (seen) =>
        as(
          seen.state === 'landed'
            ? {
                ...seen,
                moved: (seen.moved ?? []).map((moved) => ({
                  ...moved,
                  amountAtomic: moved.amountAtomic / 2n,
                })),
              }
            : seen,
        ),
      ),
  })
  const body = {
    walletAddress: all.payee.address,
    paymentProof: header,
    expectedAmount: '1.5',
    asset: 'USDC',
    timeout: 15,
  }
  expect(await refusal(receivePayment(lying, fixture.actor, body))).toEqual(
    refused('transaction_failed', 'transaction'),
  )
  const { transfers } = await readUnmatched(lying, fixture.actor, { limit: 100, offset: 0 })
  expect(transfers.filter(({ sender }) => sender === all.payer.address)).toMatchObject([
    { recipient: all.payee.address, amountAtomic: (all.amount / 2n).toString() },
  ])
})

test('what was signed and recorded by a process that died is sent by the watcher', async () => {
  const all = await fixture.parties()
  const header = await payInvoice(all.client, all.requirements)
  // Everything is stored, and nothing leaves: the process ends between the two.
  const dying = fixture.withChain({ broadcast: async () => ({ accepted: true }) })
  const body = {
    walletAddress: all.payee.address,
    paymentProof: header,
    expectedAmount: '1.5',
    asset: 'USDC',
    timeout: 2,
  }
  const waiting = await receivePayment(dying, fixture.actor, body)
  expect(waiting).toMatchObject({
    verified: false,
    status: 'pending',
    paymentId: expect.stringMatching(/^pay_/),
  })
  expect(await fixture.balance(all.asset, all.payee.address)).toBe(0n)
  await eventually(
    async () => {
      await pollOnce(fixture.context, fixture.chain, { expiredToo: false })
      return fixture.balance(all.asset, all.payee.address)
    },
    (held) => held === all.amount,
  )
  expect(
    await receivePayment(fixture.context, fixture.actor, { ...body, timeout: 20 }),
  ).toMatchObject({
    paymentId: waiting.paymentId,
    verified: true,
  })
})

describe('a third party’s facilitator', () => {
  type Elsewhere = {
    settles: (authorization: VerifiedAuthorization) => Promise<string>
    asked: string[]
  }

  /** Verifies everything; settles as told. */
  async function elsewhere(all: Parties, header: string, { settles, asked }: Elsewhere) {
    const authorization = await fixture.authorizationOf(all, header)
    const server = createServer((request, response) => {
      asked.push(request.url ?? '')
      const verifying = request.url?.endsWith('/verify')
      request.resume().once('end', () => {
        void (async () => {
          const answer = verifying
            ? { isValid: true }
            : { success: true, transaction: await settles(authorization), network: NETWORK }
          response.end(JSON.stringify(answer))
        })()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x402`
    const config = { ...fixture.context.config, facilitators: { allowed: [url], loopback: true } }
    const body = {
      walletAddress: all.payee.address,
      paymentProof: header,
      expectedAmount: '1.5',
      asset: 'USDC',
      facilitatorUrl: url,
      timeout: 5,
    }
    return (changes: { timeout?: number } = {}) =>
      receivePayment({ ...fixture.context, config }, fixture.actor, { ...body, ...changes })
  }

  test('settles a token, and the chain is read for it', async () => {
    const all = await fixture.parties()
    const header = await payInvoice(all.client, all.requirements)
    const helper = await fixture.evm.wallet(10n ** 18n)
    const asked: string[] = []
    const receiveThere = await elsewhere(all, header, {
      asked,
      settles: (authorization) =>
        sendFrom(fixture.evm, helper, { ...callOf(authorization), gas: 200_000n }),
    })
    const received = await receiveThere({ timeout: 20 })
    expect(received).toMatchObject({
      verified: true,
      sender: all.payer.address,
      verifiedBy: expect.stringContaining('/x402'),
    })
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(all.amount)
    // The same question gets the same payment, and nobody is asked to settle again.
    expect(await receiveThere({ timeout: 20 })).toMatchObject({
      paymentId: received.paymentId,
      alreadyProcessed: true,
    })
    expect(asked).toEqual(['/x402/verify', '/x402/settle'])
  })

  test('that says it settled a token and did not gets no grant, and the payment is still open', async () => {
    const all = await fixture.parties()
    const header = await payInvoice(all.client, all.requirements)
    const asked: string[] = []
    const receiveThere = await elsewhere(all, header, {
      asked,
      settles: async () => `0x${'ab'.repeat(32)}`,
    })
    const told = await receiveThere()
    expect(told).toMatchObject({ verified: false, status: 'pending' })
    expect(await receiveThere()).toMatchObject({ paymentId: told.paymentId, verified: false })
    expect(await fixture.balance(all.asset, all.payee.address)).toBe(0n)
  })
})
