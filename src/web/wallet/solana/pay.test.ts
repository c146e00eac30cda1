import {
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import type { Wallet, WalletAccount } from '@wallet-standard/base'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { matchTransaction } from '#chains/solana/match.ts'
import { LIGHTHOUSE_PROGRAM } from '#chains/solana/programs.ts'
import {
  solanaIntent,
  solanaPayer,
  solanaReviewed,
  solanaStranger,
} from '#testing/chain-payments.ts'
import type { CheckedTransaction, WalletPaymentIntent } from '../../payment-intent/intent.ts'
import { signWithWallet, standardSigner } from './pay.ts'
import { solanaReader } from './start-solana.ts'

afterEach(() => void vi.useRealTimers())

const { paymentId, maxFeeAtomic } = solanaIntent
const order: WalletPaymentIntent = { ...solanaIntent, id: 'a', createdAt: 0, walletName: 'Phantom' }
const built: CheckedTransaction = {
  paymentId,
  bytes: solanaReviewed,
  lastValidBlockHeight: 1,
  deadlineAt: 0,
  builtHeight: 0,
  nonce: null,
  maxFeeAtomic,
  digest: matchTransaction(solanaIntent, solanaReviewed).digest,
}
const account: WalletAccount = {
  address: solanaPayer.publicKey.toBase58(),
  publicKey: solanaPayer.publicKey.toBytes(),
  chains: ['solana:mainnet', 'solana:devnet'],
  features: ['solana:signTransaction'],
}

type SignInput = { account: WalletAccount; chain?: string; transaction: Uint8Array }
type Behaviour = {
  sign?: (input: SignInput) => unknown
  accounts?: readonly WalletAccount[]
  features?: Wallet['features']
}

/** A Wallet Standard wallet with a real key; by default it signs the bytes it is given. */
function walletThat({ sign = approve, accounts = [account], features }: Behaviour = {}) {
  const asked: SignInput[] = []
  const signTransaction = async (input: SignInput) => {
    asked.push(input)
    return sign(input)
  }
  const wallet: Wallet = {
    version: '1.0.0',
    name: 'Phantom',
    icon: 'data:image/png;base64,AA',
    chains: ['solana:mainnet', 'solana:devnet'],
    accounts,
    features: features ?? {
      'solana:signTransaction': {
        version: '1.0.0',
        supportedTransactionVersions: ['legacy', 0],
        signTransaction,
      },
    },
  }
  return { asked, pay: () => signWithWallet(standardSigner(wallet), order, built) }
}

function approve({ transaction }: SignInput) {
  return signed(VersionedTransaction.deserialize(transaction))
}

function signed(transaction: VersionedTransaction, by = solanaPayer) {
  transaction.sign([by])
  return [{ signedTransaction: transaction.serialize() }]
}

/** Signs what it made of the transaction instead. */
function changing(change: (message: TransactionMessage) => void) {
  return ({ transaction }: SignInput) => {
    const message = TransactionMessage.decompile(
      VersionedTransaction.deserialize(transaction).message,
    )
    change(message)
    return signed(new VersionedTransaction(message.compileToV0Message()))
  }
}

const isPrice = ({ programId, data }: TransactionInstruction) =>
  programId.equals(ComputeBudgetProgram.programId) && data[0] === 3
const setPrice = (microLamports: number) => (message: TransactionMessage) => {
  message.instructions = message.instructions.map((each) =>
    isPrice(each) ? ComputeBudgetProgram.setComputeUnitPrice({ microLamports }) : each,
  )
}
const guard = () =>
  new TransactionInstruction({
    programId: new PublicKey(LIGHTHOUSE_PROGRAM),
    keys: [{ pubkey: solanaPayer.publicKey, isSigner: false, isWritable: false }],
    data: Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 4]),
  })

async function outcome(behaviour: Behaviour): Promise<'goes on' | 'stopped'> {
  const answer = await walletThat(behaviour).pay()
  if (answer.kind !== 'signed') throw new Error(`The wallet's answer was ${answer.kind}.`)
  return solanaReader.compareSigned(order, built, answer.bytes).ok ? 'goes on' : 'stopped'
}

