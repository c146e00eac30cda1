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
import {
  accountOf,
  openAccount,
  TOKEN_2022,
  transferChecked,
  type CheckedTransfer,
} from '#testing/token-instructions.ts'
import { decodeTransaction } from './decode.ts'
import { LIGHTHOUSE_PROGRAM, MEMO_PROGRAM } from './programs.ts'
import { checkTokenPayment, type TokenRule, type TokenTerms } from './token-payment.ts'

/** Every rule has a transaction that breaks it alone, named after what scheme_exact_svm.md demands. */

const payer = Keypair.fromSeed(new Uint8Array(32).fill(1))
const payee = Keypair.fromSeed(new Uint8Array(32).fill(2))
const sponsor = Keypair.fromSeed(new Uint8Array(32).fill(3))
const stranger = Keypair.fromSeed(new Uint8Array(32).fill(4))
const MINT = Keypair.fromSeed(new Uint8Array(32).fill(5)).publicKey
const OTHER_MINT = Keypair.fromSeed(new Uint8Array(32).fill(6)).publicKey
const blockhash = stranger.publicKey.toBase58()

const move = (changes: Partial<CheckedTransfer> = {}) => {
  const { mint = MINT, program } = changes
  const [source, destination] = [
    accountOf(payer.publicKey, mint, program),
    accountOf(payee.publicKey, mint, program),
  ]
  return transferChecked({
    source,
    mint,
    destination,
    authority: payer.publicKey,
    amount: 5n,
    decimals: 6,
    ...changes,
  })
}
const memo = (text = 'order-1', signers: Keypair[] = []) =>
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
const units = (limit = 30_000) => ComputeBudgetProgram.setComputeUnitLimit({ units: limit })
const price = (microLamports = 50_000n) =>
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports })

type Made = { instructions?: TransactionInstruction[]; feePayer?: Keypair; signers?: Keypair[] }

function broken(
  {
    instructions = [units(), price(), move(), memo()],
    feePayer = sponsor,
    signers = [payer],
  }: Made,
  terms: Partial<TokenTerms> = {},
): TokenRule[] {
  const message = new TransactionMessage({
    payerKey: feePayer.publicKey,
    recentBlockhash: blockhash,
    instructions,
  }).compileToV0Message()
  const transaction = new VersionedTransaction(message)
  transaction.sign(signers)
  const facts = decodeTransaction(transaction.serialize())
  if (!facts.ok) throw new Error(facts.problem.code)
  const asked = {
    payTo: payee.publicKey.toBase58(),
    symbol: 'USDC',
    decimals: 6,
    mint: MINT.toBase58(),
    amountAtomic: 5n,
    memo: null,
    feePayer: sponsor.publicKey.toBase58(),
  }
  return checkTokenPayment(facts, { ...asked, ...terms })
    .filter(({ ok }) => !ok)
    .map(({ rule }) => rule)
}

const head = () => [units(), price()]

test('both token programs are paid, with the three guards of Phantom and a memo', () => {
  expect(broken({})).toEqual([])
  expect(broken({ instructions: [...head(), move({ program: TOKEN_2022 }), memo()] })).toEqual([])
  expect(broken({ instructions: [...head(), move(), guard(), guard(), guard(), memo()] })).toEqual(
    [],
  )
  expect(
    broken({ instructions: [...head(), move(), memo('order-7')] }, { memo: 'order-7' }),
  ).toEqual([])
  expect(broken({ feePayer: payer }, { feePayer: null })).toEqual([])
})

