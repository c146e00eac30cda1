import { getAddress, hexToBytes, serializeTransaction } from 'viem'
import { chainIdOf, familyOf } from '#contract/network.ts'
import type { PaymentIntent } from '../intent.ts'

/** What the chain says at the moment of building. Fees in wei per gas. */
export type BuildInput = Omit<PaymentIntent, 'maxFeeAtomic'> & {
  nonce: number
  gas: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/**
 * The unsigned EIP-1559 transaction of a payment in native currency: `0x02` and RLP, empty data, no access list.
 * @throws RangeError when the intent is not one this chain can carry; callers check intents before
 */
export function buildPayment(input: BuildInput): Uint8Array {
  if (familyOf(input.network) !== 'evm') throw new RangeError(`${input.network} is not an EVM network.`)
  if (!input.asset.native) throw new RangeError(`${input.asset.symbol} is a token; only the native currency is paid this way.`)
  if (input.amountAtomic <= 0n) throw new RangeError('A payment moves more than nothing.')
  return hexToBytes(
    serializeTransaction({
      type: 'eip1559',
      chainId: chainIdOf(input.network),
      nonce: input.nonce,
      gas: input.gas,
      maxFeePerGas: input.maxFeePerGas,
      maxPriorityFeePerGas: input.maxPriorityFeePerGas,
      to: getAddress(input.recipient),
      value: input.amountAtomic,
    }),
  )
}
