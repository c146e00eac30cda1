import { Keypair, PublicKey, VersionedTransaction } from '@solana/web3.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decodeTransaction } from '#chains/solana/decode.ts'
import type { Asset } from '#contract/network.ts'
import { startSolana, type SolanaFixture } from '#testing/local-chains.ts'
import { balanceOnSolana, createMint, give, type TestExtension } from '#testing/local-tokens.ts'
import { openContext, type OpenedContext } from '#testing/service-context.ts'
import { accountOf, TOKEN, TOKEN_2022 } from '#testing/token-instructions.ts'
import type { Actor, Context } from '../context/context.ts'
import { findPayment } from '../db/payments.ts'
import { buildTransaction } from './build.ts'

const SOL = 1_000_000_000n
const FEE = 5_000n
const WALLET_RENT = 890_880n
const ACCOUNT_RENT = 2_039_280n

/** Extensions of mints, by Token-2022's numbers. */
const NON_TRANSFERABLE: TestExtension = { type: 9, value: new Uint8Array() }
const NO_HOOK: TestExtension = { type: 14, value: new Uint8Array(64) }
const HOOK: TestExtension = { type: 14, value: new Uint8Array(64).fill(7, 32) }
const DELEGATE: TestExtension = { type: 12, value: new Uint8Array(32) }
const feeOf = (basisPoints: number): TestExtension => {
  const value = Buffer.alloc(108)
  for (const offset of [72, 90]) {
    value.writeBigUInt64LE(2n ** 60n, offset + 8)
    value.writeUInt16LE(basisPoints, offset + 16)
  }
  return { type: 1, value }
}
/** What a holder's account carries under a mint with a fee: what was withheld in it. */
const WITHHELD: TestExtension = { type: 2, value: new Uint8Array(8) }
const IMMUTABLE_OWNER: TestExtension = { type: 7, value: new Uint8Array() }

let solana: SolanaFixture
let opened: OpenedContext
let context: Context
let actor: Actor
let payer: Keypair
let tokens: Record<
  'USDC' | 'PLAIN22' | 'LIKEPYUSD' | 'FEE' | 'HOOKED' | 'SOUL' | 'WRONG' | 'NONE',
  Asset
>

/** The account that an owner's USDC is in. */
const usdcOf = (owner: PublicKey) => accountOf(owner, new PublicKey(tokens.USDC.address)).toBase58()
const program = (asset: Asset) =>
  asset === tokens.USDC || asset === tokens.WRONG ? TOKEN : TOKEN_2022

beforeAll(async () => {
  solana = await startSolana({ slotTimeMs: 100 })
  payer = await solana.wallet(SOL)
  const mint = async (symbol: string, extensions?: readonly TestExtension[]) => ({
    ...(await createMint(solana, extensions ? { program: TOKEN_2022, extensions } : {})),
    symbol,
  })
  tokens = {
    USDC: await mint('USDC'),
    PLAIN22: await mint('PLAIN22', [DELEGATE]),
    LIKEPYUSD: await mint('LIKEPYUSD', [feeOf(0), NO_HOOK, DELEGATE]),
    FEE: await mint('FEE', [feeOf(100)]),
    HOOKED: await mint('HOOKED', [HOOK]),
    SOUL: await mint('SOUL', [NON_TRANSFERABLE]),
    WRONG: { ...(await mint('WRONG')), decimals: 9 },
    NONE: {
      address: Keypair.generate().publicKey.toBase58(),
      symbol: 'NONE',
      name: 'None',
      decimals: 6,
      native: false,
    },
  }
  const own = { owner: payer.publicKey, amount: 1_000_000_000n }
  await give(solana, tokens.USDC, own)
  await give(solana, tokens.PLAIN22, { ...own, program: TOKEN_2022, extensions: [IMMUTABLE_OWNER] })
  await give(solana, tokens.LIKEPYUSD, {
    ...own,
    program: TOKEN_2022,
    extensions: [IMMUTABLE_OWNER, WITHHELD, { type: 15, value: new Uint8Array(1) }],
  })
  await give(solana, tokens.FEE, {
    ...own,
    program: TOKEN_2022,
    extensions: [IMMUTABLE_OWNER, WITHHELD],
  })
  opened = await openContext([
    { ...solana.network, assets: [...solana.network.assets, ...Object.values(tokens)] },
  ])
  context = opened.context
  actor = opened.actor
})

