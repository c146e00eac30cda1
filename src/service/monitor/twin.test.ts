import { randomBytes } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519.js'
import { sha512 } from '@noble/hashes/sha2.js'
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
import { eq } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { signVersion1 } from '#testing/chain-payments.ts'
import { hidesNewer, listsNewer, startGate, startSolana } from '#testing/local-chains.ts'
import { proveTransfer } from '#testing/proofs.ts'
import { eventually, openContext } from '#testing/service-context.ts'
import { payment } from '../db/schema/payment.ts'
import { receivePayment } from '../settlement/receive.ts'
import { startWatchers } from './start.ts'

const SOL = 1_000_000_000n
const LAMPORTS = 10_000_000n
const MEMO_PROGRAM = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
const ORDER = ed25519.Point.Fn.ORDER

/** A second signature of the same message by the same key: Ed25519 lets a signer choose its nonce, and this one chooses by chance. */
function signByChance(message: Uint8Array, seed: Uint8Array): Uint8Array {
  const { scalar, pointBytes } = ed25519.utils.getExtendedPublicKey(seed)
  const nonce = toNumber(randomBytes(64)) % ORDER
  const commitment = ed25519.Point.BASE.multiply(nonce).toBytes()
  const challenge = toNumber(sha512(Buffer.concat([commitment, pointBytes, message]))) % ORDER
  const answer = Buffer.from(
    ((nonce + challenge * scalar) % ORDER).toString(16).padStart(64, '0'),
    'hex',
  ).reverse()
  return Buffer.concat([commitment, answer])
}

function toNumber(littleEndian: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(littleEndian).reverse().toString('hex')}`)
}

test.each([
  { newerCount: 0, behind: 'few newer transactions' },
  { newerCount: 20_001, behind: 'more newer transactions than are read' },
])(
  'a proof whose payer broadcasts the same message under another signature ends as paid, not as failed, behind $behind',
  async ({ newerCount: count }) => {
    await using solana = await startSolana({ slotTimeMs: 100 })
    await using gate = await startGate(solana.rpcUrl)
    await using opened = await openContext([{ ...solana.network, rpcUrls: [gate.url] }])
    const { context, actor } = opened
    const payer = await solana.wallet(SOL)
    const payee = Keypair.generate().publicKey
    const { blockhash } = await solana.connection.getLatestBlockhash('confirmed')
    const instructions = [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 30_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000 }),
      SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payee, lamports: LAMPORTS }),
      new TransactionInstruction({
        programId: MEMO_PROGRAM,
        keys: [],
        data: Buffer.from('order-1'),
      }),
    ]
    const transaction = new VersionedTransaction(
      new TransactionMessage({
        payerKey: payer.publicKey,
        recentBlockhash: blockhash,
        instructions,
      }).compileToV0Message(),
    )
    transaction.sign([payer])
    const handedIn = bs58.encode(transaction.signatures[0] ?? new Uint8Array())
    const terms = {
      network: solana.network.network,
      payTo: payee.toBase58(),
      lamports: LAMPORTS,
      memo: 'order-1',
    }
    const paymentProof = proveTransfer(terms, transaction.serialize())

    gate.refuse = 'sendTransaction'
    const body = {
      walletAddress: payee.toBase58(),
      paymentProof,
      expectedAmount: '0.01',
      resource: 'https://shop.example/a',
      memo: 'order-1',
      timeout: 5,
    }
    // The node takes nothing at the moment: the answer is open, the payment is kept.
    await receivePayment(context, actor, body).catch(() => {})
    const row = async () =>
      (await context.db.select().from(payment).where(eq(payment.mode, 'received')))[0]
    expect(await row()).toMatchObject({
      status: 'pending',
      signature: null,
      reportedSignature: handedIn,
    })

    const twin = signByChance(transaction.message.serialize(), payer.secretKey.slice(0, 32))
    transaction.signatures[0] = twin
    expect(
      await solana.connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true }),
    ).toBe(bs58.encode(twin))
    await eventually(
      () => solana.connection.getBalance(payee),
      (lamports) => BigInt(lamports) === LAMPORTS,
    )
    // Newer transactions of the payer, one that can be read and one that cannot: the search passes both.
    const newer = async (lamports: number) => {
      const recent = await solana.connection.getLatestBlockhash('confirmed')
      const transfer = SystemProgram.transfer({
        fromPubkey: payer.publicKey,
        toPubkey: payee,
        lamports,
      })
      return solana.connection.sendRawTransaction(
        signVersion1(payer, { recentBlockhash: recent.blockhash, instructions: [transfer] }),
      )
    }
    await newer(1)
    const hidden = hidesNewer(await newer(2))
    const slot = await solana.connection.getSlot()
    const listed = listsNewer({ slot, count, of: [payer.publicKey.toBase58()] })
    gate.lie = (asked, answer) => listed(asked, hidden(asked, answer))
    await eventually(
      () => solana.connection.getBalance(payee),
      (lamports) => BigInt(lamports) === LAMPORTS + 3n,
    )
    const watchers = startWatchers(context)
    try {
      const ended = await eventually(
        row,
        (now) => now?.status === 'finalized' || now?.status === 'failed',
      )
      expect(ended).toMatchObject({
        status: 'finalized',
        signature: bs58.encode(twin),
        failure: null,
      })
    } finally {
      await watchers.stop()
    }
  },
)
