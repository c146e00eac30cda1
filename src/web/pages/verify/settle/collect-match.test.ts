import { Keypair, VersionedTransaction } from '@solana/web3.js'
import bs58 from 'bs58'
import { describe, expect, test } from 'vitest'
import { buildPayment } from '#chains/solana/build.ts'
import { decodeTransaction } from '#chains/solana/decode.ts'
import { compareLanded } from '#chains/solana/compare.ts'
import { decodeLanded } from '#chains/solana/landed.ts'
import type { PaymentIntent } from '#chains/match.ts'
import { moneyOf } from '#contract/facts.ts'
import { NATIVE_SOL } from '#contract/network.ts'
import {
  failing,
  solanaFacts,
  solanaIntent,
  solanaPayer,
  solanaStranger,
} from '#testing/chain-payments.ts'
import { compareCoSigned, matchCollecting } from './collect-match.ts'

/** The payee pays the network fee, and signs what the payer has signed. */
const payee = Keypair.fromSeed(new Uint8Array(32).fill(7))
const payTo = payee.publicKey.toBase58()
const facts = { ...solanaFacts, unitLimit: 40_000, unitPriceMicroLamports: 1n }
const payment: PaymentIntent = {
  ...solanaIntent,
  recipient: payTo,
  feePayer: payTo,
  maxFeeAtomic: 500_000n,
}

function signed(bytes: Uint8Array, ...signers: Keypair[]): Uint8Array {
  const transaction = VersionedTransaction.deserialize(bytes)
  transaction.sign(signers)
  return transaction.serialize()
}

const bare = buildPayment({ ...payment, ...facts })
const proof = signed(bare, solanaPayer)
const match = (bytes: Uint8Array, change: Partial<PaymentIntent> = {}, coSigned = true) =>
  matchCollecting({ payment: { ...payment, ...change }, proof, coSigned }, bytes, {})

test('the payer’s own transaction, lacking only the payee’s signature, is collected for no more than its fee', () => {
  expect(failing(match(proof))).toEqual([])
  expect(match(proof).rows.find(({ field }) => field === 'fee')?.got).toEqual({
    code: 'at_most',
    params: moneyOf(10_001n, NATIVE_SOL),
  })
})

describe('is not signed by the payee', () => {
  const elsewhere = signed(
    buildPayment({ ...payment, recipient: solanaStranger.publicKey.toBase58(), ...facts }),
    solanaPayer,
  )
  const dear = signed(
    buildPayment({ ...payment, ...facts, unitPriceMicroLamports: 900_000_000n }),
    solanaPayer,
  )
  test.each<[string, Uint8Array, string[]]>([
    ['a transaction that pays another account', elsewhere, ['recipient', 'instructions']],
    ['one that the payer has not signed', bare, ['signers']],
    ['one that another account signed instead of the payer', signed(bare, payee), ['signers']],
    ['one that costs more than the cap', dear, ['fee', 'instructions']],
  ])('%s', (_, bytes, fields) => {
    expect(failing(match(bytes))).toEqual(fields)
  })

  test.each<[string, Partial<PaymentIntent>, string[]]>([
    ['of less than was expected', { amountAtomic: payment.amountAtomic + 1n }, ['amount']],
    ['for another order', { paymentId: 'another order' }, ['memo']],
    [
      'of another payer than the proof says',
      { sender: solanaStranger.publicKey.toBase58() },
      ['sender', 'signers'],
    ],
  ])('a payment %s', (_, change, fields) => {
    expect(failing(match(proof, change))).toEqual(fields)
  })
})

test('what the wallet gives back is the same message, with every signature good', () => {
  const done = signed(proof, payee)
  const decoded = decodeTransaction(done)
  if (!decoded.ok) throw new Error(decoded.problem.code)
  expect(compareCoSigned(proof, done)).toEqual({ ok: true, signature: decoded.signature })
  expect(compareCoSigned(proof, proof)).toEqual({ ok: false, difference: 'signature' })
  // A guard that the wallet adds voids the payer's signature.
  const other = signed(
    buildPayment({ ...payment, ...facts, unitLimit: 41_000 }),
    solanaPayer,
    payee,
  )
  expect(compareCoSigned(proof, other)).toEqual({ ok: false, difference: 'message' })
})

test('once it landed it is the payment that was expected', () => {
  const done = VersionedTransaction.deserialize(signed(proof, payee))
  const landed = decodeLanded({
    slot: 9,
    meta: { err: null, fee: 10_001 },
    transaction: {
      message: done.message,
      signatures: done.signatures.map((bytes) => bs58.encode(bytes)),
    },
  })
  if (!landed.ok) throw new Error(landed.problem.code)
  expect(failing(compareLanded(payment, landed))).toEqual([])
})

test('what the payer has signed wholly is only sent', () => {
  const { feePayer: _, ...own } = payment
  const whole = signed(buildPayment({ ...own, ...facts }), solanaPayer)
  expect(
    failing(matchCollecting({ payment: own, proof: whole, coSigned: false }, whole, {})),
  ).toEqual([])
  const unsigned = buildPayment({ ...own, ...facts })
  expect(
    failing(matchCollecting({ payment: own, proof: whole, coSigned: false }, unsigned, {})),
  ).toContain('signers')
})
