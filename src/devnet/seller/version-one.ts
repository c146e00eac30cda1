import { familyOf } from '#contract/network.ts'
import { TXID_METHOD } from '#x402/methods.ts'
import type { Requirements } from '#x402/requirements.ts'

/** Whether a payment by these terms can be told in version 1: there, a Solana transaction that was sent already names no terms. */
export function versionOne({ network, extra }: Requirements): boolean {
  return !(familyOf(network) === 'solana' && extra.assetTransferMethod === TXID_METHOD)
}
