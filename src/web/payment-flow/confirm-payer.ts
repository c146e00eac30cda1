import { t } from '@lingui/core/macro'
import type { PayerEvidenceRequest } from '#contract/payer-evidence.ts'
import type { Network } from '#contract/network.ts'
import { call } from '../api/client.ts'
import { requestWithRetry } from '../api/retry.ts'
import { signalOf } from '../wallet/state/errors.ts'
import { loadWalletAdapter } from '../wallet/load-adapter.ts'
import type { ConnectedAccount } from '../wallet/state/accounts.ts'
import { requestFromWallet } from './tab-runs.ts'

export type EvidenceResult =
  | { kind: 'signed'; signature: string }
  | { kind: 'rejected' }
  | { kind: 'not_signed'; why: string }

/** Has the payer's wallet sign that a payment is theirs. It moves nothing, and no way in which it can fail says anything about the payment. */
export async function signEvidence(
  network: Network,
  account: ConnectedAccount,
  data: PayerEvidenceRequest,
): Promise<EvidenceResult> {
  const { walletName } = account
  try {
    const { signTypedData } = await loadWalletAdapter('evm')
    const signature = await requestFromWallet({ family: 'evm', walletName }, () =>
      signTypedData(network, account, data),
    )
    if (signature !== null) return { kind: 'signed', signature }
    return {
      kind: 'not_signed',
      why: t`Answer ${walletName} in the other tab.`,
    }
  } catch (error) {
    const signal = signalOf(error)
    if (signal === 'rejected') return { kind: 'rejected' }
    if (signal === 'unsupported')
      return {
        kind: 'not_signed',
        why: t`${walletName} cannot sign this. Contact the shop.`,
      }
    return {
      kind: 'not_signed',
      why: t`Not signed. Your payment is not affected. Try again.`,
    }
  }
}

/** Tells the service. @throws ApiError */
export async function reportEvidence(evidence: {
  paymentId: string
  signature: string
  payerSignature: string
  payerNonce: number
}): Promise<void> {
  const { paymentId, signature, payerSignature } = evidence
  const idempotencyKey = `${paymentId}:${payerSignature.slice(2, 66)}:${signature.slice(2, 34)}`
  await requestWithRetry(() => call('transactionSubmitted', { body: evidence }, { idempotencyKey }))
}
