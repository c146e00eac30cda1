import { nativeAsset, type Asset, type Network } from '#contract/network.ts'
import type { ReasonAmount } from '#contract/reasons.ts'
import type { BuiltTransaction } from './chain.ts'

export type Shortage = Extract<BuiltTransaction, { code: 'INSUFFICIENT_BALANCE' }>

/** Of the native currency, atomic units. `amountAtomic` is 0 where something else is paid; `rentAtomic` must stay in the wallet. */
export type NativeNeed = {
  amountAtomic: bigint
  feeAtomic: bigint
  rentAtomic?: bigint
  availableAtomic: bigint
}

/** The wallet does not hold what amount, fee and rent need together. */
export function nativeShortage(
  network: Network,
  { amountAtomic, feeAtomic, rentAtomic = 0n, availableAtomic }: NativeNeed,
): Shortage {
  const of = (atomic: bigint) => amountOf(nativeAsset(network), atomic)
  const params = {
    required: of(amountAtomic + feeAtomic + rentAtomic),
    available: of(availableAtomic),
    fee: of(feeAtomic),
  }
  const withRent = { ...params, rent: of(rentAtomic) }
  const reason =
    amountAtomic > 0n
      ? rentAtomic > 0n
        ? ({ code: 'amount_fee_and_rent', params: withRent } as const)
        : ({ code: 'amount_and_fee', params } as const)
      : rentAtomic > 0n
        ? ({ code: 'network_fee_and_rent', params: withRent } as const)
        : ({ code: 'network_fee', params } as const)
  return { ok: false, code: 'INSUFFICIENT_BALANCE', reason }
}

/** The wallet does not hold the amount of a token. */
export function tokenShortage(
  asset: Asset,
  { amountAtomic, availableAtomic }: { amountAtomic: bigint; availableAtomic: bigint },
): Shortage {
  const params = {
    required: amountOf(asset, amountAtomic),
    available: amountOf(asset, availableAtomic),
  }
  return { ok: false, code: 'INSUFFICIENT_BALANCE', reason: { code: 'token_amount', params } }
}

export function amountOf({ address, symbol, decimals }: Asset, amountAtomic: bigint): ReasonAmount {
  return { amountAtomic, asset: address, symbol, decimals }
}
