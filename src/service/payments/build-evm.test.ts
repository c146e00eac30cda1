import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashTypedData, type Hex, type TypedDataDefinition } from 'viem'
import { formatAmount } from '#contract/amount.ts'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { LosslessNumber, stringifyJson } from '#contract/json.ts'
import { ProblemError } from '#contract/problem.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { readSent } from '#testing/sent-statements.ts'
import { openContext, type OpenedContext } from '#testing/service-context.ts'
import type { Actor, Context } from '../context/context.ts'
import { findPayment } from '../db/payments.ts'
import { buildTransaction } from './build.ts'
import { readPaymentBody } from './status.ts'

const ETH = 10n ** 18n
const PAYEE = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

let evm: EvmFixture
let opened: OpenedContext
let context: Context
let actor: Actor

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 1 })
  await evm.mine()
  const token = {
    address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
    symbol: 'USDC',
    name: 'USD Coin',
    decimals: 6,
    native: false,
  }
  opened = await openContext([{ ...evm.network, assets: [...evm.network.assets, token] }])
  context = opened.context
  actor = opened.actor
})

afterAll(async () => {
  await opened[Symbol.asyncDispose]()
  await evm[Symbol.asyncDispose]()
})

type Body = Parameters<typeof buildTransaction>[2]

async function build(body: Partial<Body> & { walletAddress: string }) {
  return buildTransaction(context, actor, { recipientAddress: PAYEE, amount: '0.5', ...body })
}

async function refusal(body: Partial<Body> & { walletAddress: string }) {
  return build(body).then(
    () => expect.fail('it was built'),
    (error: unknown) => error,
  )
}

test('the bytes say what was asked for, and the row is there before they leave', async () => {
  const payer = await evm.wallet(ETH)
  const metadata = {
    referenceId: 'order-7',
    note: 'a\0b',
    'k\0': 1,
    total: new LosslessNumber('0.100000000000000000001'),
  }
  const reply = await build({
    walletAddress: payer.address,
    amount: '0.123456789012345678',
    resource: 'https://shop.example/a?b=1',
    metadata,
  })
  const decoded = decodeTransaction(Buffer.from(reply.transaction, 'base64'))
  expect(decoded).toMatchObject({
    ok: true,
    form: 'unsigned',
    chainId: 31337,
    to: PAYEE,
    valueAtomic: 123456789012345678n,
    data: '0x',
    gas: 21_000n,
    nonce: 0,
  })
  expect(decoded.ok && decoded.feeBoundAtomic.toString()).toBe(reply.fee.amountAtomic)
  expect(reply.amount).toEqual(new LosslessNumber('0.123456789012345678'))
  expect(reply).toMatchObject({
    encoding: 'evm-rlp-unsigned',
    paymentProof: null,
    amountAtomic: '123456789012345678',
    sender: payer.address,
    recipient: PAYEE,
  })

  const row = await findPayment(context.db, reply.paymentId)
  expect(row).toMatchObject({
    status: 'created',
    amount: 123456789012345678n,
    nonce: 0,
    unsignedTransaction: reply.transaction,
    expiresAt: new Date(reply.expiresAt),
  })
  expect(reply.expiresAt).toBe((row?.createdAt.getTime() ?? 0) + 60_000)
  const body = await readPaymentBody(context, reply.paymentId)
  expect(stringifyJson(body.metadata)).toBe(
    '{"referenceId":"order-7","note":"a\\u0000b","k\\u0000":1,"total":0.100000000000000000001}',
  )
  expect(body.events).toMatchObject([{ status: 'created', source: 'service', blockHeight: null }])
})

test('an order is recorded by one statement, and by a transaction where it names a transfer that it may return', async () => {
  const { address: walletAddress } = await evm.wallet(ETH)
  await build({ walletAddress })
  expect(await readSent(() => build({ walletAddress }))).toEqual([
    expect.stringMatching(/insert into "service"."payment".* insert into service.event/s),
  ])
  const metadata = { referenceId: `0x${'1'.repeat(64)}` }
  const sent = await readSent(() => build({ walletAddress, metadata }))
  expect(sent).toHaveLength(5)
  expect([sent[0], sent.at(-1)]).toEqual(['begin', 'commit'])
  expect(sent[1]).toContain('pg_advisory_xact_lock')
})

