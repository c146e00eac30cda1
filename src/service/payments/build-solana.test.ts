import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decodeTransaction } from '#chains/solana/decode.ts'
import { formatAmount } from '#contract/amount.ts'
import { LosslessNumber } from '#contract/json.ts'
import { startSolana, type SolanaFixture } from '#testing/local-chains.ts'
import { openContext, type OpenedContext } from '#testing/service-context.ts'
import type { Actor, Context } from '../context/context.ts'
import { buildTransaction } from './build.ts'

const SOL = 1_000_000_000n
const RENT = 890_880n
const FEE = 5_000n
const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'

/** An amount as a reason carries it. */
const lamports = (amount: bigint) => ({
  amountAtomic: amount.toString(),
  asset: '11111111111111111111111111111111',
  symbol: 'SOL',
  decimals: 9,
})

let solana: SolanaFixture
let opened: OpenedContext
let context: Context
let actor: Actor

beforeAll(async () => {
  solana = await startSolana({ slotTimeMs: 100 })
  opened = await openContext([solana.network])
  context = opened.context
  actor = opened.actor
})

afterAll(async () => {
  await opened[Symbol.asyncDispose]()
  await solana[Symbol.asyncDispose]()
})

type Body = Parameters<typeof buildTransaction>[2]

async function build(payer: Keypair, body: Partial<Body> = {}) {
  const recipientAddress = body.recipientAddress ?? Keypair.generate().publicKey.toBase58()
  return buildTransaction(context, actor, {
    amount: '0.1',
    ...body,
    walletAddress: payer.publicKey.toBase58(),
    recipientAddress,
  })
}

async function refusal(payer: Keypair, body: Partial<Body> = {}) {
  return build(payer, body).then(
    () => expect.fail('it was built'),
    (error: unknown) => error,
  )
}

test('the bytes say what was asked for, with the payment in the memo, and the cluster takes them', async () => {
  const payer = await solana.wallet(SOL)
  const reply = await build(payer, { priorityFee: '0.00002' })
  const decoded = decodeTransaction(Buffer.from(reply.transaction, 'base64'))
  expect(decoded).toMatchObject({
    ok: true,
    form: 'unsigned',
    feePayer: payer.publicKey.toBase58(),
    transfer: {
      sender: reply.sender,
      recipient: reply.recipient,
      amountAtomic: SOL / 10n,
      memo: reply.paymentId,
    },
  })
  expect(decoded.ok && decoded.feeBoundAtomic.toString()).toBe(reply.fee.amountAtomic)
  expect(reply).toMatchObject({
    encoding: 'solana-wire-v0',
    proofRequest: null,
    fee: { amountAtomic: '25000' },
  })
  expect(reply.fee.priorityFee).toEqual(new LosslessNumber('0.00002'))
  const height = await solana.connection.getBlockHeight('confirmed')
  expect(reply.lastValidBlockHeight - height).toBeGreaterThan(100)

  const transaction = VersionedTransaction.deserialize(Buffer.from(reply.transaction, 'base64'))
  transaction.sign([payer])
  await expect(solana.connection.sendRawTransaction(transaction.serialize())).resolves.toBeTypeOf(
    'string',
  )
})

test('the wallet may be emptied to the lamport, or keep its rent; nothing between, nothing more', async () => {
  const payer = await solana.wallet(SOL)
  const spell = (lamports: bigint) => formatAmount(lamports, 9)
  expect((await build(payer, { amount: spell(SOL - FEE) })).amountAtomic).toBe(
    (SOL - FEE).toString(),
  )
  const emptied = SOL - FEE - 20_000n
  const reply = await build(payer, { amount: spell(emptied), priorityFee: '0.00002' })
  expect([reply.amountAtomic, reply.fee.amountAtomic]).toEqual([String(emptied), '25000'])
  expect((await build(payer, { amount: spell(SOL - FEE - RENT) })).amountAtomic).toBe(
    (SOL - FEE - RENT).toString(),
  )
  expect(await refusal(payer, { amount: spell(SOL - FEE + 1n) })).toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
    facts: {
      details: {
        requiredAtomic: (SOL + 1n).toString(),
        availableAtomic: SOL.toString(),
        feeAtomic: FEE.toString(),
        fee: '0.000005',
        symbol: 'SOL',
      },
    },
  })
  for (const left of [1n, RENT - 1n]) {
    expect(await refusal(payer, { amount: spell(SOL - FEE - left) })).toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      facts: {
        details: {
          requiredAtomic: (SOL - left + RENT).toString(),
          reason: {
            code: 'amount_fee_and_rent',
            params: {
              required: lamports(SOL - left + RENT),
              available: lamports(SOL),
              fee: lamports(FEE),
              rent: lamports(RENT),
            },
          },
        },
      },
    })
  }
})

