import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import bs58 from 'bs58'
import { expect, test } from 'vitest'
import { addressFact, amountFact, fact, moneyOf, networkFact } from '#contract/facts.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import {
  failing,
  solanaFacts,
  solanaIntent,
  solanaPayer,
  solanaReviewed,
  solanaStranger,
} from '#testing/chain-payments.ts'
import type { Match, MatchRow } from '../match.ts'
import { buildPayment } from './build.ts'
import { compareLanded, compareSigned } from './compare.ts'
import { decodeLanded } from './landed.ts'
import { matchTransaction } from './match.ts'
import { MEMO_PROGRAM, TOKEN_PROGRAM } from './programs.ts'

/** What a review says where a transaction is not the payment that was asked for: what was expected, and what came instead. */

const payer = solanaPayer.publicKey
const stranger = solanaStranger.publicKey
const transfer = (to: PublicKey, lamports: bigint) =>
  SystemProgram.transfer({ fromPubkey: payer, toPubkey: to, lamports })
const parts = {
  limit: ComputeBudgetProgram.setComputeUnitLimit({ units: solanaFacts.unitLimit }),
  price: ComputeBudgetProgram.setComputeUnitPrice({
    microLamports: solanaFacts.unitPriceMicroLamports,
  }),
  transfer: transfer(new PublicKey(solanaIntent.recipient), solanaIntent.amountAtomic),
  memo: new TransactionInstruction({
    programId: new PublicKey(MEMO_PROGRAM),
    keys: [],
    data: Buffer.from(solanaIntent.paymentId),
  }),
}
const order = [parts.limit, parts.price, parts.transfer, parts.memo]

function compile(
  instructions: TransactionInstruction[],
  { feePayer = payer, blockhash = solanaFacts.blockhash } = {},
): VersionedTransaction {
  const message = new TransactionMessage({
    payerKey: feePayer,
    recentBlockhash: blockhash,
    instructions,
  })
  return new VersionedTransaction(message.compileToV0Message())
}

function signed(transaction: VersionedTransaction): Uint8Array {
  transaction.sign([solanaPayer])
  return transaction.serialize()
}

const match = (instructions: TransactionInstruction[]) =>
  matchTransaction(solanaIntent, compile(instructions).serialize())

function rowOf({ rows }: Match, field: MatchRow['field']): MatchRow {
  const row = rows.find((each) => each.field === field)
  if (!row) throw new Error(`There is no row ${field}.`)
  return row
}

const list = (facts: readonly object[]) => ({ code: 'list', params: { facts } })

test('several transfers are told with their number and their sum, and no transfer as none', () => {
  const two = match([...order, transfer(stranger, 7n)])
  expect(rowOf(two, 'sender').got).toEqual(
    list([addressFact(solanaIntent.sender), addressFact(solanaIntent.sender)]),
  )
  expect(rowOf(two, 'recipient').got).toEqual(
    list([addressFact(solanaIntent.recipient), addressFact(stranger.toBase58())]),
  )
  expect(rowOf(two, 'amount').got).toEqual({
    code: 'transfers_total',
    params: { ...moneyOf(solanaIntent.amountAtomic + 7n, NATIVE_SOL), count: 2 },
  })
  const notOne = { code: 'not_one_native_transfer', params: { symbol: 'SOL' } }
  expect(rowOf(two, 'asset').got).toEqual(notOne)
  const none = match([parts.limit, parts.price, parts.memo])
  expect(rowOf(none, 'sender').got).toEqual(fact('nobody'))
  expect(rowOf(none, 'amount').got).toEqual(amountFact(0n, NATIVE_SOL))
  expect(rowOf(none, 'asset').got).toEqual(notOne)
})

test('a fee without a limit is told as what it can be', () => {
  expect(rowOf(match([parts.limit, parts.transfer, parts.memo]), 'fee')).toEqual({
    field: 'fee',
    ok: false,
    expected: { code: 'at_most', params: moneyOf(solanaIntent.maxFeeAtomic, NATIVE_SOL) },
    got: { code: 'fee_without_limits', params: moneyOf(5_000n, NATIVE_SOL) },
  })
})

test('the network is told as far as the blockhash is known', () => {
  const got = (options: object) =>
    rowOf(matchTransaction(solanaIntent, solanaReviewed, options), 'network').got
  expect(got({})).toEqual(fact('blockhash_decides'))
  expect(got({ blockhashKnown: true })).toEqual(networkFact(solanaIntent.network))
  expect(got({ blockhashKnown: false })).toEqual(fact('unknown_blockhash'))
})

