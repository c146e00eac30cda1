import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NATIVE_SOL, SOLANA_DEVNET, type Network } from '#contract/network.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { proveTxid, refusal } from '#testing/proofs.ts'
import { openAccount, openContext, type OpenedContext } from '#testing/service-context.ts'
import type { Context } from '../context/context.ts'
import { chooseFacilitators } from '../keys/accounts.ts'
import { VerificationReport } from '../verification/verification-report.ts'
import { Deadline } from '../verification/proof-time.ts'
import { receivePayment } from './receive.ts'
import { openRemote } from './remote.ts'

/** A facilitator that a third party runs: what it says is a hint, and the chain decides. */

const ETH = 10n ** 18n
const AMOUNT = 10n ** 16n
const NETWORK = 'eip155:31337'
const URL = 'https://shop.example/a'
type Raw = (response: ServerResponse) => void
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
      asked.push({
        path,
        body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>,
      })
      const answer = path.endsWith('/verify') ? says.verify : says.settle
      if (typeof answer === 'function') (answer as Raw)(response)
      else if (answer !== undefined) response.end(JSON.stringify(answer))
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  facilitatorUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x402`
  opened = await openContext([evm.network])
  context = {
    ...opened.context,
    config: {
      ...opened.context.config,
      facilitators: { allowed: [facilitatorUrl], loopback: true },
    },
  }
})

afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await opened[Symbol.asyncDispose]()
  await evm[Symbol.asyncDispose]()
})

function raw(answer: Raw): Raw {
  return answer
}

/** One byte at a time, and never all of them. */
function drip(response: ServerResponse): void {
  response.writeHead(200)
  const timer = setInterval(() => response.write(' '), 20)
  response.on('close', () => clearInterval(timer))
}

async function pay(value = AMOUNT) {
  const [payer, payee] = await Promise.all([evm.wallet(ETH), evm.wallet(0n)])
  const fields = {
    chainId: 31337,
    gas: 21_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
    nonce: 0,
    to: payee.address,
    value,
  }
  const txRef = await evm.client.sendRawTransaction({
    serializedTransaction: await payer.signTransaction({ type: 'eip1559', ...fields }),
  })
  await evm.mine(2)
  const paymentProof = await proveTxid({
    payer,
    payTo: payee.address,
    network: NETWORK,
    amount: AMOUNT,
    txRef,
    url: URL,
  })
  return (body: { facilitatorUrl?: string; timeout?: number } = {}, within = context) =>
    receivePayment(within, opened.actor, {
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
  expect(asked[0]?.body).toMatchObject({
    x402Version: 2,
    paymentRequirements: { amount: AMOUNT.toString(), network: NETWORK },
  })
  expect(await receive()).toMatchObject({ alreadyProcessed: true })
  expect(asked).toHaveLength(2)
})

test('a facilitator that lies is not believed', async () => {
  says = { verify: VALID, settle: SETTLED }
  expect(await refusal((await pay(AMOUNT - 1n))())).toMatchObject({
    code: 'INVALID_PAYMENT_PROOF',
    reason: 'amount_mismatch',
  })
})

test.each([
  ['does not verify', { verify: { isValid: false, invalidReason: 'x' }, settle: SETTLED }],
  [
    'does not settle',
    { verify: VALID, settle: { ...SETTLED, success: false, errorReason: 'settlement_pending' } },
  ],
  ['answers nonsense', { verify: { isValid: 'yes' }, settle: SETTLED }],
  ['does not answer', { verify: undefined, settle: SETTLED }],
  [
    'names its verdict twice',
    {
      verify: raw((response) => response.end('{"isValid":false,"isValid":true}')),
      settle: SETTLED,
    },
  ],
  [
    'answers with a page',
    { verify: raw((response) => response.end('<html>{"isValid":true}</html>')), settle: SETTLED },
  ],
  [
    'sends elsewhere',
    {
      verify: raw((response) =>
        response.writeHead(307, { location: '/x402/settle' }).end(JSON.stringify(VALID)),
      ),
      settle: SETTLED,
    },
  ],
  [
    'agrees with the status of an error',
    {
      verify: raw((response) => response.writeHead(402).end(JSON.stringify(VALID))),
      settle: SETTLED,
    },
  ],
  [
    'sends ten megabytes',
    {
      verify: raw((response) =>
        response.end(JSON.stringify({ ...VALID, more: 'x'.repeat(10 ** 7) })),
      ),
      settle: SETTLED,
    },
  ],
  ['drips', { verify: VALID, settle: raw(drip) }],
  ['breaks off', { verify: VALID, settle: raw((response) => response.destroy()) }],
  [
    'names a transaction without end',
    { verify: VALID, settle: { ...SETTLED, transaction: 'x'.repeat(129) } },
  ],
])(
  'a facilitator that %s decides nothing: the same proof is good without it',
  async (_, answers) => {
    says = answers
    const receive = await pay()
    expect(await refusal(receive({ timeout: 1 }))).toEqual({ code: 'PAYMENT_VERIFICATION_FAILED' })
    expect(await receive({ facilitatorUrl: undefined })).toMatchObject({
      verified: true,
      alreadyProcessed: false,
    })
  },
)

test('whatever else a facilitator says of a payment changes nothing of it', async () => {
  says = {
    verify: { ...VALID, payer: `0x${'66'.repeat(20)}`, amount: '1', checks: [{ ok: false }] },
    settle: {
      ...SETTLED,
      payer: `0x${'66'.repeat(20)}`,
      network: 'eip155:1',
      transaction: `0x${'66'.repeat(32)}`,
      amount: '1',
    },
  }
  const receive = await pay()
  const answer = await receive()
  expect(answer).toMatchObject({
    verified: true,
    network: NETWORK,
    amountAtomic: AMOUNT.toString(),
  })
  expect([answer.sender, answer.signature].join()).not.toContain('6666')
})

test('a facilitator that says null of what it leaves out is understood, as by the official client', async () => {
  const absent = { payer: null, extensions: null, extra: null }
  says = {
    verify: { ...VALID, ...absent, invalidReason: null, invalidMessage: null },
    settle: { ...SETTLED, ...absent, errorReason: null, errorMessage: null, amount: null },
  }
  expect(await (await pay())()).toMatchObject({ verified: true, verifiedBy: facilitatorUrl })
})

test('what a facilitator calls a transaction and cannot be one is asked of no node', async () => {
  const network: Network = { ...evm.network, network: SOLANA_DEVNET, assets: [NATIVE_SOL] }
  const open = {
    resource: null,
    resourceInfo: null,
    memo: null,
    notBefore: null,
    expiresAt: null,
    method: null,
    feePayers: [],
  }
  const terms = { network, asset: NATIVE_SOL, payTo: '1'.repeat(32), amountAtomic: 1n, ...open }
  const payment = {
    x402Version: 1,
    scheme: 'exact',
    network: network.network,
    payload: {},
  } as const
  const asking = {
    url: new globalThis.URL(facilitatorUrl),
    payment,
    terms,
    report: new VerificationReport(),
    deadline: new Deadline(5_000),
  }
  for (const transaction of ['', 'x', '0OIl', `0x${'66'.repeat(32)}`, '../../status']) {
    says = { verify: VALID, settle: { ...SETTLED, transaction } }
    expect(await openRemote(context, asking).settle()).toBeNull()
  }
})

test('a facilitator that our egress rule refuses is told apart from one that does not answer', async () => {
  asked = []
  const receive = await pay()
  const closed = {
    ...context,
    config: { ...context.config, facilitators: { allowed: [facilitatorUrl], loopback: false } },
  }
  const answer = receive({}, closed)
  await expect(answer).rejects.toThrow(
    'Our egress rule refuses the address of the facilitator, so it was not asked.',
  )
  expect(asked).toEqual([])
  says = { verify: undefined, settle: SETTLED }
  await expect(receive({ timeout: 1 })).rejects.toThrow('The facilitator did not answer')
})

test('a facilitator that is not on the list is never asked', async () => {
  asked = []
  const receive = await pay()
  for (const other of [
    facilitatorUrl.replace('/x402', '/other'),
    'http://169.254.169.254/',
    'nonsense',
    facilitatorUrl.replace('http://', 'http://user@'),
  ])
    expect(await refusal(receive({ facilitatorUrl: other }))).toMatchObject({
      code: 'INVALID_PARAMETERS',
    })
  expect(asked).toEqual([])
})

test('an account with its own list asks only the facilitators on it', async () => {
  const own = await openAccount(opened.context)
  await chooseFacilitators(opened.context.db, {
    accountId: own.accountId,
    facilitators: ['https://facilitator.example'],
  })
  const body = {
    walletAddress: `0x${'11'.repeat(20)}`,
    paymentProof: 'x',
    expectedAmount: '0.01',
    facilitatorUrl,
    timeout: 5,
  }
  expect(await refusal(receivePayment(context, own, body))).toEqual({ code: 'INVALID_PARAMETERS' })
  await chooseFacilitators(opened.context.db, {
    accountId: own.accountId,
    facilitators: [facilitatorUrl],
  })
  expect(
    await refusal(
      receivePayment(
        {
          ...context,
          config: { ...context.config, facilitators: { allowed: [], loopback: true } },
        },
        own,
        body,
      ),
    ),
  ).toMatchObject({
    reason: 'malformed',
  })
  await chooseFacilitators(opened.context.db, { accountId: own.accountId, facilitators: null })
  expect(await refusal(receivePayment(context, own, body))).toMatchObject({ reason: 'malformed' })
})
