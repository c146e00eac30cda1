import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import bs58 from 'bs58'
import {
  bytesToHex,
  hashTypedData,
  hexToBytes,
  serializeTransaction,
  type Hex,
  type TypedDataDefinition,
} from 'viem'
import { checksumAddress, type Family } from '#contract/address.ts'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { readTransaction, writeMessage, writeTransaction } from '#chains/solana/wire.ts'

/** The mathematics of both chains: a secret of 32 bytes, its address, its signatures. What may be signed is decided elsewhere. */

/** The address a secret signs for. */
export function addressOf(family: Family, secret: Uint8Array): string {
  if (family === 'solana') return bs58.encode(ed25519.getPublicKey(secret))
  const point = secp256k1.getPublicKey(secret, false)
  return checksumAddress(`0x${bytesToHex(keccak_256(point.subarray(1))).slice(-40)}`)
}

export function createSecret(family: Family): Uint8Array {
  return family === 'evm' ? secp256k1.utils.randomSecretKey() : ed25519.utils.randomSecretKey()
}

/** An unsigned transaction of type 2 in its canonical form, with its signature. */
export function signEvm(unsigned: Uint8Array, secret: Uint8Array): Uint8Array {
  const decoded = decodeTransaction(unsigned)
  if (!decoded.ok) throw new Error(decoded.problem.code)
  const { chainId, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, valueAtomic, data } = decoded
  // Recovery bit, r, s; s is the low one.
  const signature = secp256k1.sign(keccak_256(unsigned), secret, {
    prehash: false,
    format: 'recovered',
  })
  const fields = {
    type: 'eip1559',
    chainId,
    nonce,
    gas,
    maxFeePerGas,
    maxPriorityFeePerGas,
    to: decoded.to as Hex,
    value: valueAtomic,
    data,
  } as const
  const [r, s] = [bytesToHex(signature.subarray(1, 33)), bytesToHex(signature.subarray(33))]
  return hexToBytes(serializeTransaction(fields, { r, s, yParity: signature[0] ?? 0 }))
}

/** Puts the signature of the fee payer, the first one, into a transaction. */
export function signSolana(transaction: Uint8Array, secret: Uint8Array): Uint8Array {
  const { signatures, message } = readTransaction(transaction)
  const [, ...others] = signatures
  return writeTransaction({
    signatures: [ed25519.sign(writeMessage(message), secret), ...others],
    message,
  })
}

/** r, s and the recovery byte; s is the low one. */
export function signTypedData(typedData: TypedDataDefinition, secret: Uint8Array): Hex {
  const signature = secp256k1.sign(hexToBytes(hashTypedData(typedData)), secret, {
    prehash: false,
    format: 'recovered',
  })
  return bytesToHex(Uint8Array.of(...signature.subarray(1), 27 + (signature[0] ?? 0)))
}