describe('what a wallet made of the transaction goes on only with the meaning that was shown', () => {
  test.each<[string, 'goes on' | 'stopped', Behaviour['sign']]>([
    ['nothing', 'goes on', approve],
    [
      'guards before and after',
      'goes on',
      changing(
        (message) => (message.instructions = [guard(), ...message.instructions, guard(), guard()]),
      ),
    ],
    ['a lower compute price', 'goes on', changing(setPrice(1))],
    ['a higher compute price', 'stopped', changing(setPrice(60_000))],
    [
      'one more instruction',
      'stopped',
      changing((message) =>
        message.instructions.push(
          SystemProgram.transfer({
            fromPubkey: solanaPayer.publicKey,
            toPubkey: solanaStranger.publicKey,
            lamports: 1,
          }),
        ),
      ),
    ],
    ['another recipient', 'stopped', changing(redirect)],
    [
      'a missing memo',
      'stopped',
      changing((message) => (message.instructions = message.instructions.slice(0, -1))),
    ],
    [
      'another blockhash',
      'stopped',
      changing((message) => (message.recentBlockhash = PublicKey.default.toBase58())),
    ],
    ['no signature', 'stopped', ({ transaction }) => [{ signedTransaction: transaction }]],
    ['bytes that are none', 'stopped', () => [{ signedTransaction: new Uint8Array([1, 2, 3]) }]],
  ])('%s: %s', async (_, expected, sign) => {
    expect(await outcome({ sign })).toBe(expected)
  })

  test('another fee payer: stopped, though both signed', async () => {
    const sign = ({ transaction }: SignInput) => {
      const message = TransactionMessage.decompile(
        VersionedTransaction.deserialize(transaction).message,
      )
      message.payerKey = solanaStranger.publicKey
      const changed = new VersionedTransaction(message.compileToV0Message())
      changed.sign([solanaPayer, solanaStranger])
      return [{ signedTransaction: changed.serialize() }]
    }
    expect(await outcome({ sign })).toBe('stopped')
  })
})

test('the wallet is asked with its account, the named chain and the reviewed bytes', async () => {
  const wallet = walletThat()
  await wallet.pay()
  expect(wallet.asked).toEqual([{ account, chain: 'solana:devnet', transaction: solanaReviewed }])
})

const fail = (error: unknown) => () => {
  throw error
}

test.each<[string, string, Behaviour]>([
  [
    'rejects',
    'REJECTED',
    { sign: fail(Object.assign(new Error('User rejected the request.'), { code: 4001 })) },
  ],
  [
    'is closed',
    'REJECTED',
    { sign: fail(Object.assign(new Error(''), { name: 'WalletWindowClosedError' })) },
  ],
  ['is disconnected under the request', 'DISCONNECTED', { sign: fail({ code: 4900 }) }],
  ['breaks', 'UNCLEAR', { sign: fail(new Error('Unexpected error')) }],
  ['answers nothing', 'REFUSED_TRANSACTION', { sign: () => [] }],
  ['is locked: it offers no account', 'UNAUTHORIZED', { accounts: [] }],
  [
    'was switched to another account',
    'UNAUTHORIZED',
    { accounts: [{ ...account, address: solanaStranger.publicKey.toBase58() }] },
  ],
  [
    'is not on this network',
    'WRONG_CHAIN',
    { accounts: [{ ...account, chains: ['solana:mainnet'] }] },
  ],
  ['cannot sign', 'UNSUPPORTED', { features: {} }],
])('a wallet that %s has sent nothing', async (_, code, behaviour) => {
  const answer = await walletThat(behaviour).pay()
  expect(answer).toMatchObject({
    kind: 'refused',
    userError: { code, body: expect.stringContaining('Nothing was sent.') },
  })
})

test('a wallet that never answers is not waited for without end, and has sent nothing', async () => {
  vi.useFakeTimers()
  const paid = walletThat({ sign: () => new Promise(() => {}) }).pay()
  await vi.advanceTimersByTimeAsync(5 * 60_000)
  expect(await paid).toMatchObject({
    kind: 'refused',
    userError: { code: 'TIMEOUT', body: 'Sign again. Nothing was sent.' },
  })
})

function redirect(message: TransactionMessage): void {
  message.instructions = message.instructions.map((each) =>
    each.programId.equals(SystemProgram.programId)
      ? SystemProgram.transfer({
          fromPubkey: solanaPayer.publicKey,
          toPubkey: solanaStranger.publicKey,
          lamports: solanaIntent.amountAtomic,
        })
      : each,
  )
}
