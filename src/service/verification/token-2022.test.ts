import { Keypair, PublicKey } from '@solana/web3.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Asset } from '#contract/network.ts'
import { parseJson } from '#contract/json.ts'
import { startSolana, type SolanaFixture } from '#testing/local-chains.ts'
import {
  balanceOnSolana,
  createMint,
  give,
  transferFee,
  type TestExtension,
} from '#testing/local-tokens.ts'
import { refusal, refused } from '#testing/proofs.ts'
import { openContext, type OpenedContext } from '#testing/service-context.ts'
import { accountOf, TOKEN_2022 } from '#testing/token-instructions.ts'
import { payInvoice, solanaPayer, withFacilitator } from '#testing/token-payers.ts'
import type { Requirements } from '#x402/requirements.ts'
import type { Context } from '../context/context.ts'
import { settlePayment, verifyPayment } from '../settlement/facilitator.ts'
import { receivePayment } from '../settlement/receive.ts'

/** Tokens under the newer token program: plain ones are received to the last unit, and those that keep a part, or call a program, never by accident. */

const AMOUNT = 2_000_000n
const GIVEN = 10_000_000n

/** Numbers and layouts of the extensions. @see https://github.com/solana-program/token-2022 (interface/src/extension) */
const TRANSFER_FEE_AMOUNT = 2
const IMMUTABLE_OWNER = 7
const TRANSFER_HOOK = 14
const TRANSFER_HOOK_ACCOUNT = 15

let solana: SolanaFixture
let opened: OpenedContext
let context: Context
let plain: Asset
let taxed: Asset
let hooked: Asset
const [sponsor, payer] = [Keypair.generate(), Keypair.generate()] as const
const payees = Array.from({ length: 4 }, () => Keypair.generate())

beforeAll(async () => {
  solana = await startSolana({ slotTimeMs: 40 })
  await solana.setAccount(sponsor.publicKey.toBase58(), { lamports: 10n ** 9n })
  plain = { ...(await createMint(solana, { program: TOKEN_2022 })), symbol: 'PLAIN' }
  taxed = {
    ...(await createMint(solana, {
      program: TOKEN_2022,
      extensions: [transferFee(100)],
    })),
    symbol: 'TAXED',
  }
  hooked = {
    ...(await createMint(solana, {
      program: TOKEN_2022,
      extensions: [{ type: TRANSFER_HOOK, value: hook(Keypair.generate().publicKey) }],
    })),
    symbol: 'HOOKED',
  }
  await hold(plain, [])
  await hold(taxed, [{ type: TRANSFER_FEE_AMOUNT, value: new Uint8Array(8) }])
  await hold(hooked, [{ type: TRANSFER_HOOK_ACCOUNT, value: new Uint8Array(1) }])
  opened = await openContext([
    { ...solana.network, assets: [...solana.network.assets, plain, taxed, hooked] },
  ])
  context = await withFacilitator(opened.context, opened.actor.accountId, { solana: sponsor })
})

afterAll(async () => {
  await opened?.[Symbol.asyncDispose]()
  await solana?.[Symbol.asyncDispose]()
})

/** Payer and payees hold it. */
async function hold(asset: Asset, extensions: readonly TestExtension[]): Promise<void> {
  const account = {
    program: TOKEN_2022,
    extensions: [{ type: IMMUTABLE_OWNER, value: new Uint8Array() }, ...extensions],
  }
  await give(solana, asset, { owner: payer.publicKey, amount: GIVEN, ...account })
  for (const { publicKey: owner } of payees)
    await give(solana, asset, { owner, amount: 0n, ...account })
}

/** Two authorities, what is withheld, and the fee of two epochs: the epoch, the most it takes, and hundredths of a percent. */
function hook(program: PublicKey): Uint8Array {
  return Buffer.concat([Buffer.alloc(32), program.toBytes()])
}

function bill(asset: Asset, payee: Keypair): Requirements {
  return {
    scheme: 'exact',
    network: solana.network.network,
    amount: AMOUNT.toString(),
    asset: asset.address,
    payTo: payee.publicKey.toBase58(),
    maxTimeoutSeconds: 60,
    extra: { feePayer: sponsor.publicKey.toBase58() },
  }
}

function nextPayee(): Keypair {
  const payee = payees.pop()
  if (!payee) throw new Error('no payee')
  return payee
}

const heldBy = (asset: Asset, { publicKey }: Keypair) =>
  balanceOnSolana(solana, accountOf(publicKey, new PublicKey(asset.address), TOKEN_2022))

const receive = (asset: Asset, payee: Keypair, paymentProof: string) =>
  receivePayment(context, opened.actor, {
    walletAddress: payee.publicKey.toBase58(),
    paymentProof,
    expectedAmount: '2',
    asset: asset.symbol,
    resource: 'https://shop.example/a',
    timeout: 30,
  })

test('a plain token of Token-2022 is verified, signed by the sponsor, and lands to the last unit', async () => {
  const payee = nextPayee()
  const requirements = bill(plain, payee)
  const header = await payInvoice(solanaPayer(solana, payer), requirements)
  const input = {
    x402Version: 2 as const,
    paymentPayload: parseJson(Buffer.from(header, 'base64').toString()) as Record<string, unknown>,
    paymentRequirements: requirements,
  }
  expect(await verifyPayment(context, opened.actor, input)).toMatchObject({
    isValid: true,
    payer: payer.publicKey.toBase58(),
  })
  expect(await heldBy(plain, payee)).toBe(0n)
  const lamports = await solana.connection.getBalance(payer.publicKey, 'confirmed')
  expect(await receive(plain, payee, header)).toMatchObject({
    verified: true,
    amountAtomic: AMOUNT.toString(),
    symbol: 'PLAIN',
    sender: payer.publicKey.toBase58(),
  })
  expect([await heldBy(plain, payee), await heldBy(plain, payer)]).toEqual([AMOUNT, GIVEN - AMOUNT])
  expect(await solana.connection.getBalance(payer.publicKey, 'confirmed')).toBe(lamports)
  expect(await settlePayment(context, opened.actor, input)).toMatchObject({
    success: false,
    errorReason: 'already_used',
  })
})

test.each([
  ['keeps a part of every transfer', () => taxed],
  ['calls a program with every transfer', () => hooked],
])(
  'a token that %s is refused before anybody signs for it, and nothing moves',
  async (_, asset) => {
    const payee = nextPayee()
    const header = await payInvoice(solanaPayer(solana, payer), bill(asset(), payee))
    const before = await solana.connection.getBalance(sponsor.publicKey, 'confirmed')
    expect(await refusal(receive(asset(), payee, header))).toEqual(
      refused('simulation_failed', 'simulation'),
    )
    expect([await heldBy(asset(), payee), await heldBy(asset(), payer)]).toEqual([0n, GIVEN])
    expect(await solana.connection.getBalance(sponsor.publicKey, 'confirmed')).toBe(before)
  },
)