test('a wallet that was never used, and amounts no lamports can spell, are told as a balance', async () => {
  expect(await refusal(Keypair.generate())).toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
    facts: { details: { available: '0' } },
  })
  expect(await refusal(await solana.wallet(SOL), { amount: '1e20' })).toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
  })
  expect(await refusal(await solana.wallet(SOL), { amount: '0.0000000001' })).toMatchObject({
    code: 'INVALID_PARAMETERS',
  })
})

test('INVALID_RECIPIENT: less than the rent minimum to an address never used carries the minimum', async () => {
  const payer = await solana.wallet(SOL)
  const amount = formatAmount(RENT - 1n, 9)
  expect(await refusal(payer, { amount })).toMatchObject({
    code: 'INVALID_RECIPIENT',
    facts: {
      details: {
        minimumAtomic: RENT.toString(),
        asset: '11111111111111111111111111111111',
        symbol: 'SOL',
        reason: { code: 'below_rent_minimum', params: { minimum: lamports(RENT) } },
      },
    },
  })
  await build(payer, { amount: formatAmount(RENT, 9) })
  const used = await solana.wallet(RENT)
  await build(payer, { amount: '0.000000001', recipientAddress: used.publicKey.toBase58() })
})

test.each([
  ['no address', 'nobody', { code: 'not_an_address', params: { expected: 'solana' } }],
  [
    'an EVM address',
    '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
    { code: 'other_network_family', params: { expected: 'solana' } },
  ],
  ['the system program', '11111111111111111111111111111111', { code: 'zero_address', params: {} }],
  ['the token program', TOKEN_PROGRAM, { code: 'program_account', params: {} }],
  [
    'the memo program',
    'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
    { code: 'program_account', params: {} },
  ],
  ['a mint', WRAPPED_SOL, { code: 'token_mint', params: {} }],
  [
    'a sysvar',
    'SysvarC1ock11111111111111111111111111111111',
    { code: 'system_account', params: {} },
  ],
  [
    'the incinerator',
    '1nc1nerator11111111111111111111111111111111',
    { code: 'incinerator', params: {} },
  ],
])('INVALID_RECIPIENT: %s', async (_title, recipientAddress, reason) => {
  const payer = await solana.wallet(SOL)
  expect(await refusal(payer, { recipientAddress })).toMatchObject({
    code: 'INVALID_RECIPIENT',
    facts: { details: { recipientAddress: expect.stringContaining(recipientAddress), reason } },
  })
})

test('INVALID_RECIPIENT: the sender itself', async () => {
  const payer = await solana.wallet(SOL)
  expect(await refusal(payer, { recipientAddress: payer.publicKey.toBase58() })).toMatchObject({
    code: 'INVALID_RECIPIENT',
    facts: { details: { reason: { code: 'same_as_sender', params: {} } } },
  })
})

test.each([TOKEN_PROGRAM, TOKEN_2022_PROGRAM])(
  'INVALID_RECIPIENT: a token account of %s',
  async (owner) => {
    const payer = await solana.wallet(SOL)
    const account = Keypair.generate().publicKey.toBase58()
    const data = Buffer.alloc(165)
    data.writeUInt8(1, 108)
    await solana.setAccount(account, { lamports: 2_039_280n, owner, data: data.toString('hex') })
    expect(await refusal(payer, { recipientAddress: account })).toMatchObject({
      code: 'INVALID_RECIPIENT',
      facts: { details: { reason: { code: 'token_account', params: {} } } },
    })
  },
)

test('a sender that belongs to a program cannot pay', async () => {
  const account = Keypair.generate()
  await solana.setAccount(account.publicKey.toBase58(), {
    lamports: SOL,
    owner: TOKEN_PROGRAM,
    data: Buffer.alloc(165).toString('hex'),
  })
  expect(await refusal(account)).toMatchObject({
    code: 'INVALID_PARAMETERS',
    facts: {
      details: {
        walletAddress: expect.any(String),
        reason: { code: 'sender_is_program_account', params: {} },
      },
    },
  })
})

test('a priority fee above what a transaction may offer is refused with the maximum', async () => {
  const payer = await solana.wallet(SOL)
  expect(await refusal(payer, { priorityFee: '0.5' })).toMatchObject({
    code: 'INVALID_PARAMETERS',
    facts: { details: { priorityFee: expect.stringContaining('at most 0.04') } },
  })
})