afterAll(async () => {
  await opened[Symbol.asyncDispose]()
  await solana[Symbol.asyncDispose]()
})

type Body = Parameters<typeof buildTransaction>[2]

function build(body: Partial<Body> = {}, from = payer) {
  const recipientAddress = body.recipientAddress ?? Keypair.generate().publicKey.toBase58()
  return buildTransaction(context, actor, {
    amount: '1.5',
    asset: 'USDC',
    ...body,
    walletAddress: from.publicKey.toBase58(),
    recipientAddress,
  })
}

const refusal = (body: Partial<Body> = {}, from = payer) =>
  build(body, from).then(
    () => expect.fail('it was built'),
    (error: unknown) => error,
  )

async function land(transaction: string, from = payer): Promise<string> {
  const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
  signed.sign([from])
  return solana.connection.sendRawTransaction(signed.serialize())
}

test.each<['USDC' | 'PLAIN22' | 'LIKEPYUSD', bigint]>([
  ['USDC', ACCOUNT_RENT],
  ['PLAIN22', 6_960n * (128n + 170n)],
  ['LIKEPYUSD', 6_960n * (128n + 170n + 12n + 5n)],
])(
  'a payment in %s opens the recipient’s account where it is missing, and tells its rent to the lamport',
  async (symbol, rent) => {
    const asset = tokens[symbol]
    const recipient = await solana.wallet(0n)
    const before = BigInt(await solana.connection.getBalance(payer.publicKey, 'confirmed'))
    const reply = await build({
      asset: symbol,
      recipientAddress: recipient.publicKey.toBase58(),
      amount: '1.500001',
    })
    expect(reply).toMatchObject({
      asset: asset.address,
      symbol,
      decimals: 6,
      amountAtomic: '1500001',
      fee: { rentAtomic: rent.toString(), amountAtomic: (FEE + rent).toString() },
    })
    const account = accountOf(recipient.publicKey, new PublicKey(asset.address), program(asset))
    expect(reply.decoded).toMatchObject({
      transferChecked: {
        mint: asset.address,
        amount: '1500001',
        decimals: 6,
        destination: account.toBase58(),
        program: program(asset).toBase58(),
      },
      recipientAccount: {
        owner: reply.recipient,
        address: account.toBase58(),
        opened: true,
        rentLamports: rent.toString(),
      },
      memo: reply.paymentId,
    })
    expect(decodeTransaction(Buffer.from(reply.transaction, 'base64'))).toMatchObject({
      ok: true,
      operations: [
        { kind: 'fee_limit' },
        { kind: 'fee_price' },
        { kind: 'account_opened' },
        { kind: 'memo', text: reply.paymentId },
        { kind: 'token_transfer' },
      ],
      transfer: {
        sender: reply.sender,
        recipient: reply.recipient,
        asset: asset.address,
        amountAtomic: 1_500_001n,
        memo: reply.paymentId,
      },
    })
    expect(await findPayment(context.db, reply.paymentId)).toMatchObject({
      asset: asset.address,
      symbol,
      decimals: 6,
      amount: 1_500_001n,
    })

    await land(reply.transaction)
    await expect.poll(() => balanceOnSolana(solana, account)).toBe(1_500_001n)
    expect(await solana.connection.getBalance(payer.publicKey, 'confirmed')).toBe(
      Number(before - FEE - rent),
    )
    const second = await build({ asset: symbol, recipientAddress: recipient.publicKey.toBase58() })
    expect(second).toMatchObject({
      fee: { rentAtomic: '0', amountAtomic: FEE.toString() },
      decoded: { recipientAccount: { opened: false } },
    })
  },
)

