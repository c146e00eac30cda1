import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { proveTxid, refusal } from '#testing/proofs.ts'
import { openAccount, openContext, type OpenedContext } from '#testing/service-context.ts'
import type { Context } from '../context.ts'
import { chooseFacilitators } from '../keys/choose-facilitators.ts'
import { receivePayment } from './receive.ts'

/** A facilitator that somebody else runs: what it says is a hint, and the chain decides. */

const ETH = 10n ** 18n
const AMOUNT = 10n ** 16n
const NETWORK = 'eip155:31337'
const URL = 'https://shop.example/a'
const VALID = { isValid: true }
const SETTLED = { success: true, transaction: '0x1', network: NETWORK }

let evm: EvmFixture
let opened: OpenedContext
let context: Context
let server: ReturnType<typeof createServer>
let facilitatorUrl = ''
let says: { verify: unknown; settle: unknown } = { verify: VALID, settle: SETTLED }
let asked: { path: string; body: Record<string, unknown> }[] = []

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 4 })
  await evm.mine()
  server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const path = request.url ?? ''
      asked.push({ path, body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown> })
      const answer = path.endsWith('/verify') ? says.verify : says.settle
      if (answer !== undefined) response.end(JSON.stringify(answer))
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  facilitatorUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x402`
  opened = await openContext([evm.network])
  context = { ...opened.context, config: { ...opened.context.config, facilitators: { allowed: [facilitatorUrl], loopback: true } } }
})

afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await opened[Symbol.asyncDispose]()
  await evm[Symbol.asyncDispose]()
})

async function pay(value = AMOUNT) {
  const [payer, payee] = await Promise.all([evm.wallet(ETH), evm.wallet(0n)])
  const fields = { chainId: 31337, gas: 21_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n, nonce: 0, to: payee.address, value }
  const txRef = await evm.client.sendRawTransaction({ serializedTransaction: await payer.signTransaction({ type: 'eip1559', ...fields }) })
  await evm.mine(2)
  const paymentProof = await proveTxid({ payer, payTo: payee.address, network: NETWORK, amount: AMOUNT, txRef, url: URL })
  return (body: { facilitatorUrl?: string; timeout?: number } = {}) =>
    receivePayment(context, opened.actor, {
      walletAddress: payee.address,
      paymentProof,
      expectedAmount: '0.01',
      resource: URL,
      facilitatorUrl,
      timeout: 10,
      ...body,
    })
}

test('a facilitator that agrees is named, and the chain is read all the same', async () => {
  says = { verify: VALID, settle: SETTLED }
  asked = []
  const receive = await pay()
  const answer = await receive()
  expect(answer).toMatchObject({ verified: true, verifiedBy: facilitatorUrl })
  const names = answer.checks.map(({ name }) => name)
  expect(names.indexOf('facilitator_settle')).toBeLessThan(names.indexOf('paid_amount'))
  expect(asked.map(({ path }) => path)).toEqual(['/x402/verify', '/x402/settle'])
  expect(asked[0]?.body).toMatchObject({ x402Version: 2, paymentRequirements: { amount: AMOUNT.toString(), network: NETWORK } })
  expect(await receive()).toMatchObject({ alreadyProcessed: true })
  expect(asked).toHaveLength(2)
})

test('a facilitator that lies is not believed', async () => {
  says = { verify: VALID, settle: SETTLED }
  expect(await refusal((await pay(AMOUNT - 1n))())).toMatchObject({ code: 'INVALID_PAYMENT_PROOF', reason: 'amount_mismatch' })
})

test.each([
  ['does not verify', { verify: { isValid: false, invalidReason: 'x' }, settle: SETTLED }],
  ['does not settle', { verify: VALID, settle: { ...SETTLED, success: false, errorReason: 'settlement_pending' } }],
  ['answers nonsense', { verify: { isValid: 'yes' }, settle: SETTLED }],
  ['does not answer', { verify: undefined, settle: SETTLED }],
])('a facilitator that %s decides nothing: the same proof is good without it', async (_, answers) => {
  says = answers
  const receive = await pay()
  expect(await refusal(receive({ timeout: 1 }))).toEqual({ code: 'PAYMENT_VERIFICATION_FAILED' })
  expect(await receive({ facilitatorUrl: undefined })).toMatchObject({ verified: true, alreadyProcessed: false })
})

test('a facilitator that is not on the list is never asked', async () => {
  asked = []
  const receive = await pay()
  for (const other of [facilitatorUrl.replace('/x402', '/other'), 'http://169.254.169.254/', 'nonsense', facilitatorUrl.replace('http://', 'http://user@')])
    expect(await refusal(receive({ facilitatorUrl: other }))).toMatchObject({ code: 'INVALID_PARAMETERS' })
  expect(asked).toEqual([])
})

test('an account with a list of its own asks those on it, and no others', async () => {
  const own = await openAccount(opened.context)
  await chooseFacilitators(opened.context.db, { accountId: own.accountId, facilitators: ['https://facilitator.example'] })
  const body = { walletAddress: `0x${'11'.repeat(20)}`, paymentProof: 'x', expectedAmount: '0.01', facilitatorUrl, timeout: 5 }
  expect(await refusal(receivePayment(context, own, body))).toEqual({ code: 'INVALID_PARAMETERS' })
  await chooseFacilitators(opened.context.db, { accountId: own.accountId, facilitators: [facilitatorUrl] })
  expect(await refusal(receivePayment({ ...context, config: { ...context.config, facilitators: { allowed: [], loopback: true } } }, own, body))).toMatchObject({
    reason: 'malformed',
  })
  await chooseFacilitators(opened.context.db, { accountId: own.accountId, facilitators: null })
  expect(await refusal(receivePayment(context, own, body))).toMatchObject({ reason: 'malformed' })
})
