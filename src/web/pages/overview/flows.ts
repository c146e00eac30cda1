import type { AssetFlows, AssetSummary } from '#contract/payment-endpoints.ts'

/** What the wallets have more of one asset at the end of a period; negative for less. */
export function netOf(flows: AssetFlows): bigint {
  return (
    BigInt(flows.receivedAtomic) +
    BigInt(flows.refundsReceivedAtomic) -
    BigInt(flows.sentAtomic) -
    BigInt(flows.refundedAtomic) -
    BigInt(flows.feesAtomic)
  )
}

/** By which share a figure changed: 0.5 for half more. Undefined where nothing was before: no share of nothing says anything. */
export function changeOf(now: bigint, before: bigint): number | undefined {
  if (before === 0n) return undefined
  const size = before < 0n ? -before : before
  return Number(((now - before) * 10_000n) / size) / 10_000
}

/** What is used most comes first; an asset that somebody only tried does not stand before it. */
export function byUse(assets: readonly AssetSummary[]): AssetSummary[] {
  return assets.toSorted((a, b) => usesOf(b) - usesOf(a))
}

function usesOf({ receivedCount, sentCount, refundedCount }: AssetSummary): number {
  return receivedCount + sentCount + refundedCount
}

/** How the page's address names an asset of a network: by its symbol, where no other one there has it. */
export function assetNameIn(assets: readonly AssetSummary[], asset: AssetSummary): string {
  const same = assets.filter(
    ({ network, symbol }) => network === asset.network && symbol === asset.symbol,
  )
  return same.length === 1 ? asset.symbol : asset.asset
}

/** The asset that an address names; the first one where it names none of them. */
export function findChosen(
  assets: readonly AssetSummary[],
  { network, asset }: { network?: string | undefined; asset?: string | undefined },
): AssetSummary | undefined {
  return (
    assets.find(
      (each) => each.network === network && (assetNameIn(assets, each) === asset || !asset),
    ) ?? assets[0]
  )
}
