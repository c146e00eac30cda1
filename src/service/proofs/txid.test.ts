import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eq } from 'drizzle-orm'
import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { alter, proveTxid, refusal, refused, type EvmProof } from '#testing/proofs.ts'
import { eventually, openAccount, openContext, type OpenedContext } from '#testing/service-context.ts'
import { encodeHeader } from '#x402/header.ts'
import type { Actor, Context } from '../context.ts'
import { event } from '../db/schema.ts'
import { buildTransaction } from '../payments/build.ts'
import { readHistory } from '../payments/history.ts'
import { readPaymentBody } from '../payments/status.ts'
import { followOnce } from '../watchers/follow.ts'
import { receivePayment } from './receive.ts'

/** Native ETH that the payer broadcast, proven by a signature: every check of the method, each with a proof that fails it alone. */

const ETH = 10n ** 18n
const AMOUNT = 10n ** 16n
const URL = 'https://shop.example/a'

let evm: EvmFixture
let opened: OpenedContext
let context: Context
let actor: Actor
let clock = 0

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 4 })
  await evm.mine()
  opened = await openContext([evm.network], { now: () => new Date(Date.now() + clock) })
  context = opened.context
  actor = opened.actor
})

afterAll(async () => {
  await opened[Symbol.asyncDispose]()
  await evm[Symbol.asyncDispose]()
})

type Sent = { payer: PrivateKeyAccount; payTo: Hex; txRef: Hex; network: string; amount: bigint }

async function send(options: { value?: bigint; data?: Hex; to?: Hex; mined?: number; gas?: bigint } = {}): Promise<Sent> {
  const [payer, payee] = await Promise.all([evm.wallet(ETH), evm.wallet(0n)])
  const { value = AMOUNT, data, to = payee.address, mined = 2, gas = 50_000n } = options
  const fields = { chainId: 31337, gas, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n, nonce: 0, to, value, ...(data && { data }) }
  const txRef = await evm.client.sendRawTransaction({ serializedTransaction: await payer.signTransaction({ type: 'eip1559', ...fields }) })
  if (mined > 0) await evm.mine(mined)
  return { payer, payTo: payee.address, txRef, network: 'eip155:31337', amount: AMOUNT }
}

const receive = (sent: Sent, paymentProof: string, body: Partial<Parameters<typeof receivePayment>[2]> = {}, as = actor) =>
  receivePayment(context, as, { walletAddress: sent.payTo, paymentProof, expectedAmount: '0.01', resource: URL, timeout: 10, ...body })

const prove = (sent: Sent, other: Partial<EvmProof> = {}) => proveTxid({ ...sent, ...other })

test.each([1, 2] as const)(
  'a transfer that landed is received by its proof of version %i, recorded with its events, and found in the history',
  async (version) => {
    const sent = await send()
    const answer = await receive(sent, await prove(sent, { version }))
    expect(answer).toMatchObject({
      success: true,
      verified: true,
      alreadyProcessed: false,
      status: 'confirmed',
      signature: sent.txRef,
      sender: sent.payer.address,
      recipient: sent.payTo,
      amountAtomic: AMOUNT.toString(),
      resource: URL,
      verifiedBy: 'in-process',
    })
    expect(answer.checks.every(({ ok }) => ok)).toBe(true)
    const names = answer.checks.map(({ name }) => name)
    expect(names.indexOf('signature')).toBeLessThan(names.indexOf('single_use'))
    expect(names.indexOf('single_use')).toBeLessThan(names.indexOf('transaction'))
    const body = await readPaymentBody(context, answer.paymentId ?? '')
    expect(body).toMatchObject({ mode: 'received', status: 'confirmed', events: [{ status: 'confirmed', source: 'service' }] })
    const history = await readHistory(context, actor, { params: { walletAddress: sent.payTo }, query: { type: 'all', limit: 50, offset: 0 }, body: undefined })
    expect(history.payments).toMatchObject([{ paymentId: answer.paymentId, type: 'received' }])
  },
)

test('a received payment is followed to finality', async () => {
  const sent = await send()
  const { paymentId } = await receive(sent, await prove(sent))
  await evm.mine(12)
  await eventually(
    async () => {
      await followOnce(context, chain(), { expiredToo: false })
      return readPaymentBody(context, paymentId ?? '')
    },
    ({ status }) => status === 'finalized',
  )
})

function chain() {
  const found = context.chains.get('eip155:31337')
  if (!found) throw new Error('no chain')
  return found
}

