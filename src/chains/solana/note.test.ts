import {
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { expect, test } from 'vitest'
import {
  failing,
  solanaFacts,
  solanaIntent,
  solanaPayer,
  solanaStranger,
} from '#testing/chain-payments.ts'
import type { PaymentIntent } from '../match.ts'
import { compareSignedNote, matchNote } from './note.ts'
import { MEMO_PROGRAM } from './programs.ts'

const TEXT = 'x402-receipt:pay_1111111111111111111111'
const payee = solanaPayer.publicKey
const intent: PaymentIntent = { ...solanaIntent, paymentId: TEXT, amountAtomic: 0n }
const memo = (text: string, signer = payee) =>
  new TransactionInstruction({
    programId: new PublicKey(MEMO_PROGRAM),
    keys: [{ pubkey: signer, isSigner: true, isWritable: false }],
    data: Buffer.from(text),
  })
const limit = ComputeBudgetProgram.setComputeUnitLimit({ units: 40_000 })
const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 })
const plain = [limit, price, memo(TEXT)]

function compile(instructions: TransactionInstruction[], feePayer = payee): VersionedTransaction {
  return new VersionedTransaction(
    new TransactionMessage({
      payerKey: feePayer,
      recentBlockhash: solanaFacts.blockhash,
      instructions,
    }).compileToV0Message(),
  )
}

const wrong = (instructions: TransactionInstruction[], feePayer = payee) =>
  failing(matchNote(intent, compile(instructions, feePayer).serialize()))

test('a note is one memo of the payee, and moves nothing', () => {
  expect(wrong(plain)).toEqual([])
  expect(wrong([limit, price, memo('another')])).toEqual(['memo'])
  expect(wrong([limit, price, memo(TEXT), memo(TEXT)])).toEqual(['memo'])
  expect(
    wrong([
      ...plain,
      SystemProgram.transfer({
        fromPubkey: payee,
        toPubkey: solanaStranger.publicKey,
        lamports: 1,
      }),
    ]),
  ).toEqual(['amount', 'instructions'])
  expect(wrong([limit, price, memo(TEXT, solanaStranger.publicKey)])).toEqual(['signers', 'memo'])
  expect(wrong(plain, solanaStranger.publicKey)).toEqual(['sender', 'signers'])
  expect(wrong([limit, memo(TEXT)])).toEqual(['fee'])
})

test('what comes back from the wallet is the same note, signed', () => {
  const bytes = compile(plain).serialize()
  const transaction = compile(plain)
  transaction.sign([solanaPayer])
  expect(failing(compareSignedNote(intent, bytes, transaction.serialize()))).toEqual([])
  expect(failing(compareSignedNote(intent, bytes, bytes))).toEqual(['signers'])
  const dearer = compile([
    limit,
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000_000 }),
    memo(TEXT),
  ])
  dearer.sign([solanaPayer])
  expect(failing(compareSignedNote(intent, bytes, dearer.serialize()))).toEqual(['fee'])
})
