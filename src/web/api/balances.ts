import { queryOptions } from '@tanstack/react-query'
import type { BalanceAlert, BalanceWallets } from '#contract/hosted-endpoints.ts'
import { callProxy } from './client.ts'
import { queryClient } from './query-client.ts'

/** The wallets of the account, for its people. */
export const balanceWalletsQuery = queryOptions({
  queryKey: ['balanceWallets'],
  queryFn: ({ signal }) => callProxy('balanceWallets', {}, { signal }),
  staleTime: 15_000,
})

/** The thresholds alone, which the overview reads. */
export const balanceAlertsQuery = queryOptions({
  queryKey: ['balanceAlerts'],
  queryFn: async ({ signal }) => (await callProxy('balanceAlerts', {}, { signal })).alerts,
  staleTime: 60_000,
})

/** Puts a changed threshold where the page shows it; the overview reads it again. */
export function cacheAlert(
  at: Pick<BalanceAlert, 'wallet' | 'network'>,
  alert: BalanceAlert | null,
): void {
  queryClient.setQueryData(balanceWalletsQuery.queryKey, (data): BalanceWallets | undefined => {
    if (!data) return data
    const others = data.alerts.filter(
      ({ wallet, network }) => wallet !== at.wallet || network !== at.network,
    )
    return { ...data, alerts: alert ? [...others, alert] : others }
  })
  void queryClient.invalidateQueries(balanceAlertsQuery)
}
