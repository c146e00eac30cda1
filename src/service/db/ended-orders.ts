import { sql, type SQL } from 'drizzle-orm'
import type { NetworkId } from '#contract/network.ts'
import type { Database } from '#postgres/open.ts'
import { endedOrder, type payment } from './schema/payment.ts'

/** When orders ended. `upTo`: null without a bound. */
export type EndedRange = { network: NetworkId; after: Date; upTo: Date | null }

/** Whether an order ended in this time, and a transfer that names it may still come: `endedOrder`, and its index. */
export function isEnded(network: NetworkId, { after, upTo }: Omit<EndedRange, 'network'>): SQL {
  return sql`${sql.raw(endedOrder)} and network = ${network} and updated_at > ${after.toISOString()}::timestamptz
    ${upTo === null ? sql`` : sql`and updated_at <= ${upTo.toISOString()}::timestamptz`}`
}

/** A payee of orders that ended, and the height at which the first of these orders was built. */
export type EndedPayee = { asset: string; recipient: string; builtHeight: number }

/** The payees of all orders that ended in this time: there are few, however many orders. */
export async function readEndedPayees(
  db: Database,
  { network, ...time }: EndedRange,
): Promise<EndedPayee[]> {
  const { rows } = await db.execute<{ asset: string; recipient: string; height: string | null }>(
    sql`select asset, recipient, min(built_height)::text as height from service.payment
      where ${isEnded(network, time)} group by asset, recipient`,
  )
  return rows.map(({ asset, recipient, height }) => ({
    asset,
    recipient,
    builtHeight: Number(height ?? 0),
  }))
}

export type EndedOrder = Pick<
  typeof payment.$inferSelect,
  'id' | 'accountId' | 'sender' | 'recipient' | 'asset' | 'amount'
>

/** A transaction that names an order which has ended by another one, or by none. */
export type EndedNamed = { signature: string; order: EndedOrder }

/** What of these transactions names an order that has ended, whenever that was, and is not listed as unmatched. */
export async function findEndedNamed(
  db: Database,
  network: NetworkId,
  found: readonly { signature: string; paymentIds: readonly string[] }[],
): Promise<EndedNamed[]> {
  const names = found.flatMap(({ signature: transaction, paymentIds }) =>
    paymentIds.map((named) => ({ transaction, named })),
  )
  if (names.length === 0) return []
  const { rows } = await db.execute<
    Omit<EndedOrder, 'amount'> & { transaction: string; amount: string }
  >(sql`
    select transaction, id, account_id as "accountId", sender, recipient, asset, amount::text
    from json_to_recordset(${JSON.stringify(names)}::json) as names(transaction text, named text)
    join service.payment on id = named
    where ${sql.raw(endedOrder)} and network = ${network} and (signature is distinct from transaction or status = 'failed')
      and not exists (
        select from service.unmatched_transfer as listed
        where listed.account_id = payment.account_id and listed.network = ${network} and listed.signature = transaction
      )`)
  return rows.map(({ transaction: signature, amount, ...order }) => ({
    signature,
    order: { ...order, amount: BigInt(amount) },
  }))
}
