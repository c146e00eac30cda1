import { ed25519 } from '@noble/curves/ed25519.js'
import {
  AccountRole,
  address,
  blockhash,
  compileTransactionMessage,
  getCompiledTransactionMessageEncoder,
} from '@solana/kit'
import { Keypair, type TransactionInstruction } from '@solana/web3.js'
import { privateKeyToAccount } from 'viem/accounts'
import { buildPayment as buildEvm } from '#chains/evm/build.ts'
import { buildPayment as buildSolana } from '#chains/solana/build.ts'
import type { PaymentIntent } from '#chains/match.ts'
import { NATIVE_ETH, NATIVE_SOL, SOLANA_DEVNET } from '#contract/network.ts'

/** One valid payment on each chain, with the keys to sign it: what tests start from. */

export const evmPayer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
export const evmStranger = privateKeyToAccount(`0x${'22'.repeat(32)}`)
export const evmIntent: PaymentIntent = {
  paymentId: `pay_${'2'.repeat(22)}`,
  network: 'eip155:31337',
  asset: NATIVE_ETH,
  sender: evmPayer.address,
  recipient: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  amountAtomic: 10_000_000_000_000_000n,
  maxFeeAtomic: 1_000_000_000_000_000n,
}
export const evmFacts = {
  nonce: 7,
  gas: 21_000n,
  maxFeePerGas: 3_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
}
export const evmReviewed = buildEvm({ ...evmIntent, ...evmFacts })

export const solanaPayer = Keypair.fromSeed(new Uint8Array(32).fill(0x11))
export const solanaStranger = Keypair.fromSeed(new Uint8Array(32).fill(0x22))
export const solanaIntent: PaymentIntent = {
  paymentId: `pay_${'3'.repeat(22)}`,
  network: SOLANA_DEVNET,
  asset: NATIVE_SOL,
  sender: solanaPayer.publicKey.toBase58(),
  recipient: Keypair.fromSeed(new Uint8Array(32).fill(0x33)).publicKey.toBase58(),
  amountAtomic: 100_000_000n,
  maxFeeAtomic: 500_000n,
}
export const solanaFacts = {
  blockhash: Keypair.fromSeed(new Uint8Array(32).fill(0x44)).publicKey.toBase58(),
  unitLimit: 30_000,
  unitPriceMicroLamports: 50_000n,
}
export const solanaReviewed = buildSolana({ ...solanaIntent, ...solanaFacts })

/** The fields of the rows that do not hold. */
export function failing(match: {
  ok: boolean
  rows: readonly { field: string; ok: boolean }[]
}): string[] {
  return match.rows.filter((row) => !row.ok).map((row) => row.field)
}

/**
 * A signed transaction of version 1 as the official library writes it, which a wallet may send. Its limits are in its head and not among its instructions.
 */
export function signVersion1(
  payer: Keypair,
  {
    recentBlockhash,
    instructions,
    config = { computeUnitLimit: 60_000, loadedAccountsDataSizeLimit: 1_000_000 },
  }: {
    recentBlockhash: string
    instructions: readonly TransactionInstruction[]
    config?: {
      computeUnitLimit?: number
      heapSize?: number
      loadedAccountsDataSizeLimit?: number
      priorityFeeLamports?: bigint
    }
  },
): Uint8Array {
  const compiled = compileTransactionMessage({
    version: 1,
    config,
    feePayer: { address: address(payer.publicKey.toBase58()) },
    lifetimeConstraint: { blockhash: blockhash(recentBlockhash), lastValidBlockHeight: 0n },
    instructions: instructions.map(({ programId, keys, data }) => ({
      programAddress: address(programId.toBase58()),
      accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({
        address: address(pubkey.toBase58()),
        role: isSigner
          ? isWritable
            ? AccountRole.WRITABLE_SIGNER
            : AccountRole.READONLY_SIGNER
          : isWritable
            ? AccountRole.WRITABLE
            : AccountRole.READONLY,
      })),
      data: Uint8Array.from(data),
    })),
  })
  const message = Uint8Array.from(getCompiledTransactionMessageEncoder().encode(compiled))
  return Uint8Array.from([...message, ...ed25519.sign(message, payer.secretKey.slice(0, 32))])
}
