import { nativeAsset, type Network } from '#contract/network.ts'
import type { BalanceAlert } from '#contract/hosted-endpoints.ts'
import { queryClient } from '../../api/query-client.ts'
import { FRESH_MS, readBalances } from '../../rpc/read-balances.ts'

type NamedAlert = BalanceAlert & { name: string }

/** A managed wallet that holds less of the native currency than its threshold. */
export type LowBalance = {
  network: Network
  wallet: string
  name: string
  balanceAtomic: bigint
  thresholdAtomic: bigint
}

/**
 * One call for each network with an alert. A network whose endpoints do not answer adds no row: an
 * unknown balance is not a low one, and the page of balances shows the error.
 */
export async function readLow(
  networks: readonly Network[],
  alerts: readonly NamedAlert[],
): Promise<LowBalance[]> {
  const read = await Promise.allSettled(
    networks.map(async (network) => {
      const own = alerts.filter((alert) => alert.network === network.network)
      if (own.length === 0) return []
      const wallets = own.map(({ wallet }) => wallet).toSorted()
      const { balances } = await queryClient.fetchQuery({
        queryKey: ['lowBalances', network.network, wallets],
        queryFn: () => readBalances(network, wallets, [nativeAsset(network)]),
        staleTime: FRESH_MS,
        // The endpoints have been asked one after the other already.
        retry: false,
      })
      return own.flatMap(({ wallet, name, thresholdAtomic }) => {
        const atomic = balances.find((each) => each.wallet === wallet)?.atomic
        const threshold = BigInt(thresholdAtomic)
        if (atomic === undefined || atomic >= threshold) return []
        return [{ network, wallet, name, balanceAtomic: atomic, thresholdAtomic: threshold }]
      })
    }),
  )
  return read.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
}
