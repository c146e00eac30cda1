import { createPublicKey, verify } from 'node:crypto'
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import bs58 from 'bs58'
import type { PaymentIntent } from '#chains/match.ts'
import { changeBytes, type Rng } from './rng.ts'
import type { Attack } from './tamper.ts'

/** A Solana transaction in parts, and what an attacker does to the parts that every payment has. */

export const PAYER = Keypair.fromSeed(new Uint8Array(32).fill(0x5e))
export const STRANGER = Keypair.fromSeed(new Uint8Array(32).fill(0xbd))
export const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
export const MEMO_V1 = new PublicKey('Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo')
export const LIGHTHOUSE = new PublicKey('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95')

/** A transaction before it is compiled, for an attacker to change. */
export type Draft = {
  payer: PublicKey
  blockhash: string
  limit: TransactionInstruction
  price: TransactionInstruction
  /** In the order of the transaction: the transfer and, of a token, the opening of an account; the memo before the transfer or after it. */
  transfer: TransactionInstruction
  open: TransactionInstruction[]
  memo: TransactionInstruction
  memoFirst: boolean
  before: TransactionInstruction[]
  after: TransactionInstruction[]
  shape: 'v0' | 'legacy' | 'lookup'
  unordered: boolean
}

export type Change = (rng: Rng, valid: Draft, intent: PaymentIntent) => Partial<Draft>

export const key = (rng: Rng) => new PublicKey(rng.bytes(32))
export const memo = (
  text: string | Uint8Array,
  keys: TransactionInstruction['keys'] = [],
  programId = MEMO,
) => new TransactionInstruction({ programId, keys, data: Buffer.from(text) })
export const pay = (from: PublicKey, to: PublicKey, lamports: bigint) =>
  SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports })
export const guard = (rng: Rng, tag = 2 + rng.below(15), more: PublicKey[] = []) =>
  new TransactionInstruction({
    programId: LIGHTHOUSE,
    keys: [PAYER.publicKey, ...more].map((pubkey) => ({
      pubkey,
      isSigner: pubkey === PAYER.publicKey,
      isWritable: pubkey !== SystemProgram.programId,
    })),
    data: Buffer.from([tag, ...rng.bytes(rng.upTo(20))]),
  })
export const u64 = (value: bigint) => BigInt.asUintN(64, value)

/** What an attacker who understands the format changes in any payment. */
export const COMMON_CHANGES: Record<string, Change> = {
  'another fee payer': () => ({ payer: STRANGER.publicKey }),
  'a second transfer': (rng) => ({ after: [pay(PAYER.publicKey, key(rng), rng.big(40))] }),
  'the same transfer twice': (_, valid) => ({ before: [valid.transfer] }),
  'a transfer with a seed': (rng) => ({
    after: [
      SystemProgram.transfer({
        fromPubkey: PAYER.publicKey,
        toPubkey: key(rng),
        lamports: 1n,
        basePubkey: PAYER.publicKey,
        seed: 'x',
        programId: SystemProgram.programId,
      }),
    ],
  }),
  'a memo of another payment': (rng) => ({ memo: memo(rng.paymentId()) }),
  'a memo with a tail': (rng, _, intent) => ({
    memo: memo(intent.paymentId + rng.pick([' ', '\0', '\u200b', 'x'])),
  }),
  'a memo with a byte order mark': (_, __, intent) => ({ memo: memo(`\ufeff${intent.paymentId}`) }),
  'a memo that is not text': (rng) => ({ memo: memo(Uint8Array.from([0xff, ...rng.bytes(8)])) }),
  'two memos': (rng, valid) => ({ after: [rng.pick([valid.memo, memo('more')])] }),
  'the older memo program': (_, __, intent) => ({ memo: memo(intent.paymentId, [], MEMO_V1) }),
  'a memo signed by the payer': (_, __, intent) => ({
    memo: memo(intent.paymentId, [{ pubkey: PAYER.publicKey, isSigner: true, isWritable: false }]),
  }),
  'an extra signer': (_, __, intent) => ({
    memo: memo(intent.paymentId, [
      { pubkey: STRANGER.publicKey, isSigner: true, isWritable: false },
    ]),
  }),
  'another limit': (rng) => ({
    limit: ComputeBudgetProgram.setComputeUnitLimit({
      units: rng.below(rng.pick([60_001, 120_000, 1_400_000])),
    }),
  }),
  'another price': (rng) => ({
    price: ComputeBudgetProgram.setComputeUnitPrice({
      microLamports: u64(rng.big(rng.pick([16, 30, 50, 64]))),
    }),
  }),
  'a limit twice': (rng, valid) => ({ after: [rng.pick([valid.limit, valid.price])] }),
  'a limit left out': (rng, valid) =>
    rng.below(2) ? { limit: valid.price } : { price: valid.limit },
  'a heap frame': () => ({ before: [ComputeBudgetProgram.requestHeapFrame({ bytes: 32_768 })] }),
  'an account assigned': (rng) => ({
    after: [SystemProgram.assign({ accountPubkey: PAYER.publicKey, programId: key(rng) })],
  }),
  'an account created': (rng) => ({
    after: [
      SystemProgram.createAccount({
        fromPubkey: PAYER.publicKey,
        newAccountPubkey: STRANGER.publicKey,
        lamports: 1_000_000,
        space: 0,
        programId: key(rng),
      }),
    ],
  }),
  'a durable nonce': (rng) => ({
    before: [
      SystemProgram.nonceAdvance({ noncePubkey: key(rng), authorizedPubkey: PAYER.publicKey }),
    ],
  }),
  'an unknown program': (rng) => ({
    after: [
      new TransactionInstruction({
        programId: key(rng),
        keys: [{ pubkey: PAYER.publicKey, isSigner: true, isWritable: true }],
        data: Buffer.from(rng.bytes(4)),
      }),
    ],
  }),
  'wallet guards': (rng) => ({
    before: Array.from({ length: rng.below(4) }, () => guard(rng)),
    after: Array.from({ length: rng.upTo(2) }, () => guard(rng)),
  }),
  'a guard that writes': (rng) => ({
    before: [
      rng.pick([
        guard(rng, 0, [key(rng)]),
        guard(rng, 1, [key(rng)]),
        guard(rng, 2, [SystemProgram.programId]),
      ]),
    ],
  }),
  'a lookup table': () => ({ shape: 'lookup' }),
  'the legacy format': () => ({ shape: 'legacy' }),
  'another order': () => ({ unordered: true }),
  'another blockhash': (rng) => ({ blockhash: key(rng).toBase58() }),
}

