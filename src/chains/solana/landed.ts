import bs58 from 'bs58'
import { decodeTransaction, type SolanaFacts } from './decode.ts'

/** What a node says of a transaction, as web3.js reads `getTransaction`. */
export type ChainTransaction = {
  slot: number
  blockTime?: number | null | undefined
  meta: { err: unknown; fee: number } | null
  transaction: { message: { serialize(): Uint8Array }; signatures: readonly string[] }
}

export type LandedFacts = SolanaFacts & {
  signature: string
  succeeded: boolean
  /** The slot. */
  blockHeight: number
  /** What the cluster says it took, in lamports. */
  feeAtomic: bigint
}

export type Landed = ({ ok: true } & LandedFacts) | { ok: false; problem: string }

/** Reads what a node says of a landed transaction into the facts that the bytes of one give. */
export function decodeLanded({ slot, meta, transaction }: ChainTransaction): Landed {
  if (meta === null) return { ok: false, problem: 'The node does not say how the transaction ended.' }
  const signatures = transaction.signatures.map((signature) => bs58.decodeUnsafe(signature))
  if (signatures.length > 0x7f || signatures.some((signature) => signature?.length !== 64))
    return { ok: false, problem: 'The node named something that is not a signature.' }
  const bytes = Uint8Array.from([signatures.length, ...signatures.flatMap((signature) => [...(signature ?? [])]), ...transaction.message.serialize()])
  const decoded = decodeTransaction(bytes)
  if (!decoded.ok) return decoded
  if (decoded.signature === null) return { ok: false, problem: 'The transaction carries no signature.' }
  return { ...decoded, signature: decoded.signature, succeeded: meta.err === null, blockHeight: slot, feeAtomic: BigInt(meta.fee) }
}
