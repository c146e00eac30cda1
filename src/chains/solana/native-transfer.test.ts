import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { expect, test } from 'vitest'
import { accountOf, openAccount, transferChecked } from '#testing/token-instructions.ts'
import { decodeTransaction } from './decode.ts'
import { checkNativeTransfer, type TransferRule, type TransferTerms } from './native-transfer.ts'
import { LIGHTHOUSE_PROGRAM, MEMO_PROGRAM } from './programs.ts'

/** Every rule has a transaction that breaks it alone. */

const payer = Keypair.fromSeed(new Uint8Array(32).fill(1))
const payee = Keypair.fromSeed(new Uint8Array(32).fill(2))
const sponsor = Keypair.fromSeed(new Uint8Array(32).fill(3))
const stranger = Keypair.fromSeed(new Uint8Array(32).fill(4))
const blockhash = stranger.publicKey.toBase58()
const MEMO = 'pay_1'
const LAMPORTS = 1_000_000n

const transfer = (from = payer, to = payee.publicKey, lamports = LAMPORTS) =>
  SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports })
const memo = (text = MEMO, signers: Keypair[] = []) =>
  new TransactionInstruction({
    programId: new PublicKey(MEMO_PROGRAM),
    keys: signers.map(({ publicKey }) => ({
      pubkey: publicKey,
      isSigner: true,
      isWritable: false,
    })),
    data: Buffer.from(text),
  })
const guard = (accounts: PublicKey[] = []) =>
  new TransactionInstruction({
    programId: new PublicKey(LIGHTHOUSE_PROGRAM),
    keys: accounts.map((pubkey) => ({ pubkey, isSigner: false, isWritable: false })),
    data: Buffer.from([6, 1, 2]),
  })
const MINT = Keypair.fromSeed(new Uint8Array(32).fill(5)).publicKey
const tokens = {
  source: accountOf(sponsor.publicKey, MINT),
  mint: MINT,
  destination: accountOf(stranger.publicKey, MINT),
  authority: sponsor.publicKey,
  amount: 1n,
  decimals: 6,
}
const units = (limit = 30_000) => ComputeBudgetProgram.setComputeUnitLimit({ units: limit })
const price = (microLamports = 50_000n) =>
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports })

type Made = {
  instructions?: TransactionInstruction[]
  feePayer?: Keypair
  signers?: Keypair[]
  legacy?: boolean
}

function broken(
  {
    instructions = [units(), price(), transfer(), memo()],
    feePayer = payer,
    signers = [payer],
    legacy,
  }: Made,
  terms: Partial<TransferTerms> = {},
): TransferRule[] {
  const message = new TransactionMessage({
    payerKey: feePayer.publicKey,
    recentBlockhash: blockhash,
    instructions,
  })
  const transaction = new VersionedTransaction(
    legacy ? message.compileToLegacyMessage() : message.compileToV0Message(),
  )
  transaction.sign(signers)
  const facts = decodeTransaction(transaction.serialize())
  if (!facts.ok) throw new Error(facts.problem.code)
  const rows = checkNativeTransfer(facts, {
    payTo: payee.publicKey.toBase58(),
    lamports: LAMPORTS,
    memo: MEMO,
    feePayer: null,
    ...terms,
  })
  return rows.filter(({ ok }) => !ok).map(({ rule }) => rule)
}

const sponsored = { feePayer: sponsor.publicKey.toBase58() }

test('a plain transfer, v0 or legacy, with guards anywhere, keeps every rule', () => {
  expect(broken({})).toEqual([])
  expect(broken({ legacy: true })).toEqual([])
  expect(
    broken({ instructions: [guard(), units(), price(), guard(), transfer(), memo(), guard()] }),
  ).toEqual([])
  expect(broken({ instructions: [units(), transfer(), memo()] })).toEqual([])
})

test('a sponsor may pay the network, and may be the payee', () => {
  expect(broken({ feePayer: sponsor, signers: [payer] }, sponsored)).toEqual([])
  expect(
    broken({ feePayer: payee, signers: [payer] }, { feePayer: payee.publicKey.toBase58() }),
  ).toEqual([])
})

