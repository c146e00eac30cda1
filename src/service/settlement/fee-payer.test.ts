import { Keypair } from '@solana/web3.js'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Network } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import { associatedTokenAccount } from '#devnet/tokens/solana.ts'
import { startSolana, type SolanaFixture } from '#testing/local-chains.ts'
import { eventually, openContext, type OpenedContext } from '#testing/service-context.ts'
import { createTokens, payInvoice, solanaPayer, withFacilitator } from '#testing/token-payers.ts'
import { decodeBase64 } from '#x402/header.ts'
import type { Requirements } from '#x402/requirements.ts'
import type { Context } from '../context/context.ts'
import { attempt, payment } from '../db/schema/payment.ts'
import { pollOnce } from '../monitor/poll.ts'
import { receivePayment } from './receive.ts'
import { feePayerFee } from './facilitator-wallet.ts'

/**
 * The wallet that pays the Solana network fee for payers of tokens signs no more than it can pay
 * for, however many requests come at once.
 */

const AMOUNT = 1_000n
const GIVEN = 10_000_000_000n
/** What an account must keep to stay. */
const RENT = 890_880n
const ASKED = 100
const PAYABLE = 37

let solana: SolanaFixture
let network: Network
let opened: OpenedContext
let context: Context
const [sponsor, payer, payee] = [
  Keypair.generate(),
  Keypair.generate(),
  Keypair.generate(),
] as const

beforeAll(async () => {
  solana = await startSolana({ slotTimeMs: 200 })
  network = await createTokens(
    solana,
    [payer, sponsor, payee].map(({ publicKey }) => publicKey.toBase58()),
  )
  opened = await openContext([network], { engine: 'postgres' })
  context = await withFacilitator(opened.context, opened.actor.accountId, { solana: sponsor })
})

afterAll(async () => {
  await opened?.[Symbol.asyncDispose]()
  await solana?.[Symbol.asyncDispose]()
})

function bill(): Requirements {
  return {
    scheme: 'exact',
    network: network.network,
    amount: AMOUNT.toString(),
    asset: network.assets[1]?.address ?? '',
    payTo: payee.publicKey.toBase58(),
    maxTimeoutSeconds: 60,
    extra: { feePayer: sponsor.publicKey.toBase58() },
  }
}

function feeOf(header: string): bigint {
  const { payload } = JSON.parse(Buffer.from(header, 'base64').toString()) as {
    payload: { transaction: string }
  }
  return feePayerFee(decodeBase64(payload.transaction) ?? new Uint8Array()).feeAtomic
}

test(`of ${ASKED} settlements at once a wallet signs the ${PAYABLE} that it can pay for, and those land`, async () => {
  const client = solanaPayer(solana, payer)
  const headers = await Promise.all(Array.from({ length: ASKED }, () => payInvoice(client, bill())))
  const fee = feeOf(headers[0] ?? '')
  await solana.setAccount(sponsor.publicKey.toBase58(), {
    lamports: RENT + fee * BigInt(PAYABLE),
  })
  await eventually(
    () => solana.connection.getBalance(sponsor.publicKey, 'confirmed'),
    (lamports) => BigInt(lamports) === RENT + fee * BigInt(PAYABLE),
  )

  const body = {
    walletAddress: payee.publicKey.toBase58(),
    expectedAmount: '0.001',
    asset: 'USDC',
    timeout: 60,
  }
  const answers = await Promise.all(
    headers.map(async (paymentProof) =>
      receivePayment(context, opened.actor, { ...body, paymentProof }).catch(
        (error: unknown) => error,
      ),
    ),
  )
  const refusals = answers.filter((answer) => answer instanceof Error)
  expect(refusals.map((error) => (error instanceof ProblemError ? error.code : error))).toEqual(
    refusals.map(() => 'PAYMENT_VERIFICATION_FAILED'),
  )
  const signed = await context.db.$count(attempt, eq(attempt.signer, sponsor.publicKey.toBase58()))
  expect(signed).toBe(PAYABLE)
  const statuses = await eventually(
    async () => {
      const [chain] = context.chains.values()
      if (chain) await pollOnce(context, chain, { expiredToo: false })
      return (await context.db.select().from(payment)).map(({ status }) => status)
    },
    (all) => all.every((status) => status !== 'pending'),
  )
  expect(statuses).toHaveLength(PAYABLE)
  expect(statuses.every((status) => status === 'confirmed' || status === 'finalized')).toBe(true)
  const { value } = await solana.connection.getTokenAccountBalance(
    associatedTokenAccount(payee.publicKey),
    'confirmed',
  )
  expect(BigInt(value.amount) - GIVEN).toBe(AMOUNT * BigInt(PAYABLE))
  expect(BigInt(await solana.connection.getBalance(sponsor.publicKey, 'confirmed'))).toBe(RENT)
})
