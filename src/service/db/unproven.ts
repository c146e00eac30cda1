import { sql } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'

/** An order that was confirmed by parties and amount alone. `competing`: the other orders that the same transfer would have fitted. */
export type UnprovenOrder = {
  paymentId: string
  accountId: string
  network: string
  signature: string | null
  sender: string
  recipient: string
  asset: string
  amountAtomic: string
  competing: number
}

/** A received payment that an account recorded for a payee whose owner is another account. */
export type ForeignReceipt = Omit<UnprovenOrder, 'competing'> & { ownerId: string }

const facts = sql`paid.id as "paymentId", paid.account_id as "accountId", paid.network, paid.signature, paid.sender, paid.recipient, paid.asset,
  paid.amount::text as "amountAtomic"`

/** EVM orders confirmed before evidence was asked for, of every account, the oldest first. */
export async function readUnprovenOrders(db: Database): Promise<UnprovenOrder[]> {
  const { rows } = await db.execute<UnprovenOrder>(sql`
    select ${facts}, count(other.id)::int as competing
    from service.payment as paid
    left join service.payment as other on other.id <> paid.id and other.mode = 'local' and other.network = paid.network and other.sender = paid.sender
      and other.recipient = paid.recipient and other.asset = paid.asset and other.amount = paid.amount
      and other.created_at <= coalesce(paid.confirmed_at, paid.updated_at)
      -- What was paid or given up before is no rival.
      and coalesce(other.confirmed_at, other.expires_at + interval '1 day', 'infinity') >= coalesce(paid.confirmed_at, paid.updated_at)
    where paid.evidence = 'unproven' group by paid.id order by paid.created_at, paid.id`)
  return rows
}

/** Of every account, the oldest first. */
export async function readForeignReceipts(db: Database): Promise<ForeignReceipt[]> {
  const { rows } = await db.execute<ForeignReceipt>(sql`
    select ${facts}, owner.account_id as "ownerId"
    from service.payment as paid
    join service.wallet_owner as owner on owner.address = paid.recipient and owner.released_at is null and owner.account_id <> paid.account_id
      and owner.scope in (paid.network, case when paid.network like 'eip155:%' then 'evm' else 'solana' end)
    where paid.mode = 'received' order by paid.created_at, paid.id`)
  return rows
}
