import bs58 from 'bs58'
import { decodeTransaction } from '#chains/solana/decode.ts'
import { firstDifference, intentOf } from '../state/intent.ts'
import type { TransactionReader } from '../../payment-intent/ports.ts'
import { readingOf } from './operations.ts'

/** Reads Solana transactions from their bytes. */
export const solanaReader: TransactionReader = {
  match: (order, attempt, bytes) => {
    const { chainKnown } = attempt
    return readingOf(order).match(
      intentOf(order, attempt),
      bytes,
      chainKnown === null ? {} : { blockhashKnown: chainKnown },
    )
  },
  describe: (order, _attempt, bytes) => {
    const decoded = decodeTransaction(bytes, [order.asset])
    return decoded.ok ? decoded.steps : []
  },
  nonce: () => null,
  compareSigned: (order, built, signed) => {
    const match = readingOf(order).signed(intentOf(order, built), built.bytes, signed)
    const decoded = decodeTransaction(signed)
    if (!match.ok || match.digest !== built.digest || !decoded.ok)
      return { ok: false, difference: firstDifference(match.rows) }
    // What a sponsor has yet to sign has no name on the chain; until then it goes by the payer's signature.
    const own = decoded.signatures[decoded.signers.indexOf(order.sender)]
    const signature = order.feePayer === undefined ? decoded.signature : own && bs58.encode(own)
    return signature
      ? { ok: true, signature }
      : { ok: false, difference: firstDifference(match.rows) }
  },
}