test('an account that somebody sent lamports to before is opened, and they count towards its rent', async () => {
  const recipient = Keypair.generate().publicKey
  const account = accountOf(recipient, new PublicKey(tokens.USDC.address))
  await solana.setAccount(account.toBase58(), { lamports: 1_000_000n })
  const reply = await build({ recipientAddress: recipient.toBase58() })
  expect(reply.fee.rentAtomic).toBe((ACCOUNT_RENT - 1_000_000n).toString())
  await land(reply.transaction)
  await expect.poll(() => balanceOnSolana(solana, account)).toBe(1_500_000n)
})

test('an account that asks for a memo before every transfer is paid', async () => {
  const recipient = Keypair.generate().publicKey
  const asks: TestExtension = { type: 8, value: Uint8Array.of(1) }
  await give(solana, tokens.PLAIN22, {
    owner: recipient,
    amount: 0n,
    program: TOKEN_2022,
    extensions: [IMMUTABLE_OWNER, asks],
  })
  expect(await build({ asset: 'PLAIN22', recipientAddress: recipient.toBase58() })).toMatchObject({
    fee: { rentAtomic: '0' },
  })
})

test('the balance that is short is named: the token’s, or the SOL for fee and rent', async () => {
  expect(await refusal({ amount: '1001' })).toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
    facts: {
      details: {
        asset: tokens.USDC.address,
        symbol: 'USDC',
        requiredAtomic: '1001000000',
        feeAtomic: '0',
        reason: { code: 'token_amount' },
      },
    },
  })
  const fresh = await solana.wallet(SOL)
  expect(await refusal({}, fresh)).toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
    facts: { details: { symbol: 'USDC', availableAtomic: '0' } },
  })
  for (const [lamports, lacks] of [
    [FEE + ACCOUNT_RENT - 1n, 'network_fee'],
    [FEE + ACCOUNT_RENT, undefined],
    [FEE + ACCOUNT_RENT + 1n, 'network_fee_and_rent'],
    [FEE + ACCOUNT_RENT + WALLET_RENT, undefined],
  ] as const) {
    const poor = await solana.wallet(lamports)
    await give(solana, tokens.USDC, { owner: poor.publicKey, amount: 5_000_000n })
    if (lacks === undefined)
      expect(await build({}, poor)).toMatchObject({ fee: { rentAtomic: ACCOUNT_RENT.toString() } })
    else {
      expect(await refusal({}, poor)).toMatchObject({
        code: 'INSUFFICIENT_BALANCE',
        facts: {
          details: {
            symbol: 'SOL',
            availableAtomic: lamports.toString(),
            feeAtomic: (FEE + ACCOUNT_RENT).toString(),
            reason: { code: lacks },
          },
        },
      })
    }
  }
})

test.each<[string, string, () => Promise<string> | string]>([
  ['the mint', 'token_mint', () => tokens.USDC.address],
  ['another mint', 'token_mint', () => tokens.LIKEPYUSD.address],
  [
    'a token account',
    'token_account',
    async () =>
      (
        await give(solana, tokens.USDC, { owner: Keypair.generate().publicKey, amount: 1n })
      ).toBase58(),
  ],
  [
    'the payer’s own token account',
    'token_account',
    () => accountOf(payer.publicKey, new PublicKey(tokens.USDC.address)).toBase58(),
  ],
  ['a token program', 'program_account', () => TOKEN_2022.toBase58()],
  [
    'the program of accounts',
    'program_account',
    () => 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  ],
])('the recipient is not %s', async (_, code, recipient) => {
  expect(await refusal({ recipientAddress: await recipient() })).toMatchObject({
    code: 'INVALID_RECIPIENT',
    facts: { details: { reason: { code, params: {} } } },
  })
})