test('the proof request is typed data the payer can sign once the hash is filled in', async () => {
  const payer = await evm.wallet(ETH)
  const reply = await build({ walletAddress: payer.address, resource: 'https://shop.example/a' })
  const request = reply.proofRequest as unknown as TypedDataDefinition & {
    message: Record<string, unknown>
  }
  const filled = { ...request, message: { ...request.message, txRef: `0x${'12'.repeat(32)}` } }
  expect(hashTypedData(filled as TypedDataDefinition)).toMatch(/^0x[0-9a-f]{64}$/)
  expect(request).toMatchObject({
    domain: { name: 'x402 Payment Proof', version: '1', chainId: 31337 },
    primaryType: 'PaymentProof',
    message: {
      from: payer.address,
      resource: { url: 'https://shop.example/a', description: '', mimeType: '' },
      accepted: {
        scheme: 'exact',
        assetTransferMethod: 'txid',
        network: 'eip155:31337',
        amount: (ETH / 2n).toString(),
        payTo: PAYEE,
      },
    },
  })
})

/** What the random digits of both fees per gas can change of a plain transfer's fee. */
const RANDOM_WEI = 2n * 2n ** 24n * 21_000n

test('the balance must hold amount and fee, exact to the wei', async () => {
  const payer = await evm.wallet(ETH)
  const fee = BigInt(
    (await build({ walletAddress: payer.address, priorityFee: '0.0001' })).fee.amountAtomic,
  )
  const most = ETH - fee - RANDOM_WEI
  expect(
    (
      await build({
        walletAddress: payer.address,
        amount: formatAmount(most, 18),
        priorityFee: '0.0001',
      })
    ).amountAtomic,
  ).toBe(most.toString())
  const tooMuch = ETH - fee + RANDOM_WEI
  const refused = await refusal({
    walletAddress: payer.address,
    amount: formatAmount(tooMuch, 18),
    priorityFee: '0.0001',
  })
  if (!(refused instanceof ProblemError)) throw new Error('Something else was thrown.')
  const asked = BigInt(String(refused.facts.details?.feeAtomic))
  expect(asked > fee - RANDOM_WEI && asked < fee + RANDOM_WEI).toBe(true)
  expect(refused).toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
    facts: {
      details: {
        required: formatAmount(tooMuch + asked, 18),
        requiredAtomic: (tooMuch + asked).toString(),
        available: '1',
        availableAtomic: ETH.toString(),
        symbol: 'ETH',
        reason: {
          code: 'amount_and_fee',
          params: {
            required: { amountAtomic: (tooMuch + asked).toString() },
            fee: { amountAtomic: asked.toString() },
          },
        },
      },
    },
  })
})

test('what is far above the balance is told as a balance, not as a recipient', async () => {
  const payer = await evm.wallet(0n)
  expect(await refusal({ walletAddress: payer.address, amount: '1e30' })).toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
    facts: { details: { available: '0' } },
  })
})

test('the priority fee is at most the total that was named, less its random digits; automatic stays small', async () => {
  const payer = await evm.wallet(ETH)
  const reply = await build({ walletAddress: payer.address, priorityFee: '0.00021' })
  const perGas = BigInt(String(reply.decoded.maxPriorityFeePerGas))
  const named = 210_000_000_000_000n / 21_000n
  expect(perGas <= named && perGas > named - 2n ** 24n).toBe(true)
  expect(reply.fee.priorityFee).toEqual(new LosslessNumber(formatAmount(perGas * 21_000n, 18)))
  for (const priorityFee of ['0', '0.0', '0e0'])
    expect(
      (await build({ walletAddress: payer.address, priorityFee })).decoded.maxPriorityFeePerGas,
    ).toBe('0')
  const automatic = await build({ walletAddress: payer.address })
  expect(BigInt(String(automatic.decoded.maxPriorityFeePerGas))).toBeLessThan(
    5_000_000_000n + 2n ** 24n,
  )
})

/** `revert()` and `stop`, and a loop that burns all gas it gets. */
const REVERTS: Hex = '0x60006000fd'
const TAKES: Hex = '0x00'
const BURNS: Hex = '0x5b600056'