export function compile({
  payer,
  blockhash,
  limit,
  price,
  transfer,
  open,
  memo: note,
  memoFirst,
  before,
  after,
  shape,
  unordered,
}: Draft): VersionedTransaction {
  const ordered = [
    ...before,
    limit,
    price,
    ...open,
    ...(memoFirst ? [note, transfer] : [transfer, note]),
    ...after,
  ]
  const message = new TransactionMessage({
    payerKey: payer,
    recentBlockhash: blockhash,
    instructions: unordered ? ordered.reverse() : ordered,
  })
  if (shape === 'legacy') return new VersionedTransaction(message.compileToLegacyMessage())
  if (shape === 'v0') return new VersionedTransaction(message.compileToV0Message())
  const addresses = transfer.keys.slice(1).map(({ pubkey }) => pubkey)
  const state = {
    deactivationSlot: 2n ** 64n - 1n,
    lastExtendedSlot: 0,
    lastExtendedSlotStartIndex: 0,
    addresses,
  }
  return new VersionedTransaction(
    message.compileToV0Message([new AddressLookupTableAccount({ key: STRANGER.publicKey, state })]),
  )
}

export type DraftPayment = { intent: PaymentIntent; draft: Draft; reviewed: Uint8Array }

/** One attack on a payment: bytes changed blindly, parts changed with understanding, or a wallet that lies. */
export function attackPayment(
  rng: Rng,
  { intent, draft, reviewed }: DraftPayment,
  changes: Record<string, Change>,
): Attack {
  const kind = rng.below(100)
  if (kind < 55) return { intent, reviewed, ...changeBytes(rng, reviewed), door: 'review' }
  const how = rng.pick(Object.keys(changes) as [string, ...string[]])
  const changed = compile({ ...draft, ...changes[how]?.(rng, draft, intent) })
  if (kind < 88) return { intent, reviewed, how, bytes: changed.serialize(), door: 'review' }
  return { intent, reviewed, ...signAttack(rng, compile(draft), { how, changed }) }
}

/** What a wallet that lies, or somebody between it and us, gives back. */
function signAttack(
  rng: Rng,
  valid: VersionedTransaction,
  { how, changed }: { how: string; changed: VersionedTransaction },
): Pick<Attack, 'how' | 'bytes' | 'door'> {
  const door = rng.pick<Attack['door']>(['signed', 'signed', 'review'])
  switch (rng.below(6)) {
    case 4:
      return { how: 'not signed at all', bytes: valid.serialize(), door: 'signed' }
    case 0:
      sign(valid)
      return { how: 'signed as it was shown', bytes: valid.serialize(), door }
    case 1:
      valid.signatures = [
        bs58.decode(bs58.encode(new Uint8Array(64).fill(1))),
        ...valid.signatures.slice(1),
      ]
      return { how: 'a signature made up', bytes: valid.serialize(), door }
    case 2: {
      sign(valid)
      const tampered = changeBytes(rng, valid.serialize())
      return { how: `signed, then ${tampered.how}`, bytes: tampered.bytes, door }
    }
    default:
      sign(changed)
      return { how: `signed with ${how}`, bytes: changed.serialize(), door }
  }
}

/** With every key the attacker could have. */
function sign(transaction: VersionedTransaction): void {
  const { staticAccountKeys, header } = transaction.message
  const signers = staticAccountKeys.slice(0, header.numRequiredSignatures)
  transaction.sign(
    [PAYER, STRANGER].filter(({ publicKey }) => signers.some((signer) => signer.equals(publicKey))),
  )
}

/** OpenSSL's verdict. */
export function isSignedBy(signer: PublicKey, message: Uint8Array, signature: Uint8Array): boolean {
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), signer.toBytes()])
  return verify(
    null,
    message,
    createPublicKey({ key: der, format: 'der', type: 'spki' }),
    signature,
  )
}
