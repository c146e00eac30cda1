import { useQuery } from '@tanstack/react-query'
import { familyOf } from '#contract/network.ts'
import type { PaymentStatusBody } from '#contract/payment-body.ts'
import { isPaid } from '#contract/payment.ts'
import { paymentQuery } from '../../api/queries.ts'
import { useSession } from '../../api/session.ts'
import { findGap, type OpenEvidence } from '../../payment-intent/evidence.ts'
import type { OutgoingState } from '../../payment-flow/machine.ts'
import { useNetwork } from '../../api/use-config.ts'
import { loadWalletAdapter } from '../../wallet/load-adapter.ts'

const EVERY_MS = 2_000

/** Whether something is missing to tie a payment to its order. `unknown`: not read yet; `error` is why the service or the session could not be read. */
export type EvidenceAnswer =
  | { kind: 'unknown'; error: Error | null; retry: () => void }
  | { kind: 'none' }
  | { kind: 'gap'; evidence: OpenEvidence }

const NONE: EvidenceAnswer = { kind: 'none' }

/**
 * What is missing to tie a payment that left the wallet to its order. The transaction is read back from the payer's own RPC: a wallet may have replaced the
 * fees, and a payer may have sped the payment up since.
 */
export function useOpenEvidence(state: OutgoingState): EvidenceAnswer {
  const { order, built, sent, step } = state
  const { signature } = sent
  const network = useNetwork(order.network)
  const session = useSession()
  const concerned =
    network !== undefined &&
    familyOf(network.network) === 'evm' &&
    !order.operation &&
    signature !== null &&
    step !== 'failed'
  const { data: read } = useQuery({
    queryKey: ['broadcast', order.network, signature, built.paymentId],
    queryFn: async () =>
      network && signature
        ? (await loadWalletAdapter('evm')).readBroadcast(network, { signature, bytes: built.bytes })
        : null,
    enabled: concerned,
    staleTime: Infinity,
    refetchInterval: ({ state: { data } }) => (data ? false : EVERY_MS),
  })
  const {
    data: payment,
    error,
    refetch,
  } = useQuery({
    ...paymentQuery(built.paymentId),
    enabled: concerned,
    refetchInterval: ({ state: { data } }) => (data && isTied(data) ? false : EVERY_MS),
  })
  if (!concerned) return NONE
  const retry = () => void refetch()
  if (!payment) return { kind: 'unknown', error, retry }
  // What read the code chose its own fees: the service named its transaction by other evidence.
  const isNamed = order.byCode && payment.attribution.evidence !== null
  if (isNamed || isTied(payment)) return NONE
  if (session.kind === 'failed')
    return { kind: 'unknown', error: session.error, retry: session.retry }
  if (session.kind === 'loading') return { kind: 'unknown', error: null, retry }
  const { missing } = payment.attribution
  const request = payment.attribution.request ?? built.evidenceRequest ?? null
  // The proxy says so itself for a session that has proven the sender.
  if (request === null || session.session?.wallets.includes(order.sender)) return NONE
  if (!read) return { kind: 'unknown', error: null, retry }
  const gap =
    findGap({ fees: read.fees, fingerprint: built.fingerprint ?? false }, read.sent) ??
    (missing.length > 0 ? 'unrecognised' : null)
  if (gap === null) return NONE
  const { sender, recipient, amountAtomic } = order
  const intent = {
    paymentId: built.paymentId,
    network: order.network,
    sender,
    nonce: read.sent.nonce,
    recipient,
    asset: order.asset.address,
    amountAtomic,
  }
  return { kind: 'gap', evidence: { gap, transaction: signature, intent, request } }
}

/** A transaction that waits may have tied itself to the order by its fees, and be replaced by one that does not: only what was confirmed is decided. */
function isTied({ attribution, status }: PaymentStatusBody): boolean {
  return attribution.evidence !== null && isPaid(status)
}