const recipients = [
  [
    'a wrong checksum',
    '0x90f79bf6EB2c4f870365E785982E1f101E93b906',
    { code: 'bad_checksum', params: {} },
  ],
  ['no address', 'payee.eth', { code: 'not_an_address', params: { expected: 'evm' } }],
  ['nothing', '', { code: 'not_an_address', params: { expected: 'evm' } }],
  ['the zero address', `0x${'0'.repeat(40)}`, { code: 'zero_address', params: {} }],
  [
    'the sign for native currency',
    '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
    { code: 'zero_address', params: {} },
  ],
  [
    'a Solana address',
    '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
    { code: 'other_network_family', params: { expected: 'evm' } },
  ],
  [
    'a precompiled contract',
    '0x0000000000000000000000000000000000000004',
    { code: 'precompiled_contract', params: {} },
  ],
] as const

test.each(recipients)('INVALID_RECIPIENT: %s', async (_title, recipientAddress, reason) => {
  const payer = await evm.wallet(ETH)
  expect(await refusal({ walletAddress: payer.address, recipientAddress })).toMatchObject({
    code: 'INVALID_RECIPIENT',
    facts: { details: { recipientAddress: expect.stringContaining('Received'), reason } },
  })
})

test('INVALID_RECIPIENT: the sender itself, in any spelling', async () => {
  const payer = await evm.wallet(ETH)
  for (const recipientAddress of [payer.address, payer.address.toLowerCase()]) {
    expect(await refusal({ walletAddress: payer.address, recipientAddress })).toMatchObject({
      code: 'INVALID_RECIPIENT',
      facts: { details: { reason: { code: 'same_as_sender', params: {} } } },
    })
  }
})

test.each([
  ['rejects', REVERTS, expect.stringContaining('execution reverted')],
  ['burns what it gets', BURNS, expect.stringMatching(/gas/i)],
  ['takes it', TAKES, undefined],
] as const)('a contract that %s', async (_title, code, answer: unknown) => {
  const payer = await evm.wallet(ETH)
  const contract = (await evm.wallet(0n)).address
  await evm.setCode(contract, code)
  if (answer !== undefined)
    expect(
      await refusal({ walletAddress: payer.address, recipientAddress: contract }),
    ).toMatchObject({
      code: 'INVALID_RECIPIENT',
      facts: { details: { reason: { code: 'contract_reverts', params: { answer } } } },
    })
  else
    expect(
      BigInt(
        String(
          (await build({ walletAddress: payer.address, recipientAddress: contract })).decoded.gas,
        ),
      ),
    ).toBeGreaterThan(0n)
})

test('a contract and the zero address cannot pay; an account that delegates to code can', async () => {
  const contract = await evm.wallet(ETH)
  await evm.setCode(contract.address, TAKES)
  expect(await refusal({ walletAddress: contract.address })).toMatchObject({
    code: 'INVALID_PARAMETERS',
    facts: {
      details: {
        walletAddress: expect.any(String),
        reason: { code: 'sender_is_contract', params: {} },
      },
    },
  })
  expect(await refusal({ walletAddress: `0x${'0'.repeat(40)}` })).toMatchObject({
    code: 'INVALID_PARAMETERS',
    facts: { details: { walletAddress: expect.any(String) } },
  })
  await evm.setCode(contract.address, `0xef0100${PAYEE.slice(2)}`)
  await build({ walletAddress: contract.address })
})

test('every wrong field is named at once, and an unknown token with those that are known', async () => {
  const payer = await evm.wallet(ETH)
  expect(
    await refusal({ walletAddress: payer.address, amount: '0', asset: 'DAI', priorityFee: '-1' }),
  ).toMatchObject({
    code: 'INVALID_PARAMETERS',
    facts: {
      details: {
        amount: expect.stringMatching(/above 0/),
        asset: expect.stringMatching(
          /^Expected an asset of Local EVM .*ETH 0xEeee.*USDC 0x5FbDB.*received "DAI"/,
        ),
        priorityFee: 'Expected 0 or more, received -1.',
      },
    },
  })
  expect(
    await refusal({ walletAddress: payer.address, amount: '0.1234567890123456789' }),
  ).toMatchObject({
    facts: { details: { amount: expect.stringMatching(/18 decimals/) } },
  })
  expect(await refusal({ walletAddress: payer.address, asset: 'DOGE' })).toMatchObject({
    facts: { details: { asset: expect.stringMatching(/Expected an asset of Local EVM/) } },
  })
  expect(await refusal({ walletAddress: payer.address, network: 'eip155:1' })).toMatchObject({
    facts: { details: { network: expect.stringMatching(/eip155:31337/) } },
  })
})
