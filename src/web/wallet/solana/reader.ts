import { compareSigned } from '#chains/solana/compare.ts'
import { decodeTransaction } from '#chains/solana/decode.ts'
import { matchTransaction } from '#chains/solana/match.ts'
import type { TransactionReader } from '../../payment/ports.ts'
import { firstDifference, intentOf } from '../intent.ts'

/** Reads Solana transactions from their bytes. */
export const solanaReader: TransactionReader = {
  match: (order, attempt, bytes) => {
    const { chainKnown } = attempt
    return matchTransaction(intentOf(order, attempt), bytes, chainKnown === null ? {} : { blockhashKnown: chainKnown })
  },
  describe: (order, bytes) => {
    const decoded = decodeTransaction(bytes, [order.asset])
    return decoded.ok ? decoded.steps : []
  },
  nonce: () => null,
  compareSigned: (order, built, signed) => {
    const match = compareSigned(intentOf(order, built), built.bytes, signed)
    const decoded = decodeTransaction(signed)
    if (!match.ok || match.digest !== built.digest || !decoded.ok || !decoded.signature) return { ok: false, difference: firstDifference(match.rows) }
    return { ok: true, signature: decoded.signature }
  },
}
