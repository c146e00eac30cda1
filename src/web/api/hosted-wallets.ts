import { queryOptions } from '@tanstack/react-query'
import { callProxy } from './client.ts'

/** The managed wallets that an operator may pay from here; none where that is off. */
export const hostedWalletsQuery = queryOptions({
  queryKey: ['hostedWallets'],
  queryFn: async ({ signal }) => (await callProxy('hostedWallets', {}, { signal })).wallets,
  staleTime: 5_000,
})