test.each<[string, TransferRule[], Made, Partial<TransferTerms>?]>([
  [
    'the fee payer is another account',
    ['fee_payer'],
    { feePayer: stranger, signers: [stranger, payer] },
  ],
  ['the fee payer is not the sponsor', ['fee_payer'], {}, sponsored],
  [
    'there are three signers',
    ['signers'],
    {
      instructions: [units(), price(), transfer(), memo(MEMO, [stranger, payee])],
      signers: [payer, stranger, payee],
    },
  ],
  ['the payer has not signed', ['signatures'], { signers: [] }],
  [
    'a second signer has not signed',
    ['signatures'],
    { instructions: [units(), price(), transfer(), memo(MEMO, [stranger])] },
  ],
  [
    'the payer has not signed for the sponsor',
    ['signatures'],
    { feePayer: sponsor, signers: [] },
    sponsored,
  ],
  [
    'a foreign program is called',
    ['programs'],
    {
      instructions: [
        units(),
        price(),
        transfer(),
        memo(),
        new TransactionInstruction({
          programId: stranger.publicKey,
          keys: [],
          data: Buffer.from([1]),
        }),
      ],
    },
  ],
  [
    'tokens move beside it',
    ['programs'],
    {
      instructions: [
        units(),
        price(),
        transfer(),
        memo(),
        transferChecked({
          ...tokens,
          authority: payer.publicKey,
          source: accountOf(payer.publicKey, MINT),
        }),
      ],
    },
  ],
  [
    'tokens of the sponsor move beside it',
    ['programs', 'sponsor_isolated'],
    {
      instructions: [units(), price(), transfer(), memo(), transferChecked(tokens)],
      feePayer: sponsor,
    },
    sponsored,
  ],
  [
    'the sponsor opens a token account',
    ['programs', 'sponsor_isolated'],
    {
      instructions: [
        units(),
        price(),
        transfer(),
        memo(),
        openAccount({ payer: sponsor.publicKey, owner: stranger.publicKey, mint: MINT }),
      ],
      feePayer: sponsor,
    },
    sponsored,
  ],
  [
    'there are four guards',
    ['programs'],
    { instructions: [units(), price(), transfer(), memo(), guard(), guard(), guard(), guard()] },
  ],
  [
    'the compute limit is above the cap',
    ['compute_units'],
    { instructions: [units(60_001), price(), transfer(), memo()] },
  ],
  ['there is no compute limit', ['compute_units'], { instructions: [price(), transfer(), memo()] }],
  [
    'the compute price is above the cap',
    ['compute_price'],
    { instructions: [units(), price(50_001n), transfer(), memo()] },
  ],
  [
    'there are two transfers',
    ['one_transfer'],
    { instructions: [units(), price(), transfer(), transfer(payer, stranger.publicKey), memo()] },
  ],
  [
    'another system instruction stands beside it',
    ['one_transfer'],
    {
      instructions: [
        units(),
        price(),
        transfer(),
        SystemProgram.assign({ accountPubkey: payer.publicKey, programId: stranger.publicKey }),
        memo(),
      ],
    },
  ],
  [
    'a nonce is advanced',
    ['one_transfer'],
    {
      instructions: [
        SystemProgram.nonceAdvance({
          noncePubkey: stranger.publicKey,
          authorizedPubkey: payer.publicKey,
        }),
        units(),
        transfer(),
        memo(),
      ],
    },
  ],
  [
    'it goes to another recipient',
    ['destination'],
    { instructions: [units(), price(), transfer(payer, stranger.publicKey), memo()] },
  ],
  [
    'it is too little',
    ['lamports'],
    { instructions: [units(), price(), transfer(payer, payee.publicKey, LAMPORTS - 1n), memo()] },
  ],
  [
    'it is too much',
    ['lamports'],
    { instructions: [units(), price(), transfer(payer, payee.publicKey, LAMPORTS + 1n), memo()] },
  ],
  [
    'the sponsor pays',
    ['source', 'sponsor_isolated'],
    { instructions: [units(), price(), transfer(sponsor), memo()], feePayer: sponsor, signers: [] },
    sponsored,
  ],
  [
    'a guard names the sponsor',
    ['sponsor_isolated'],
    {
      instructions: [units(), price(), transfer(), memo(), guard([sponsor.publicKey])],
      feePayer: sponsor,
    },
    sponsored,
  ],
  [
    'a memo names the sponsor',
    ['sponsor_isolated'],
    { instructions: [units(), price(), transfer(), memo(MEMO, [sponsor])], feePayer: sponsor },
    sponsored,
  ],
  ['there is no memo', ['memo'], { instructions: [units(), price(), transfer()] }],
  [
    'there are two memos',
    ['memo'],
    { instructions: [units(), price(), transfer(), memo(), memo()] },
  ],
  [
    'the memo is another',
    ['memo'],
    { instructions: [units(), price(), transfer(), memo('pay_2')] },
  ],
])('when %s the rule %j is broken', (_, rules, made, terms) => {
  expect(broken(made, terms)).toEqual(rules)
})
