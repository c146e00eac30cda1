import bs58 from 'bs58'
import { familyOf, type NetworkId } from '#contract/network.ts'

const EVM_HASH = /^0x[0-9a-fA-F]{64}$/
const SIGNATURE_BYTES = 64

/** The normal form of what names a transaction on a network: its hash (EVM) or its first signature (Solana). Undefined for any other text. */
export function readTransactionName(network: NetworkId, text: string): string | undefined {
  if (familyOf(network) === 'evm') return EVM_HASH.test(text) ? text.toLowerCase() : undefined
  return bs58.decodeUnsafe(text)?.length === SIGNATURE_BYTES ? text : undefined
}
