import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import bs58 from 'bs58'
import { hexToBytes, serializeTransaction, type Hex } from 'viem'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { callOf } from '#chains/evm/authorization.ts'
import { NATIVE_ETH } from '#contract/network.ts'
import type { SealedWallet, Signer, SignRequest } from '#signer/protocol.ts'
import { openTestSigner, type TestSigner } from '#testing/test-signer.ts'
import { coSign, signCall, signPayment } from './sign.ts'

/** A signer with a defect answers with something else than it was asked for. The service hands out none of it. */

const ETH = 10n ** 18n
const PAYEE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const fees = { gas: 100_000n, maxFeePerGas: 9n, maxPriorityFeePerGas: 1n } as const

let real: TestSigner
let evm: SealedWallet
let other: SealedWallet
let solana: SealedWallet

beforeEach(async () => {
  real = openTestSigner()
  onTestFinished(() => real[Symbol.asyncDispose]())
  const seal = (id: string, family: 'evm' | 'solana') =>
    real.seal({ id, accountId: 'acc_1', family })
  evm = await seal('wal_1', 'evm')
  other = await seal('wal_2', 'evm')
  solana = await seal('wal_3', 'solana')
})

const payment = (value: bigint, nonce: number) =>
  hexToBytes(
    serializeTransaction({ type: 'eip1559', chainId: 1, ...fees, to: PAYEE, value, nonce }),
  )
/** The call of a settlement. */
const settlement = callOf({
  method: 'eip3009',
  token: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  from: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  to: PAYEE,
  amountAtomic: 5n,
  nonce: `0x${'11'.repeat(32)}`,
  validAfter: 0n,
  validBefore: 9n,
  signature: `0x${'22'.repeat(64)}1b`,
  signedBy: 'key',
})
const payer = Keypair.generate()
function sponsored(lamports: number): Uint8Array {
  const payee = new PublicKey(new Uint8Array(32).fill(9))
  const transfer = { fromPubkey: payer.publicKey, toPubkey: payee, lamports }
  const message = new TransactionMessage({
    payerKey: new PublicKey(solana.address),
    recentBlockhash: bs58.encode(new Uint8Array(32).fill(7)),
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 450 }),
      SystemProgram.transfer(transfer),
    ],
  }).compileToV0Message()
  const transaction = new VersionedTransaction(message)
  transaction.sign([payer])
  return transaction.serialize()
}

const askPayment = (signer: Signer) =>
  signPayment(
    { signer, wallet: evm },
    {
      paymentId: 'pay_1',
      network: 'eip155:1',
      asset: NATIVE_ETH,
      sender: evm.address,
      recipient: PAYEE,
      amountAtomic: ETH,
      maxFeeAtomic: ETH,
    },
    { unsigned: payment(ETH, 0), nonce: 7, resource: null },
  )
const askCall = (signer: Signer) =>
  signCall({ signer, wallet: evm }, { chainId: 1, nonce: 7, ...fees, ...settlement })
const askFeePayer = (signer: Signer) => coSign({ signer, wallet: solana }, sponsored(5))

test('what a signer without a defect signs is handed out', async () => {
  for (const ask of [askPayment, askCall, askFeePayer])
    expect(await ask(real)).toEqual(expect.anything())
})

test.each<[string, (signer: Signer) => Promise<unknown>, (request: SignRequest) => SignRequest]>([
  [
    'a payment of another amount',
    askPayment,
    (request) => ({ ...request, transaction: payment(ETH + 1n, 7) }),
  ],
  [
    'a payment with another nonce',
    askPayment,
    (request) => ({ ...request, transaction: payment(ETH, 8) }),
  ],
  ['a payment from another wallet', askPayment, (request) => ({ ...request, wallet: other })],
  ['a call from another wallet', askCall, (request) => ({ ...request, wallet: other })],
  [
    'a payment in place of a call',
    askCall,
    (request) => ({ ...request, transaction: payment(1n, 7) }),
  ],
  [
    'a call with a higher fee',
    askCall,
    (request) => ({
      ...request,
      transaction: hexToBytes(
        serializeTransaction({
          type: 'eip1559',
          chainId: 1,
          nonce: 7,
          ...fees,
          maxFeePerGas: 10n,
          ...settlement,
        }),
      ),
    }),
  ],
  [
    'another transfer on Solana',
    askFeePayer,
    (request) => ({ ...request, transaction: sponsored(6) }),
  ],
])('the service refuses from its signer %s', async (_, ask, change) => {
  const signer: Signer = { ...real, sign: (request) => real.sign(change(request)) }
  await expect(ask(signer)).rejects.toThrow(/signed|payment pay_1/)
})

test.each([
  ['payment', askPayment],
  ['call', askCall],
  ['fee payer', askFeePayer],
] as const)('the service refuses from its signer a %s under another name', async (_, ask) => {
  const named: Hex = `0x${'ab'.repeat(32)}`
  const signer: Signer = {
    ...real,
    sign: async (request) => ({ ...(await real.sign(request)), signature: named }),
  }
  await expect(ask(signer)).rejects.toThrow('is not the transaction it was asked for')
})
