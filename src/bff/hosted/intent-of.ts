import type { HostedIntent } from '#contract/hosted-intent.ts'
import type { HostedRow } from '../db/hosted.ts'
import type { HostedRule } from '../config/hosted-rules.ts'

/** What has to be signed, from what is kept. */
export function intentOf(row: HostedRow, { asset }: HostedRule): HostedIntent {
  return {
    nonce: row.id,
    network: row.network,
    from: row.sender,
    to: row.recipient,
    asset: row.asset,
    symbol: asset.symbol,
    decimals: asset.decimals,
    amountAtomic: row.amount.toString(),
    priorityFee: row.priorityFee ?? '',
    resource: row.resource ?? '',
    description: row.description ?? '',
    reference: row.reference ?? '',
    refundOf: row.refundOf ?? '',
    expiresAt: Math.floor(row.expiresAt.getTime() / 1000),
  }
}
