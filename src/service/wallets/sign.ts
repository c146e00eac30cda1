import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import bs58 from 'bs58'
import { bytesToHex, hexToBytes, serializeTransaction, type Hex } from 'viem'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { matchTransaction as matchEvm } from '#chains/evm/match.ts'
import type { PaymentIntent } from '#chains/intent.ts'
import { matchTransaction as matchSolana } from '#chains/solana/match.ts'
import { readTransaction, writeMessage, writeTransaction } from '#chains/solana/wire.ts'
import { familyOf } from '#contract/network.ts'
import { renderMatchFact } from '#contract/render-facts.ts'

/** `signature` names the transaction on its chain: its hash (EVM) or its first signature (Solana). */
export type Signed = { bytes: Uint8Array; signature: string }

/**
 * Signs an unsigned payment, on EVM for the nonce of its nonce queue, and hands it out only when the signed bytes are the intent and nothing else.
 * @throws Error when they are not: a defect, and nothing was sent
 */
export function signPayment(
  intent: PaymentIntent,
  secret: Uint8Array,
  order: { unsigned: Uint8Array; nonce: number | null },
): Signed {
  const evm = familyOf(intent.network) === 'evm'
  const signed = evm ? signEvm(secret, order) : signSolana(secret, order.unsigned)
  const match = evm ? matchEvm(intent, signed.bytes) : matchSolana(intent, signed.bytes)
  if (match.ok) return signed
  const rows = match.rows
    .filter(({ ok }) => !ok)
    .map(
      ({ field, expected, got }) =>
        `${field}: expected ${renderMatchFact(expected)}, got ${renderMatchFact(got)}`,
    )
  throw new Error(
    `The signed transaction is not the payment ${intent.paymentId}. ${rows.join('; ')}`,
  )
}

function signEvm(
  secret: Uint8Array,
  { unsigned, nonce }: { unsigned: Uint8Array; nonce: number | null },
): Signed {
  const decoded = decodeTransaction(unsigned)
  if (!decoded.ok) throw new Error(decoded.problem)
  const { chainId, gas, maxFeePerGas, maxPriorityFeePerGas, to, valueAtomic } = decoded
  const fields = {
    chainId,
    gas,
    maxFeePerGas,
    maxPriorityFeePerGas,
    to: to as Hex,
    value: valueAtomic,
    nonce: nonce ?? decoded.nonce,
    type: 'eip1559',
  } as const
  const digest = keccak_256(hexToBytes(serializeTransaction(fields)))
  // Recovery bit, r, s; s is the low one.
  const signature = secp256k1.sign(digest, secret, { prehash: false, format: 'recovered' })
  const [r, s] = [bytesToHex(signature.subarray(1, 33)), bytesToHex(signature.subarray(33))]
  const bytes = hexToBytes(serializeTransaction(fields, { r, s, yParity: signature[0] ?? 0 }))
  return { bytes, signature: bytesToHex(keccak_256(bytes)) }
}

function signSolana(secret: Uint8Array, unsigned: Uint8Array): Signed {
  const { message } = readTransaction(unsigned)
  const signature = ed25519.sign(writeMessage(message), secret)
  return {
    bytes: writeTransaction({ signatures: [signature], message }),
    signature: bs58.encode(signature),
  }
}
