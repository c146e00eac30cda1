import { compareSigned } from '#chains/evm/compare.ts'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { matchTransaction } from '#chains/evm/match.ts'
import type { TransactionReader } from '../../payment/ports.ts'
import { firstDifference, intentOf } from '../intent.ts'

/** Reads EVM transactions from their bytes. */
export const evmReader: TransactionReader = {
  match: (order, { paymentId, maxFeeAtomic }, bytes) => matchTransaction(intentOf(order, paymentId, maxFeeAtomic), bytes),
  describe: (order, bytes) => {
    const decoded = decodeTransaction(bytes, order.asset)
    return decoded.ok ? decoded.steps : []
  },
  nonce: (_order, bytes) => {
    const decoded = decodeTransaction(bytes)
    return decoded.ok ? decoded.nonce : null
  },
  compareSigned: (order, built, signed) => {
    const match = compareSigned(intentOf(order, built.paymentId, built.maxFeeAtomic), built.bytes, signed)
    const decoded = decodeTransaction(signed)
    if (!match.ok || match.digest !== built.digest || !decoded.ok || !decoded.hash) return { ok: false, difference: firstDifference(match.rows) }
    return { ok: true, signature: decoded.hash }
  },
}
