import { and, eq, inArray, isNotNull, or, sql } from 'drizzle-orm'
import type { Database } from '#postgres/open.ts'
import { removePersonal, type InvoicePayer } from './invoices.ts'
import { customerProfile, linkPayment, paymentContact } from './schema.ts'

export type ProfileRow = typeof customerProfile.$inferSelect

export type ProfileChange = {
  name?: string | undefined
  email?: string | null | undefined
  labels?: readonly string[] | undefined
  note?: string | undefined
}

export async function findProfiles(
  db: Database,
  wallets: readonly string[],
): Promise<ProfileRow[]> {
  return db
    .select()
    .from(customerProfile)
    .where(inArray(customerProfile.wallet, [...wallets]))
}

/** By the beginnings of words of the name and the labels, or the beginning of the e-mail address. */
export async function searchProfiles(
  db: Database,
  { text, emails, limit }: { text: string; emails: boolean; limit: number },
): Promise<ProfileRow[]> {
  // What has a meaning in a query of words divides them.
  const words = text.split(/[\s'"\\:&|!()<>*,]+/).filter((word) => word !== '')
  const query = words.map((word) => `'${word}':*`).join(' & ')
  const byWords =
    query === ''
      ? undefined
      : sql`to_tsvector('simple', ${customerProfile.words}) @@ to_tsquery('simple', ${query})`
  const byEmail = emails
    ? sql`lower(${customerProfile.email}) like ${`${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`}`
    : undefined
  return db
    .select()
    .from(customerProfile)
    .where(or(byWords, byEmail) ?? sql`false`)
    .limit(limit)
}

/** Of two people who write at once, each changes what they named. */
export async function changeProfile(
  db: Database,
  wallet: string,
  { by, at, ...change }: ProfileChange & { by: string; at: Date },
): Promise<ProfileRow> {
  return db.transaction(async (tx) => {
    await tx
      .insert(customerProfile)
      .values({ wallet, name: '', labels: [], note: '', words: '', updatedBy: by, updatedAt: at })
      .onConflictDoNothing()
    const [row] = await tx
      .select()
      .from(customerProfile)
      .where(eq(customerProfile.wallet, wallet))
      .for('update')
    if (!row) throw new Error('A profile that was inserted is not there.')
    const next = {
      ...row,
      name: change.name ?? row.name,
      email: change.email === undefined ? row.email : change.email,
      labels: change.labels ? [...new Set(change.labels)] : row.labels,
      note: change.note ?? row.note,
      updatedBy: by,
      updatedAt: at,
    }
    const { wallet: _, ...columns } = {
      ...next,
      words: [next.name, ...next.labels].join(' '),
    }
    await tx.update(customerProfile).set(columns).where(eq(customerProfile.wallet, wallet))
    return next
  })
}

/** E-mail addresses that were typed with payments of a wallet which its chain has shown. */
export async function findCheckouts(
  db: Database,
  wallet: string,
): Promise<{ paymentId: string; email: string; createdAt: Date }[]> {
  return db
    .select({
      paymentId: paymentContact.paymentId,
      email: paymentContact.email,
      createdAt: paymentContact.createdAt,
    })
    .from(paymentContact)
    .innerJoin(linkPayment, eq(linkPayment.paymentId, paymentContact.paymentId))
    .where(and(eq(paymentContact.sender, wallet), isNotNull(linkPayment.arrival)))
    .orderBy(paymentContact.createdAt)
}

/** Everything personal of a wallet, on its invoices too, in one transaction. */
export async function deleteProfile(db: Database, payer: InvoicePayer, at: Date): Promise<void> {
  const { wallet } = payer
  await db.transaction(async (tx) => {
    // First: an e-mail address of the profile leads to invoices.
    await removePersonal(tx, payer, at)
    await tx.delete(customerProfile).where(eq(customerProfile.wallet, wallet))
    await tx.delete(paymentContact).where(eq(paymentContact.sender, wallet))
  })
}
