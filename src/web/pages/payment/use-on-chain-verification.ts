import { useQuery } from '@tanstack/react-query'
import type { Network } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { usePreferences } from '../../local-data/preferences.ts'
import { rpcUrlOf } from '../../rpc/call.ts'
import { verifyOnChain } from './on-chain-verification.ts'

const SOON_MS = 4_000
/** A node behind many may answer from one that is late. */
const LATER_MS = 20_000

/** What the reader's own node says of a payment; asked once, for the card and for the receipt. */
export function useOnChainVerification(payment: PaymentStatusBody, network: Network) {
  usePreferences()
  const query = useQuery({
    queryKey: [
      'truth',
      payment.paymentId,
      payment.signature,
      payment.status,
      payment.blockHeight,
      rpcUrlOf(network),
    ],
    queryFn: () => verifyOnChain(payment, network),
    staleTime: 60_000,
    refetchInterval: ({ state: { data } }) =>
      data?.kind === 'nothing' ? data.soon && SOON_MS : data?.kind === 'contradicted' && LATER_MS,
  })
  return { ...query, url: query.data?.url || rpcUrlOf(network) }
}
