import { t } from '@lingui/core/macro'
import { queryOptions } from '@tanstack/react-query'
import * as v from 'valibot'
import { priorityFeeOfPrice as ofPriceOnEvm } from '#chains/evm/fee.ts'
import { priorityFeeOfPrice as ofPriceOnSolana } from '#chains/solana/fee.ts'
import { familyOf, type Asset, type Network } from '#contract/network.ts'
import { callNetwork } from '../../rpc/call.ts'

/** Priority fees in all, in atomic units of the native currency. */
export type FeeLevels = { low: bigint; high: bigint }

/** What a transfer uses, about: the service spreads the total over what the transaction really asks for. */
const GAS = { native: 21_000n, token: 65_000n }
const UNITS = { native: 20_000n, token: 60_000n }
/** On an idle chain nobody offers anything: then low is next to nothing, and high still is more than others give. Wei a unit of gas; lamports in all. */
const FLOOR_WEI = { low: 10_000_000n, high: 1_500_000_000n }
const FLOOR_LAMPORTS = { low: 1_000n, high: 50_000n }
const BLOCKS = 20

const History = v.object({ reward: v.array(v.tuple([v.string(), v.string()])) })
const Recent = v.array(v.object({ prioritizationFee: v.number() }))

/** What others gave for a quick place in recent blocks, by the user's own RPC. */
export function feeLevelsQuery(network: Network, asset: Asset) {
  return queryOptions({
    queryKey: ['feeLevels', network.network, asset.native],
    queryFn: () =>
      familyOf(network.network) === 'evm'
        ? evmLevels(network, asset)
        : solanaLevels(network, asset),
    staleTime: 30_000,
    retry: 1,
  })
}

/** Where the levels cannot be read. */
export function feesUnavailable(): string {
  return t`Recent fees are unavailable. Choose Auto or Custom.`
}

async function evmLevels(network: Network, asset: Asset): Promise<FeeLevels> {
  const answer = v.parse(
    History,
    await callNetwork(network, 'eth_feeHistory', [`0x${BLOCKS.toString(16)}`, 'latest', [10, 90]]),
  )
  const low = median(answer.reward.map(([tenth]) => BigInt(tenth)))
  const high = median(answer.reward.map(([, ninetieth]) => BigInt(ninetieth)))
  return ordered(atLeast(low, FLOOR_WEI.low), atLeast(high, FLOOR_WEI.high), (price) =>
    ofPriceOnEvm(price, asset.native ? GAS.native : GAS.token),
  )
}

async function solanaLevels(network: Network, asset: Asset): Promise<FeeLevels> {
  const fees = v
    .parse(Recent, await callNetwork(network, 'getRecentPrioritizationFees', [[]]))
    .map(({ prioritizationFee }) => BigInt(prioritizationFee))
  const units = asset.native ? UNITS.native : UNITS.token
  const [low, high] = [
    ofPriceOnSolana(quantile(fees, 0.25), units),
    ofPriceOnSolana(quantile(fees, 0.9), units),
  ]
  return ordered(
    atLeast(low, FLOOR_LAMPORTS.low),
    atLeast(high, FLOOR_LAMPORTS.high),
    (total) => total,
  )
}

/** High is never below low, and worth choosing. */
function ordered(low: bigint, high: bigint, total: (price: bigint) => bigint): FeeLevels {
  return { low: total(low), high: total(atLeast(high, low * 2n)) }
}

function median(values: readonly bigint[]): bigint {
  return quantile(values, 0.5)
}

function quantile(values: readonly bigint[], share: number): bigint {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0n
}

function atLeast(value: bigint, least: bigint): bigint {
  return value < least ? least : value
}
