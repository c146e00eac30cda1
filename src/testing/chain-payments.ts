import { Keypair } from '@solana/web3.js'
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
