import { formatAmount } from '#contract/amount.ts'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { LosslessNumber } from '#contract/json.ts'
import type { UnmatchedTransfer } from '#contract/unmatched-endpoints.ts'
import type * as v from 'valibot'
import type { ObservedTransfer } from '../chains/chain.ts'
import { inParallel } from '../chains/in-parallel.ts'
import type { Actor, Context } from '../context/context.ts'
import { listUnmatched, type UnmatchedRecord } from '../db/unmatched.ts'
import { fittingOrders } from './attribution.ts'
import { readMetadata } from './metadata.ts'

/** How many rows have their candidates looked for at once. */
const PARALLEL = 4

/** Money of the account that nothing ties to an order, the newest first, each with the orders that it fits. */
export async function readUnmatched(
  context: Context,
  actor: Actor,
  page: EndpointInput<'unmatchedList'>['query'],
): Promise<EndpointReply<'unmatchedList'>> {
  const { rows, total } = await listUnmatched(context.db, actor.accountId, page)
  return {
    success: true,
    total,
    transfers: await inParallel(rows, PARALLEL, (row) => describeUnmatched(context, row)),
  }
}

type UnmatchedReply = v.InferInput<typeof UnmatchedTransfer>

/** One transfer with its candidates. */
export async function describeUnmatched(
  { db }: Context,
  row: UnmatchedRecord,
): Promise<UnmatchedReply> {
  const candidates = await fittingOrders(db, row, {
    transfer: transferOf(row),
    height: row.blockHeight,
  })
  return {
    transferId: row.id,
    network: row.network,
    signature: row.signature,
    sender: row.sender,
    recipient: row.recipient,
    asset: row.asset,
    symbol: row.symbol,
    decimals: row.decimals,
    amount: new LosslessNumber(formatAmount(row.amount, row.decimals)),
    amountAtomic: row.amount.toString(),
    blockHeight: row.blockHeight,
    timestamp: (row.blockTime ?? row.createdAt).getTime(),
    candidates: candidates.map(({ id, status, createdAt, metadata }) => ({
      paymentId: id,
      status,
      timestamp: createdAt.getTime(),
      metadata: readMetadata(metadata),
    })),
    assigned:
      row.assignedPaymentId === null
        ? null
        : {
            paymentId: row.assignedPaymentId,
            by: row.assignedBy,
            at: (row.assignedAt ?? row.createdAt).getTime(),
            note: row.assignedNote,
          },
  }
}

/** The row as the transfer that it was made from. */
export function transferOf({
  sender,
  recipient,
  asset,
  amount,
  nonce,
}: UnmatchedRecord): ObservedTransfer {
  return { sender, recipient, asset, amountAtomic: amount, memo: null, nonce }
}
