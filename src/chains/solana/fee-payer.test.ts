import {
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { describe, expect, test } from 'vitest'
import {
  failing,
  solanaFacts,
  solanaIntent,
  solanaPayer,
  solanaStranger,
} from '#testing/chain-payments.ts'
import { accountOf, openAccount, TOKEN, transferChecked } from '#testing/token-instructions.ts'
import type { PaymentIntent } from '../match.ts'
import { buildPayment } from './build.ts'
import { compareSigned } from './compare.ts'
import { decodeTransaction } from './decode.ts'
import { matchTransaction } from './match.ts'
import { checkNativeTransfer } from './native-transfer.ts'
import { LIGHTHOUSE_PROGRAM } from './programs.ts'
import { checkTokenPayment } from './token-payment.ts'

/**
 * A payment whose network fee another account pays: the payer signs, then the sponsor signs and
 * sends.
 */

const sponsor = Keypair.fromSeed(new Uint8Array(32).fill(9))
const payer = solanaPayer.publicKey
const recipient = new PublicKey(solanaIntent.recipient)
const mint = new PublicKey('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')
const USDC = {
  address: mint.toBase58(),
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const intent: PaymentIntent = {
  ...solanaIntent,
  asset: USDC,
  amountAtomic: 1_500_000n,
  feePayer: sponsor.publicKey.toBase58(),
  maxFeeAtomic: 0n,
}
const native: PaymentIntent = {
  ...solanaIntent,
  feePayer: sponsor.publicKey.toBase58(),
  maxFeeAtomic: 0n,
}
const facts = { ...solanaFacts, unitLimit: 40_000, unitPriceMicroLamports: 1n }
const token = { program: TOKEN.toBase58(), opensAccount: false }
const built = buildPayment({ ...intent, ...facts, token })
const plain = buildPayment({ ...native, ...facts })

function signed(bytes: Uint8Array, ...signers: Keypair[]): Uint8Array {
  const transaction = VersionedTransaction.deserialize(bytes)
  transaction.sign(signers)
  return transaction.serialize()
}

function changed(
  bytes: Uint8Array,
  change: (instructions: TransactionInstruction[]) => TransactionInstruction[],
  feePayer = sponsor.publicKey,
): Uint8Array {
  const message = TransactionMessage.decompile(VersionedTransaction.deserialize(bytes).message)
  const next = new TransactionMessage({
    payerKey: feePayer,
    recentBlockhash: message.recentBlockhash,
    instructions: change(message.instructions),
  })
  return new VersionedTransaction(next.compileToV0Message()).serialize()
}

test.each([
  ['a token', intent, built],
  ['SOL', native, plain],
])(
  '%s: what is built is what was asked, costs the payer nothing, and lacks the sponsor’s signature',
  (_, asked, bytes) => {
    expect(failing(matchTransaction(asked, bytes))).toEqual([])
    const decoded = decodeTransaction(signed(bytes, solanaPayer))
    if (!decoded.ok) throw new Error(decoded.problem.code)
    expect(decoded.form).toBe('partial')
    expect(decoded.signers).toEqual([sponsor.publicKey.toBase58(), payer.toBase58()])
    expect(failing(compareSigned(asked, bytes, signed(bytes, solanaPayer)))).toEqual([])
  },
)

test('it keeps every rule by which a facilitator signs', () => {
  const read = (bytes: Uint8Array) => {
    const decoded = decodeTransaction(signed(bytes, solanaPayer))
    if (!decoded.ok) throw new Error(decoded.problem.code)
    return decoded
  }
  const terms = {
    payTo: intent.recipient,
    memo: intent.paymentId,
    feePayer: sponsor.publicKey.toBase58(),
  }
  const rows = checkTokenPayment(read(built), {
    ...terms,
    symbol: USDC.symbol,
    decimals: USDC.decimals,
    mint: USDC.address,
    amountAtomic: intent.amountAtomic,
  })
  expect(rows.filter(({ ok }) => !ok)).toEqual([])
  expect(
    checkNativeTransfer(read(plain), { ...terms, lamports: native.amountAtomic }).filter(
      ({ ok }) => !ok,
    ),
  ).toEqual([])
})

describe('is refused', () => {
  const open = openAccount({ payer: sponsor.publicKey, owner: recipient, mint })
  const other = transferChecked({
    source: accountOf(payer, mint),
    mint,
    destination: accountOf(solanaStranger.publicKey, mint),
    authority: payer,
    amount: 1n,
    decimals: 6,
  })
  test.each<[string, Uint8Array, string[]]>([
    ['the payer as the fee payer', changed(built, (all) => all, payer), ['feePayer', 'signers']],
    [
      'another sponsor',
      changed(built, (all) => all, solanaStranger.publicKey),
      ['feePayer', 'signers'],
    ],
    [
      'a second transfer',
      changed(built, (all) => [...all, other]),
      ['sender', 'recipient', 'amount', 'asset'],
    ],
    [
      'an account opened with somebody’s money',
      changed(built, (all) => [...all, open]),
      ['rent', 'instructions'],
    ],
    [
      'lamports beside it',
      changed(built, (all) => [
        ...all,
        SystemProgram.transfer({ fromPubkey: payer, toPubkey: recipient, lamports: 1 }),
      ]),
      ['recipient', 'amount', 'asset', 'instructions'],
    ],
  ])('%s', (_, bytes, fields) => {
    expect(failing(matchTransaction(intent, bytes))).toEqual(fields)
  })

  test('a payer who is not asked to sign, or whose signature is of something else', () => {
    expect(failing(compareSigned(intent, built, built))).toContain('signers')
    const forged = signed(built, sponsor)
    expect(failing(compareSigned(intent, built, forged))).toContain('signers')
  })

  test('another payment that came back from the wallet', () => {
    const dearer = buildPayment({ ...intent, ...facts, token, amountAtomic: 2_000_000n })
    expect(failing(compareSigned(intent, built, signed(dearer, solanaPayer)))).toContain('amount')
  })
})

test('a wallet may add its guards, which only assert', () => {
  const guard = new TransactionInstruction({
    programId: new PublicKey(LIGHTHOUSE_PROGRAM),
    keys: [{ pubkey: payer, isSigner: false, isWritable: false }],
    data: Buffer.from([6, 1, 2, 3]),
  })
  const guarded = changed(built, (all) => [...all, guard])
  expect(failing(matchTransaction(intent, guarded))).toEqual(['instructions'])
  expect(failing(compareSigned(intent, built, signed(guarded, solanaPayer)))).toEqual([])
  expect(compareSigned(intent, built, signed(guarded, solanaPayer)).digest).toBe(
    matchTransaction(intent, built).digest,
  )
})

test('nobody sponsors itself, and no sponsor opens accounts', () => {
  expect(() => buildPayment({ ...intent, ...facts, token, feePayer: intent.sender })).toThrow(
    RangeError,
  )
  expect(() =>
    buildPayment({ ...intent, ...facts, token: { ...token, opensAccount: true } }),
  ).toThrow(RangeError)
})