test.each<[string, TokenRule[], Made, Partial<TokenTerms>?]>([
  [
    '2.1.1 the fee payer is another than the one that signs',
    ['fee_payer'],
    { feePayer: stranger, signers: [payer, stranger] },
  ],
  [
    '2.1.1 the fee payer stands among the accounts of a guard',
    ['sponsor_isolated'],
    { instructions: [...head(), move(), guard([sponsor.publicKey])] },
  ],
  [
    '2.1.1 the fee payer signs a memo',
    ['sponsor_isolated'],
    { instructions: [...head(), move(), memo('x', [sponsor])] },
  ],
  [
    '2.1.1 the fee payer is the authority of the transfer',
    ['source', 'sponsor_isolated'],
    {
      instructions: [
        ...head(),
        move({ authority: sponsor.publicKey, source: accountOf(sponsor.publicKey, MINT) }),
      ],
      signers: [],
    },
  ],
  [
    '2.1.3 the fee payer sends SOL',
    ['programs', 'sponsor_isolated'],
    {
      instructions: [
        ...head(),
        move(),
        SystemProgram.transfer({
          fromPubkey: sponsor.publicKey,
          toPubkey: payer.publicKey,
          lamports: 1n,
        }),
      ],
    },
  ],
  [
    '2.1.3 the fee payer opens a token account',
    ['programs', 'sponsor_isolated'],
    {
      instructions: [
        ...head(),
        move(),
        openAccount({ payer: sponsor.publicKey, owner: payee.publicKey, mint: MINT }),
      ],
    },
  ],
  [
    '2.1.4 a third signature is required',
    ['signers'],
    { instructions: [...head(), move(), memo('x', [stranger])], signers: [payer, stranger] },
  ],
  ['2.1.4 the signature of the payer is missing', ['signatures'], { signers: [] }],
  [
    '1.2 the mint is another',
    ['mint', 'destination', 'source'],
    { instructions: [...head(), move({ mint: OTHER_MINT })] },
  ],
  [
    '1.2 the destination is no account of the payee',
    ['destination'],
    { instructions: [...head(), move({ destination: accountOf(stranger.publicKey, MINT) })] },
  ],
  [
    '1.2 the destination is the payee itself',
    ['destination'],
    { instructions: [...head(), move({ destination: payee.publicKey })] },
  ],
  ['1.1 the amount is smaller', ['amount'], { instructions: [...head(), move({ amount: 4n })] }],
  ['the amount is larger', ['amount'], { instructions: [...head(), move({ amount: 6n })] }],
  [
    '1.4 no transfer',
    ['order', 'one_transfer', 'mint', 'destination', 'amount', 'source'],
    { instructions: [...head(), memo('x', [payer])] },
  ],
  ['1.4 two transfers', ['one_transfer'], { instructions: [...head(), move(), move()] }],
  [
    '2.2.1 the compute limit is above the cap',
    ['compute_units'],
    { instructions: [units(60_001), price(), move()] },
  ],
  [
    '2.2.1 the compute price is above the cap',
    ['compute_price'],
    { instructions: [units(), price(50_001n), move()] },
  ],
  [
    '3.1 the instructions stand in another order',
    ['order'],
    { instructions: [price(), units(), move()] },
  ],
  [
    '3.1 a fourth guard',
    ['programs'],
    { instructions: [...head(), move(), guard(), guard(), guard(), guard()] },
  ],
  [
    '3.1 the memo that was asked for is missing',
    ['memo'],
    { instructions: [...head(), move()] },
    { memo: 'order-1' },
  ],
  [
    '3.1 the memo is another',
    ['memo'],
    { instructions: [...head(), move(), memo('order-2')] },
    { memo: 'order-1' },
  ],
  [
    '3.1 the memo stands twice',
    ['memo'],
    { instructions: [...head(), move(), memo(), memo()] },
    { memo: 'order-1' },
  ],
  [
    'a payer who is the payee',
    ['source'],
    {
      instructions: [
        ...head(),
        move({ authority: payee.publicKey, source: accountOf(payee.publicKey, MINT) }),
      ],
      signers: [payee],
    },
  ],
])('%s', (_, rules, made, terms) => {
  expect(broken(made, terms)).toEqual(rules)
})

test('2.1.2 a transaction with accounts from a lookup table is not read', () => {
  const message = new TransactionMessage({
    payerKey: sponsor.publicKey,
    recentBlockhash: blockhash,
    instructions: [...head(), move()],
  }).compileToV0Message()
  message.addressTableLookups.push({
    accountKey: stranger.publicKey,
    writableIndexes: [0],
    readonlyIndexes: [],
  })
  expect(decodeTransaction(new VersionedTransaction(message).serialize())).toMatchObject({
    ok: false,
    problem: { code: 'lookup_table' },
  })
})
