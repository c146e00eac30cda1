import { decodeTransaction } from '#chains/solana/decode.ts'

type Signer = { address: string; sign: (message: Uint8Array) => Uint8Array }

const SIGNATURE_BYTES = 64

/**
 * The transaction with this signer's signature in its place. Signatures stand first, after their count in one byte.
 * @throws Error when the transaction cannot be read or does not ask for this signer
 */
export function writeSignature(transaction: Uint8Array, { address, sign }: Signer): Uint8Array {
  const decoded = decodeTransaction(transaction)
  if (!decoded.ok) throw new Error(`This wallet cannot read the transaction: ${decoded.problem}`)
  const place = decoded.signers.indexOf(address)
  if (place < 0) throw new Error('The transaction does not ask for a signature of this account.')
  const signed = Uint8Array.from(transaction)
  signed.set(sign(decoded.message), 1 + place * SIGNATURE_BYTES)
  return signed
}
