import { compareSigned } from '#chains/evm/compare.ts'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { nativeAsset, type Asset, type Network } from '#contract/network.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import type { TransactionReader } from '../../payment-intent/ports.ts'
import { firstDifference, intentOf } from '../state/intent.ts'
import { readingOf } from './operations.ts'

/** Reads EVM transactions from their bytes. */
export function evmReader(networks: readonly Network[]): TransactionReader {
  const currencyOf = (order: WalletPaymentIntent): Asset | undefined => {
    const network = networks.find((each) => each.network === order.network)
    return network && nativeAsset(network)
  }
  return {
    match: (order, attempt, bytes) =>
      readingOf(order).match(intentOf(order, attempt, currencyOf(order)), bytes),
    describe: (order, attempt, bytes) =>
      readingOf(order).describe(intentOf(order, attempt, currencyOf(order)), bytes),
    nonce: (_order, bytes) => {
      const decoded = decodeTransaction(bytes)
      return decoded.ok ? decoded.nonce : null
    },
    compareSigned: (order, built, signed) => {
      const match = compareSigned(intentOf(order, built, currencyOf(order)), built.bytes, signed)
      const decoded = decodeTransaction(signed)
      if (!match.ok || match.digest !== built.digest || !decoded.ok || !decoded.hash)
        return { ok: false, difference: firstDifference(match.rows) }
      return { ok: true, signature: decoded.hash }
    },
  }
}
