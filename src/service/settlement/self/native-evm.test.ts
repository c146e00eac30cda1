import { keccak256, parseEther, stringToBytes, toHex, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EVM_NATIVE } from '#contract/address.ts'
import { sendFrom } from '#testing/token-payers.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import {
  openParties,
  openPayeeFixture,
  settleBuilt,
  type PayeeFixture,
} from '#testing/payee-fixture.ts'
import { proveTxid, refusal, refused } from '#testing/proofs.ts'
import { encodeHeader } from '#x402/header.ts'
import type { Requirements } from '#x402/requirements.ts'

/** Ether that a payer signed away or has sent: its payee settles it alone, or writes on the chain that it has it. */

const URL = 'https://shop.example/a'

let evm: EvmFixture
let fixture: PayeeFixture

beforeAll(async () => {
  evm = await startEvm({ slotsInEpoch: 4 })
  fixture = await openPayeeFixture(evm)
})

afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await evm?.[Symbol.asyncDispose]()
})

describe('a transaction that the payer signed', () => {
  async function signed({
    payer,
    payee,
  }: {
    payer: PrivateKeyAccount
    payee: PrivateKeyAccount
  }): Promise<{ proof: string; bytes: Hex }> {
    const { maxFeePerGas, maxPriorityFeePerGas } = await evm.client.estimateFeesPerGas()
    const nonce = await evm.client.getTransactionCount({ address: payer.address })
    const fields = {
      chainId: 31337,
      to: payee.address,
      value: parseEther('0.01'),
      nonce,
      gas: 21_000n,
      maxFeePerGas,
      maxPriorityFeePerGas,
    }
    const bytes = await payer.signTransaction({ type: 'eip1559', ...fields })
    const accepted: Requirements = {
      scheme: 'exact',
      network: evm.network.network,
      amount: parseEther('0.01').toString(),
      asset: EVM_NATIVE,
      payTo: payee.address,
      maxTimeoutSeconds: 600,
      extra: { assetTransferMethod: 'signed-transaction' },
    }
    return {
      proof: encodeHeader({
        x402Version: 2,
        resource: { url: URL },
        accepted,
        payload: { signedTransaction: bytes },
      }),
      bytes,
    }
  }
  const ask = { expectedAmount: '0.01', asset: 'ETH' }

  test('comes back as it is, for anybody to broadcast, and is used up when it lands', async () => {
    const all = await openParties(evm)
    const { proof, bytes } = await signed(all)
    const built = await fixture.build(all.payee, proof, ask)
    expect(built).toMatchObject({
      settlement: 'broadcast_only',
      kind: 'signed-transaction',
      encoding: 'evm-rlp-signed',
      signer: null,
      fee: null,
    })
    expect(toHex(Buffer.from(built.transaction, 'base64'))).toBe(bytes)
    expect(await fixture.status(built.paymentId)).toBe('created')
    const hash = await evm.client.sendRawTransaction({ serializedTransaction: bytes })
    await evm.mine(3)
    await fixture.followed(built.paymentId, 'finalized')
    expect(await fixture.receive(all.payee, proof, ask)).toMatchObject({
      alreadyProcessed: true,
      paymentId: built.paymentId,
      signature: hash,
    })
  })

  test('whose place another one took is over', async () => {
    const all = await openParties(evm)
    const { proof } = await signed(all)
    const built = await fixture.build(all.payee, proof, ask)
    await sendFrom(evm, all.payer, { to: all.payer.address, gas: 21_000n })
    await evm.mine(10)
    await fixture.followed(built.paymentId, 'expired')
    expect(await refusal(fixture.build(all.payee, proof, ask))).toEqual(
      refused('simulation_failed', 'simulation'),
    )
  })
})

describe('ether that the payer has sent', () => {
  const ask = { expectedAmount: '0.01', asset: 'ETH' }

  test('is received, and its payee may write that on the chain', async () => {
    const all = await openParties(evm)
    const txRef = await sendFrom(evm, all.payer, {
      to: all.payee.address,
      value: parseEther('0.01'),
      gas: 21_000n,
    })
    await evm.mine(2)
    const proof = await proveTxid({
      payer: all.payer,
      payTo: all.payee.address,
      txRef,
      network: evm.network.network,
      amount: parseEther('0.01'),
    })
    const built = await fixture.build(all.payee, proof, ask)
    expect(built).toMatchObject({
      verified: true,
      alreadyProcessed: false,
      settlement: 'already_settled',
      kind: 'receipt',
      signer: all.payee.address,
      signature: txRef,
      status: 'confirmed',
    })
    expect(await fixture.receive(all.payee, proof, ask)).toMatchObject({
      verified: true,
      alreadyProcessed: true,
      paymentId: built.paymentId,
    })
    const hash = await settleBuilt(evm, all.payee, built.transaction)
    const note = await evm.client.getTransaction({ hash })
    const digest = keccak256(stringToBytes(`x402-receipt:${built.paymentId}`))
    expect([note.to, note.value, note.input]).toEqual([all.payer.address.toLowerCase(), 0n, digest])
    expect((await evm.client.getTransactionReceipt({ hash })).status).toBe('success')
  })

  test('and is not confirmed yet is undecided, and nothing is used up', async () => {
    const all = await openParties(evm)
    const proof = await proveTxid({
      payer: all.payer,
      payTo: all.payee.address,
      txRef: `0x${'ab'.repeat(32)}`,
      network: evm.network.network,
      amount: parseEther('0.01'),
    })
    expect(await refusal(fixture.build(all.payee, proof, ask))).toEqual({
      code: 'PAYMENT_VERIFICATION_FAILED',
    })
  })
})