test('a signature of another message is told with whose it should be', () => {
  const forged = solanaReviewed.with(10, 1)
  expect(rowOf(matchTransaction(solanaIntent, forged), 'signers').got).toEqual({
    code: 'invalid_signatures',
    params: { signers: [solanaIntent.sender] },
  })
})

test('a signed transaction that is not the reviewed one is told', () => {
  const blockhash = bs58.encode(new Uint8Array(32).fill(9))
  const higher = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 50_001n })
  const other = compile([parts.limit, higher, parts.transfer, parts.memo], { blockhash })
  const result = compareSigned(solanaIntent, solanaReviewed, signed(other))
  expect(failing(result)).toEqual(['fee', 'expiry'])
  expect(rowOf(result, 'fee')).toMatchObject({
    expected: { code: 'compute_fee_at_most', params: { units: 30_000, microLamports: '50000' } },
    got: { code: 'compute_fee', params: { units: 30_000, microLamports: '50001' } },
  })
  expect(rowOf(result, 'expiry')).toMatchObject({
    expected: { code: 'blockhash', params: { blockhash: solanaFacts.blockhash } },
    got: { code: 'blockhash', params: { blockhash } },
  })
  expect(rowOf(result, 'instructions').expected).toEqual(
    list([
      fact('compute_limit'),
      fact('compute_price'),
      fact('one_transfer'),
      fact('one_memo'),
      { code: 'wallet_guards_at_most', params: { count: 3 } },
    ]),
  )
  const unsigned = compareSigned(solanaIntent, solanaReviewed, solanaReviewed)
  expect(rowOf(unsigned, 'signers')).toMatchObject({
    expected: addressFact(solanaIntent.sender),
    got: fact('not_signed'),
  })
})

test('a landed payment tells its fee and its slot, and that it failed', () => {
  const transaction = compile(order)
  transaction.sign([solanaPayer])
  const land = (err: unknown) => {
    const landed = decodeLanded({
      slot: 42,
      meta: { err, fee: 6_500 },
      transaction: {
        message: transaction.message,
        signatures: transaction.signatures.map((signature) => bs58.encode(signature)),
      },
    })
    if (!landed.ok) throw new Error(landed.problem.code)
    return compareLanded(solanaIntent, landed)
  }
  expect(rowOf(land(null), 'fee')).toMatchObject({
    expected: fact('paid_by_sender'),
    got: amountFact(6_500n, NATIVE_SOL),
  })
  expect(rowOf(land(null), 'expiry')).toMatchObject({
    expected: fact('landed_in_slot'),
    got: { code: 'slot', params: { height: 42 } },
  })
  expect(rowOf(land({ InstructionError: [2, { Custom: 1 }] }), 'instructions').got).toEqual(
    fact('failed_nothing_moved'),
  )
})

test('where another account pays the fee, its limits are checked, and the cap of the payer has no meaning', () => {
  const sponsor = Keypair.fromSeed(new Uint8Array(32).fill(9)).publicKey
  const intent = { ...solanaIntent, feePayer: sponsor.toBase58(), maxFeeAtomic: 0n }
  const bytes = (instructions: TransactionInstruction[]) =>
    compile(instructions, { feePayer: sponsor }).serialize()
  expect(failing(matchTransaction(intent, bytes(order)))).toEqual([])
  const digestOf = (maxFeeAtomic: bigint) =>
    matchTransaction({ ...intent, maxFeeAtomic }, bytes(order)).digest
  expect(digestOf(1n)).toBe(digestOf(0n))
  const units = ComputeBudgetProgram.setComputeUnitLimit({ units: 60_001 })
  const drained = matchTransaction(intent, bytes([units, parts.price, parts.transfer, parts.memo]))
  expect(failing(drained)).toEqual(['fee'])
  const unlimited = matchTransaction(intent, bytes([parts.limit, parts.transfer, parts.memo]))
  expect(rowOf(unlimited, 'fee')).toEqual({
    field: 'fee',
    ok: false,
    expected: fact('nothing'),
    got: fact('free_without_limits'),
  })

  const token = {
    ...intent,
    amountAtomic: 5n,
    asset: {
      address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
      symbol: 'USDC',
      name: 'USD Coin',
      decimals: 6,
      native: false,
    },
  }
  const built = buildPayment({
    ...token,
    ...solanaFacts,
    token: { program: TOKEN_PROGRAM, opensAccount: false },
  })
  expect(rowOf(matchTransaction(token, built), 'instructions').expected).toEqual(
    list([
      fact('compute_limit'),
      fact('compute_price'),
      fact('one_token_transfer'),
      fact('one_memo'),
    ]),
  )
})
