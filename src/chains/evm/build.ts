import { getAddress, hexToBytes, serializeTransaction, type Hex } from 'viem'
import { EVM_NATIVE } from '#contract/address.ts'
import { chainIdOf, familyOf } from '#contract/network.ts'
import type { PaymentIntent } from '../match.ts'
import { encodeTransfer } from './erc20.ts'

/** What the chain says at the moment of building. Fees in wei per gas. */
export type EvmBuildInput = Omit<PaymentIntent, 'maxFeeAtomic'> & {
  nonce: number
  gas: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/**
 * The unsigned EIP-1559 transaction of a payment: `0x02` and RLP, no access list. Native currency goes as value with empty data; a token
 * as `transfer(recipient, amount)` on its contract, without value.
 * @throws RangeError when the intent is not one this chain can carry; callers check intents before
 */
export function buildPayment(input: EvmBuildInput): Uint8Array {
  if (familyOf(input.network) !== 'evm')
    throw new RangeError(`${input.network} is not an EVM network.`)
  if (input.asset.native !== (input.asset.address === EVM_NATIVE))
    throw new RangeError(`${input.asset.symbol} is told as native currency and as a token.`)
  if (!input.asset.native && input.asset.address === input.recipient)
    throw new RangeError('A token is not paid to its own contract.')
  if (input.amountAtomic <= 0n) throw new RangeError('A payment moves more than nothing.')
  return hexToBytes(
    serializeTransaction({
      type: 'eip1559',
      chainId: chainIdOf(input.network),
      nonce: input.nonce,
      gas: input.gas,
      maxFeePerGas: input.maxFeePerGas,
      maxPriorityFeePerGas: input.maxPriorityFeePerGas,
      ...targetOf(input),
    }),
  )
}

/** Where a payment's transaction goes, with how much of the native currency, and what it says there. */
export function targetOf({
  asset,
  recipient,
  amountAtomic,
}: Pick<PaymentIntent, 'asset' | 'recipient' | 'amountAtomic'>): {
  to: Hex
  value: bigint
  data?: Hex
} {
  if (asset.native) return { to: getAddress(recipient), value: amountAtomic }
  return {
    to: getAddress(asset.address),
    value: 0n,
    data: encodeTransfer({ recipient, amountAtomic }),
  }
}
