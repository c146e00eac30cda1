import * as v from 'valibot'
import { hexToBytes, serializeTransaction, type Hex } from 'viem'
import { decodeTransaction as decodeEvm } from '#chains/evm/decode.ts'
import { decodeTransaction as decodeSolana } from '#chains/solana/decode.ts'
import type { Receipt } from '#contract/receipt.ts'

/**
 * Rebuilds the bytes of a landed transaction from a node's response. Anything that does not decode
 * to the very same transaction is left out.
 */

const hex = v.pipe(
  v.string(),
  v.regex(/^0x[0-9a-f]*$/i),
  v.transform((text): Hex => `0x${text.slice(2)}`),
)
const quantity = v.pipe(
  hex,
  v.transform((text) => BigInt(text)),
)

/** Only what the decoder reads: EIP-1559 without an access list. */
const EvmTransaction = v.object({
  type: v.literal('0x2'),
  chainId: quantity,
  nonce: quantity,
  gas: quantity,
  maxFeePerGas: quantity,
  maxPriorityFeePerGas: quantity,
  to: hex,
  value: quantity,
  input: hex,
  r: quantity,
  s: quantity,
  yParity: v.optional(quantity),
  v: v.optional(quantity),
})

export function readSignedEvm(answer: unknown, hash: string): Receipt['signed'] {
  const parsed = v.safeParse(EvmTransaction, answer)
  if (!parsed.success) return null
  const { chainId, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, to, value, input, r, s } =
    parsed.output
  const transaction = {
    chainId: Number(chainId),
    nonce: Number(nonce),
    gas,
    maxFeePerGas,
    maxPriorityFeePerGas,
    to,
    value,
    data: input,
  }
  const yParity = Number(parsed.output.yParity ?? parsed.output.v ?? 0n)
  const bytes = hexToBytes(
    serializeTransaction({ type: 'eip1559', ...transaction }, { r: word(r), s: word(s), yParity }),
  )
  const decoded = decodeEvm(bytes)
  return decoded.ok && decoded.hash === hash.toLowerCase()
    ? { encoding: 'evm-rlp-signed', bytes: toBase64(bytes) }
    : null
}

const SolanaTransaction = v.object({ transaction: v.tuple([v.string(), v.literal('base64')]) })

export function readSignedSolana(answer: unknown, signature: string): Receipt['signed'] {
  const parsed = v.safeParse(SolanaTransaction, answer)
  if (!parsed.success) return null
  const [text] = parsed.output.transaction
  const decoded = decodeSolana(Uint8Array.from(atob(text), (char) => char.charCodeAt(0)))
  return decoded.ok && decoded.signature === signature
    ? { encoding: 'solana-wire-v0', bytes: text }
    : null
}

function word(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}
