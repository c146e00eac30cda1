import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { invoice, invoiceCustomer } from './schema.ts'

export type CustomerRow = typeof invoiceCustomer.$inferSelect
export type Transaction = Parameters<Parameters<Database['transaction']>[0]>[0]

export async function listCustomers(db: Database, limit: number): Promise<CustomerRow[]> {
  return db.select().from(invoiceCustomer).orderBy(desc(invoiceCustomer.usedAt)).limit(limit)
}

/** A customer with the same particulars is used again. */
export async function putCustomer(tx: Transaction, row: CustomerRow): Promise<string> {
  const same = (column: typeof invoiceCustomer.email | typeof invoiceCustomer.address) => {
    const value = column === invoiceCustomer.email ? row.email : row.address
    return value === null ? isNull(column) : eq(column, value)
  }
  const [known] = await tx
    .select({ id: invoiceCustomer.id })
    .from(invoiceCustomer)
    .where(
      and(
        eq(invoiceCustomer.name, row.name),
        same(invoiceCustomer.email),
        same(invoiceCustomer.address),
      ),
    )
    .limit(1)
  // The update locks the row: nobody deletes it before the invoice names it.
  const used =
    known &&
    (await tx
      .update(invoiceCustomer)
      .set({ usedAt: row.usedAt })
      .where(eq(invoiceCustomer.id, known.id))
      .returning({ id: invoiceCustomer.id }))
  if (used?.[0]) return used[0].id
  await tx.insert(invoiceCustomer).values(row)
  return row.id
}

/** Whether no invoice names a customer. */
export const isUnused = sql`not exists (select 1 from ${invoice} where ${invoice.customerId} = ${invoiceCustomer.id})`

/** Deletes a customer that the last draft has left. Nobody could afterwards: a customer is deleted from the page of an invoice. */
export async function forgetUnused(tx: Transaction, id: string | null): Promise<void> {
  if (id === null) return
  const row = eq(invoiceCustomer.id, id)
  // The lock first: a draft that is being saved with this customer is there when it is looked for.
  await tx.select({ id: invoiceCustomer.id }).from(invoiceCustomer).where(row).for('update')
  await tx.delete(invoiceCustomer).where(and(row, isUnused))
}
