import { VersionedTransaction, type Keypair } from '@solana/web3.js'
import {
  hexToBytes,
  parseTransaction,
  bytesToHex,
  type Hex,
  type TransactionSerializedEIP1559,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { buildPayment as buildEvm } from '#chains/evm/build.ts'
import {
  compareLanded as compareLandedEvm,
  compareSigned as compareSignedEvm,
} from '#chains/evm/compare.ts'
import { decodeTransaction as decodeEvm } from '#chains/evm/decode.ts'
import { decodeLanded as decodeLandedEvm } from '#chains/evm/landed.ts'
import type { PaymentIntent } from '#chains/match.ts'
import { buildPayment as buildSolana } from '#chains/solana/build.ts'
import {
  compareLanded as compareLandedSolana,
  compareSigned as compareSignedSolana,
} from '#chains/solana/compare.ts'
import { decodeLanded as decodeLandedSolana } from '#chains/solana/landed.ts'
import { createPaymentId } from '#contract/payment.ts'
import { evmIntent, failing, solanaIntent } from './chain-payments.ts'
import { startEvm, startSolana, type EvmFixture, type SolanaFixture } from './local-chains.ts'

/** From the bytes we build to what a real node says of them: the same payment all the way. */

async function landOnEvm(evm: EvmFixture, account: PrivateKeyAccount, intent: PaymentIntent) {
  const nonce = await evm.client.getTransactionCount({ address: account.address })
  const reviewed = buildEvm({
    ...intent,
    nonce,
    gas: 50_000n,
    maxFeePerGas: 10_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
  })
  const signed = await account.signTransaction(
    parseTransaction(bytesToHex(reviewed) as TransactionSerializedEIP1559),
  )
  const hash = await evm.client.sendRawTransaction({ serializedTransaction: signed })
  await evm.mine()
  const landed = decodeLandedEvm(
    await evm.client.getTransaction({ hash }),
    await evm.client.getTransactionReceipt({ hash }),
  )
  if (!landed.ok) throw new Error(landed.problem.code)
  return { reviewed, signed: hexToBytes(signed), hash, landed }
}

test('on a real EVM node the transaction we build lands as the payment that was asked for', async () => {
  await using evm = await startEvm({ slotsInEpoch: 1 })
  const account = await evm.wallet(10n ** 18n)
  const intent = { ...evmIntent, sender: account.address }
  const { reviewed, signed, hash, landed } = await landOnEvm(evm, account, intent)
  expect(failing(compareSignedEvm(intent, reviewed, signed))).toEqual([])
  expect(decodeEvm(signed)).toMatchObject({ ok: true, hash, sender: account.address })
  expect(failing(compareLandedEvm(intent, landed))).toEqual([])
  expect(await evm.client.getBalance({ address: intent.recipient as Hex })).toBe(
    intent.amountAtomic,
  )
  expect(await evm.client.getBalance({ address: account.address })).toBe(
    10n ** 18n - intent.amountAtomic - landed.feeAtomic,
  )
})

test('on a real EVM node a transaction that reverted is not the payment', async () => {
  await using evm = await startEvm({ slotsInEpoch: 1 })
  const account = await evm.wallet(10n ** 18n)
  const intent = { ...evmIntent, sender: account.address }
  await evm.setCode(intent.recipient, '0x5f5ffd')
  const { landed } = await landOnEvm(evm, account, intent)
  expect(landed.succeeded).toBe(false)
  expect(failing(compareLandedEvm(intent, landed))).toEqual(['instructions'])
})

async function landOnSolana(solana: SolanaFixture, payer: Keypair, intent: PaymentIntent) {
  const { blockhash } = await solana.connection.getLatestBlockhash()
  const reviewed = buildSolana({
    ...intent,
    blockhash,
    unitLimit: 40_000,
    unitPriceMicroLamports: 1000n,
  })
  const transaction = VersionedTransaction.deserialize(reviewed)
  transaction.sign([payer])
  const signed = transaction.serialize()
  const signature = await solana.connection.sendRawTransaction(signed)
  const read = () =>
    solana.connection.getTransaction(signature, {
      maxSupportedTransactionVersion: 0,
      commitment: 'confirmed',
    })
  await expect.poll(read).not.toBeNull()
  const response = await read()
  if (response === null) throw new Error('The node forgot the transaction.')
  const landed = decodeLandedSolana(response)
  if (!landed.ok) throw new Error(landed.problem.code)
  return { reviewed, signed, signature, landed }
}

test('on a real Solana node the transaction we build lands as the payment that was asked for', async () => {
  await using solana = await startSolana({ slotTimeMs: 50 })
  const payer = await solana.wallet(10n ** 9n)
  const recipient = await solana.wallet(10n ** 6n)
  const intent = {
    ...solanaIntent,
    paymentId: createPaymentId(),
    sender: payer.publicKey.toBase58(),
    recipient: recipient.publicKey.toBase58(),
  }
  const { reviewed, signed, signature, landed } = await landOnSolana(solana, payer, intent)
  expect(failing(compareSignedSolana(intent, reviewed, signed))).toEqual([])
  expect(landed).toMatchObject({
    signature,
    succeeded: true,
    transfer: {
      sender: intent.sender,
      recipient: intent.recipient,
      amountAtomic: intent.amountAtomic,
      memo: intent.paymentId,
    },
  })
  expect(failing(compareLandedSolana(intent, landed))).toEqual([])
  expect(await solana.connection.getBalance(recipient.publicKey, 'confirmed')).toBe(
    10 ** 6 + Number(intent.amountAtomic),
  )
})