test('tells the stream of the verification and of the settlement, once each', async () => {
  const sent = await send()
  const header = await prove(sent)
  const { paymentId } = await receive(sent, header)
  await receive(sent, header)
  const rows = await context.db
    .select()
    .from(event)
    .where(eq(event.paymentId, paymentId ?? ''))
    .orderBy(event.id)
  expect(rows.map(({ kind, status }) => [kind, status])).toEqual([
    ['payment', 'confirmed'],
    ['verification', 'confirmed'],
    ['settlement', 'confirmed'],
  ])
  // Beside them, the payment's own history stays what happened to its status.
  expect((await readPaymentBody(context, paymentId ?? '')).events).toHaveLength(1)
})

describe('single use', () => {
  test('the same proof for the same question gets the same payment again', async () => {
    const sent = await send()
    const header = await prove(sent)
    const first = await receive(sent, header)
    const again = await receive(sent, header, { timeout: 3 })
    expect(again).toMatchObject({ paymentId: first.paymentId, verified: true, alreadyProcessed: true, checks: first.checks })
  })

  test('the same proof for another question, or by another account, is refused as used', async () => {
    const sent = await send()
    const header = await prove(sent)
    await receive(sent, header)
    expect(await refusal(receive(sent, header, { resource: undefined }))).toEqual(refused('already_used', 'single_use'))
    expect(await refusal(receive(sent, header, {}, await openAccount(context)))).toEqual(refused('already_used', 'single_use'))
  })

  test('one transaction is one grant, whatever the version and the spelling of its proof', async () => {
    const sent = await send()
    await receive(sent, await prove(sent, { version: 2 }))
    const v1 = await receive(sent, await prove(sent, { version: 1 }))
    const upper = await receive(
      sent,
      alter(await prove(sent), (value) => ({ ...value, payload: { ...value.payload, txRef: `0x${sent.txRef.slice(2).toUpperCase()}` } })),
    )
    expect([v1.alreadyProcessed, upper.alreadyProcessed]).toEqual([true, true])
  })

  test('of many calls at once one uses the proof', async () => {
    const sent = await send()
    const header = await prove(sent)
    const answers = await Promise.all(Array.from({ length: 20 }, () => receive(sent, header)))
    expect(answers.filter(({ alreadyProcessed }) => !alreadyProcessed)).toHaveLength(1)
    expect(new Set(answers.map(({ paymentId }) => paymentId)).size).toBe(1)
  })

  test('of many accounts at once one gets the payment', async () => {
    const sent = await send()
    const header = await prove(sent)
    const actors = await Promise.all(Array.from({ length: 8 }, () => openAccount(context)))
    const answers = await Promise.allSettled(actors.map((other) => receive(sent, header, {}, other)))
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})

describe('a transaction that has not landed', () => {
  test('is pending, keeps nothing, and is received once it has landed', async () => {
    const sent = await send({ mined: 0 })
    const header = await prove(sent)
    const waiting = await receive(sent, header, { timeout: 1 })
    expect(waiting).toMatchObject({ verified: false, status: 'pending', paymentId: null, signature: sent.txRef })
    await evm.mine(1)
    expect(await receive(sent, header, { timeout: 1 })).toMatchObject({ verified: false, status: 'pending' })
    await evm.mine(1)
    expect(await receive(sent, header)).toMatchObject({ verified: true, alreadyProcessed: false })
  })

  test('is waited for within the timeout', async () => {
    const sent = await send({ mined: 0 })
    const answer = receive(sent, await prove(sent))
    await evm.mine(2)
    expect(await answer).toMatchObject({ verified: true })
  })

  test('and that nobody knows is pending when the time is over, not refused', async () => {
    const sent = await send()
    const unknown = { ...sent, txRef: `0x${'ab'.repeat(32)}` as const }
    expect(await receive(unknown, await prove(unknown), { timeout: 1 })).toMatchObject({ verified: false, status: 'pending' })
  })
})

describe('the checks of a proof', () => {
  test.each([
    ['text that is no payment', 'malformed', 'format', () => 'x'],
    ['a payload of another method', 'malformed', 'payload', (header: string) => alter(header, (value) => ({ ...value, payload: { transaction: 'AQ==' } }))],
    ['a signature of 64 bytes', 'malformed', 'payload', (header: string) => alterPayload(header, { signature: `0x${'11'.repeat(64)}` })],
    ['a payer that is no address', 'malformed', 'payer', (header: string) => alterPayload(header, { from: 'nobody' })],
    ['another scheme', 'unsupported_scheme', 'scheme', (header: string) => alterAccepted(header, { scheme: 'upto' })],
    ['another network', 'network_mismatch', 'network', (header: string) => alterAccepted(header, { network: 'eip155:1' })],
    ['another method', 'unsupported_method', 'method', (header: string) => alterAccepted(header, { extra: { assetTransferMethod: 'eip3009' } })],
    ['no method', 'unsupported_method', 'method', (header: string) => alterAccepted(header, { extra: {} })],
    ['another asset', 'asset_mismatch', 'asset', (header: string) => alterAccepted(header, { asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' })],
    ['another amount', 'amount_mismatch', 'amount', (header: string) => alterAccepted(header, { amount: (AMOUNT + 1n).toString() })],
    ['another payee', 'recipient_mismatch', 'recipient', (header: string) => alterAccepted(header, { payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' })],
    ['another resource', 'resource_mismatch', 'resource', (header: string) => alter(header, (value) => ({ ...value, resource: { url: `${URL}/other` } }))],
    ['no resource', 'resource_mismatch', 'resource', (header: string) => alter(header, (value) => ({ ...value, resource: undefined }))],
    ['a signature of nobody', 'invalid_signature', 'signature', (header: string) => alterPayload(header, { signature: `0x${'ff'.repeat(65)}` })],
    ['terms that were not signed', 'invalid_signature', 'signature', (header: string) => alterAccepted(header, { maxTimeoutSeconds: 61 })],
  ])('%s is refused as %s at %s', async (_, reason, check, change) => {
    const sent = await send({ mined: 0 })
    expect(await refusal(receive(sent, change(await prove(sent))))).toEqual(refused(reason, check))
  })

  test('a signature by another key than the payer’s is refused', async () => {
    const sent = await send({ mined: 0 })
    expect(await refusal(receive(sent, await prove(sent, { signer: await evm.wallet(0n) })))).toEqual(refused('invalid_signature', 'signature'))
  })

  test('a v1 proof is held against its own offer', async () => {
    const sent = await send({ mined: 0 })
    expect(await refusal(receive(sent, await prove(sent, { version: 1, amount: AMOUNT - 1n })))).toEqual(refused('amount_mismatch', 'amount'))
    expect(await refusal(receive(sent, await prove(sent, { version: 1, url: `${URL}/other` })))).toEqual(refused('resource_mismatch', 'resource'))
    expect(await refusal(receive(sent, alterPayload(await prove(sent, { version: 1 }), { offer: undefined })))).toEqual(refused('malformed', 'offer'))
  })

  test('a proof signed for another chain is refused by its signature', async () => {
    const sent = await send({ mined: 0 })
    const foreign = alterAccepted(await prove(sent, { network: 'eip155:1' }), { network: sent.network })
    expect(await refusal(receive(sent, foreign))).toEqual(refused('invalid_signature', 'signature'))
  })

  test('a refused proof leaves the transaction to its payer', async () => {
    const sent = await send()
    await refusal(receive(sent, await prove(sent, { signer: await evm.wallet(0n) })))
    expect(await receive(sent, await prove(sent))).toMatchObject({ verified: true, alreadyProcessed: false })
  })
})

describe('what the chain shows', () => {
  test('a thief who signs for a transaction of somebody else is refused, and the payer is still served', async () => {
    const sent = await send()
    const thief = await evm.wallet(0n)
    expect(await refusal(receive(sent, await prove(sent, { payer: thief })))).toEqual(refused('payer_mismatch', 'payer'))
    expect(await receive(sent, await prove(sent))).toMatchObject({ verified: true })
  })

  test('a thief is refused while the transaction is still in the pool', async () => {
    const sent = await send({ mined: 0 })
    expect(await refusal(receive(sent, await prove(sent, { payer: await evm.wallet(0n) })))).toEqual(refused('payer_mismatch', 'payer'))
    await evm.mine()
  })

  test.each([
    ['less', AMOUNT - 1n],
    ['more', AMOUNT + 1n],
  ])('%s than asked is refused', async (_, value) => {
    const sent = await send({ value })
    expect(await refusal(receive(sent, await prove(sent)))).toEqual(refused('amount_mismatch', 'paid_amount'))
  })

  test('a transfer to somebody else is refused', async () => {
    const sent = await send({ to: (await evm.wallet(0n)).address })
    expect(await refusal(receive(sent, await prove(sent)))).toEqual(refused('recipient_mismatch', 'paid_to'))
  })

  test('a payment to oneself is refused', async () => {
    const payer = await evm.wallet(ETH)
    const fields = { chainId: 31337, gas: 21_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n, nonce: 0, to: payer.address, value: AMOUNT }
    const txRef = await evm.client.sendRawTransaction({ serializedTransaction: await payer.signTransaction({ type: 'eip1559', ...fields }) })
    await evm.mine(2)
    const sent: Sent = { payer, payTo: payer.address, txRef, network: 'eip155:31337', amount: AMOUNT }
    expect(await refusal(receive(sent, await prove(sent)))).toEqual(refused('payer_mismatch', 'not_the_payee'))
  })

  test('a transaction with data is refused', async () => {
    const sent = await send({ data: '0x00' })
    expect(await refusal(receive(sent, await prove(sent)))).toEqual(refused('unexpected_instruction', 'plain_transfer'))
  })

  test('a transaction that was reverted is refused', async () => {
    const contract = (await evm.wallet(0n)).address
    await evm.setCode(contract, '0x60006000fd')
    const sent = { ...(await send({ to: contract })), payTo: contract }
    expect(await refusal(receive(sent, await prove(sent)))).toEqual(refused('transaction_failed', 'transaction'))
  })

  test('a transfer older than a day is refused', async () => {
    const sent = await send()
    clock = 25 * 60 * 60 * 1000
    try {
      expect(await refusal(receive(sent, await prove(sent)))).toEqual(refused('outside_window', 'window'))
    } finally {
      clock = 0
    }
  })

  test('a block that a reorg replaced counts for nothing', async () => {
    const sent = await send()
    const { paymentId } = await receive(sent, await prove(sent))
    await fetch(evm.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_reorg', params: [3, []] }),
    })
    await evm.mine()
    await followOnce(context, chain(), { expiredToo: false })
    expect(await readPaymentBody(context, paymentId ?? '')).toMatchObject({ status: expect.stringMatching(/rolled_back|pending/) })
  })
})

test('a payment that this account gave out is the one that is received', async () => {
  const [payer, payee] = await Promise.all([evm.wallet(ETH), evm.wallet(0n)])
  const built = await buildTransaction(context, actor, { walletAddress: payer.address, recipientAddress: payee.address, amount: '0.01', resource: URL })
  const { gas, maxFeePerGas, maxPriorityFeePerGas, nonce } = built.decoded as Record<string, string>
  const fields = {
    chainId: 31337,
    gas: BigInt(gas ?? 0),
    maxFeePerGas: BigInt(maxFeePerGas ?? 0),
    maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas ?? 0),
    nonce: Number(nonce),
    to: payee.address,
    value: AMOUNT,
  }
  const txRef = await evm.client.sendRawTransaction({ serializedTransaction: await payer.signTransaction({ type: 'eip1559', ...fields }) })
  await evm.mine(2)
  const sent: Sent = { payer, payTo: payee.address, txRef, network: 'eip155:31337', amount: AMOUNT }
  expect(await receive(sent, await prove(sent))).toMatchObject({ paymentId: built.paymentId, verified: true, status: 'confirmed' })
  const body = await readPaymentBody(context, built.paymentId)
  expect(body).toMatchObject({ mode: 'local', status: 'confirmed' })
  expect(body.events.map(({ status }) => status)).toEqual(['created', 'pending', 'confirmed'])
})

test('what is expected must be a payment this service can verify', async () => {
  const sent = await send({ mined: 0 })
  const header = await prove(sent)
  expect(await refusal(receive(sent, header, { expectedAmount: '0' }))).toMatchObject({ code: 'INVALID_PARAMETERS' })
  expect(await refusal(receive(sent, header, { asset: 'USDC' }))).toMatchObject({ code: 'INVALID_PARAMETERS' })
  expect(await refusal(receive(sent, header, { network: 'eip155:1' }))).toMatchObject({ code: 'INVALID_PARAMETERS' })
  expect(await refusal(receive(sent, header, { facilitatorUrl: 'http://169.254.169.254/' }))).toMatchObject({ code: 'INVALID_PARAMETERS' })
})

function alterPayload(header: string, change: object): string {
  return alter(header, (value) => ({ ...value, payload: { ...value.payload, ...change } }))
}

function alterAccepted(header: string, change: object): string {
  return alter(header, (value) => ({ ...value, accepted: { ...value.accepted, ...change } }))
}

test('a header larger than 8 KiB is refused before it is read', async () => {
  const sent = await send({ mined: 0 })
  expect(await refusal(receive(sent, encodeHeader({ fill: 'x'.repeat(8 * 1024) })))).toEqual(refused('malformed', 'format'))
})