test('a token account that belongs to another owner, or is frozen, is not paid into', async () => {
  const [given, frozen] = [Keypair.generate().publicKey, Keypair.generate().publicKey]
  await give(solana, tokens.USDC, { owner: given, amount: 0n, given: Keypair.generate().publicKey })
  expect(await refusal({ recipientAddress: given.toBase58() })).toMatchObject({
    code: 'INVALID_RECIPIENT',
    facts: {
      details: {
        reason: {
          code: 'token_account_reassigned',
          params: { account: usdcOf(given), symbol: 'USDC' },
        },
      },
    },
  })
  await give(solana, tokens.USDC, { owner: frozen, amount: 0n, state: 2 })
  expect(await refusal({ recipientAddress: frozen.toBase58() })).toMatchObject({
    code: 'INVALID_RECIPIENT',
    facts: {
      details: {
        reason: {
          code: 'token_account_frozen',
          params: { account: usdcOf(frozen), symbol: 'USDC' },
        },
      },
    },
  })
  const stopped = await solana.wallet(SOL)
  await give(solana, tokens.USDC, { owner: stopped.publicKey, amount: 9_000_000n, state: 2 })
  expect(await refusal({}, stopped)).toMatchObject({
    code: 'INVALID_PARAMETERS',
    facts: {
      details: {
        walletAddress: expect.any(String),
        reason: {
          code: 'sender_token_account_frozen',
          params: { account: usdcOf(stopped.publicKey), symbol: 'USDC' },
        },
      },
    },
  })
  const robbed = await solana.wallet(SOL)
  await give(solana, tokens.USDC, {
    owner: robbed.publicKey,
    amount: 9_000_000n,
    given: Keypair.generate().publicKey,
  })
  expect(await refusal({}, robbed)).toMatchObject({
    code: 'INSUFFICIENT_BALANCE',
    facts: { details: { availableAtomic: '0' } },
  })
})

test.each<[keyof typeof tokens, string, object]>([
  [
    'FEE',
    'asset_keeps_part',
    { sent: { amountAtomic: '1500000' }, arrives: { amountAtomic: '1485000' } },
  ],
  [
    'HOOKED',
    'asset_calls_program',
    { program: new PublicKey(new Uint8Array(32).fill(7)).toBase58() },
  ],
  ['SOUL', 'asset_not_transferable', {}],
  ['WRONG', 'asset_decimals_differ', { configured: 9, onChain: 6 }],
  ['NONE', 'asset_missing', {}],
])('%s cannot pay an exact amount: %s', async (symbol, code, params) => {
  expect(await refusal({ asset: symbol })).toMatchObject({
    code: 'INVALID_PARAMETERS',
    facts: {
      details: { reason: { code, params: { token: tokens[symbol].address, symbol, ...params } } },
    },
  })
})

test('a priority fee buys its price over the units of a token payment', async () => {
  const reply = await build({ priorityFee: '0.0001' })
  const { unitLimit, unitPriceMicroLamports } = reply.decoded as {
    unitLimit: number
    unitPriceMicroLamports: string
  }
  expect(unitLimit).toBeGreaterThanOrEqual(100_000)
  const paid = (BigInt(unitPriceMicroLamports) * BigInt(unitLimit) + 999_999n) / 1_000_000n
  expect(paid).toBeLessThanOrEqual(100_000n)
  expect(reply.fee.amountAtomic).toBe((FEE + ACCOUNT_RENT + paid).toString())
})

test('the units suffice with three guards of a wallet to spare', async () => {
  for (const asset of ['USDC', 'LIKEPYUSD'] as const) {
    const reply = await build({ asset })
    const { value } = await solana.connection.simulateTransaction(
      VersionedTransaction.deserialize(Buffer.from(reply.transaction, 'base64')),
      {
        sigVerify: false,
      },
    )
    const { unitLimit } = reply.decoded as { unitLimit: number }
    expect(value.err).toBeNull()
    expect(unitLimit - (value.unitsConsumed ?? 0)).toBeGreaterThan(20_000)
  }
})
