import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, hexToBytes, serializeTransaction, type Hex } from 'viem'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { decodeTransaction as decodeSolana } from '#chains/solana/decode.ts'
import { verifySignature } from '#chains/solana/signature.ts'
import { readTransaction, writeMessage, writeTransaction } from '#chains/solana/wire.ts'
import type { Signed } from './sign.ts'

export type SignableCall = {
  chainId: number
  nonce: number
  gas: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
  to: Hex
  data: Hex
}

/**
 * Signs a contract's call that moves no money of the signer.
 * @throws Error when what was signed is not the call, or another account signed it: a defect, and nothing was sent
 */
export function signCall(
  call: SignableCall,
  { secret, address }: { secret: Uint8Array; address: string },
): Signed {
  const fields = { ...call, value: 0n, type: 'eip1559' } as const
  const digest = keccak_256(hexToBytes(serializeTransaction(fields)))
  // Recovery bit, r, s; s is the low one.
  const signature = secp256k1.sign(digest, secret, { prehash: false, format: 'recovered' })
  const [r, s] = [bytesToHex(signature.subarray(1, 33)), bytesToHex(signature.subarray(33))]
  const bytes = hexToBytes(serializeTransaction(fields, { r, s, yParity: signature[0] ?? 0 }))
  const facts = decodeTransaction(bytes)
  const same =
    facts.ok &&
    facts.sender === address &&
    facts.valueAtomic === 0n &&
    facts.to.toLowerCase() === call.to.toLowerCase() &&
    facts.data === call.data.toLowerCase()
  if (!same)
    throw new Error(`The transaction that ${address} signed is not the call it was asked for.`)
  return { bytes, signature: bytesToHex(keccak_256(bytes)) }
}

/**
 * Adds the signature of a sponsor to a transaction that others have signed.
 * @throws Error when the sponsor is not its fee payer, or a signature is missing then: a defect, and nothing was sent
 */
export function coSign(
  transaction: Uint8Array,
  { secret, address }: { secret: Uint8Array; address: string },
): Signed {
  const { signatures, message } = readTransaction(transaction)
  const [, ...others] = signatures
  const bytes = writeTransaction({
    signatures: [ed25519.sign(writeMessage(message), secret), ...others],
    message,
  })
  const facts = decodeSolana(bytes)
  const whole =
    facts.ok &&
    facts.feePayer === address &&
    facts.signers.every((signer, index) => isBy(facts, signer, index))
  if (!whole || facts.signature === null)
    throw new Error(`The transaction is not complete with the signature of ${address}.`)
  return { bytes, signature: facts.signature }
}

function isBy(
  { signatures, message }: { signatures: readonly Uint8Array[]; message: Uint8Array },
  signer: string,
  index: number,
): boolean {
  return verifySignature(signatures[index] ?? new Uint8Array(64), message, signer)
}
