import { useQuery } from '@tanstack/react-query'
import type { Network } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { usePreferences } from '../../preferences.ts'
import { rpcUrlOf } from '../../rpc/call.ts'
import { readTruth } from './truth.ts'

/** What the reader's own node says of a payment; asked once, for the card and for the receipt. */
export function useTruth(payment: PaymentStatusBody, network: Network) {
  usePreferences()
  const url = rpcUrlOf(network)
  // What ended without landing will not land later either.
  const awaited = payment.status === 'created' || payment.status === 'pending'
  const query = useQuery({
    queryKey: ['truth', payment.paymentId, payment.signature, payment.status, payment.blockHeight, url],
    queryFn: () => readTruth(payment, network, url),
    staleTime: 60_000,
    refetchInterval: ({ state }) => (state.data?.kind === 'nothing' && payment.signature && awaited ? 4_000 : false),
  })
  return { ...query, url }
}
