import {
  and,
  desc,
  eq,
  gte,
  ilike,
  inArray,
  isNotNull,
  lt,
  not,
  or,
  sql,
  type SQL,
} from 'drizzle-orm'
import type { InvoiceSeller } from '#contract/invoice.ts'
import type { InvoiceState } from '#contract/invoice-state.ts'
import type { Database } from '#postgres/open.ts'
import {
  forgetUnused,
  isUnused,
  putCustomer,
  type CustomerRow,
  type Transaction,
} from './invoice-customers.ts'
import {
  countTaken,
  holdsPlace,
  mayChange,
  TAKEN,
  type LinkPaymentRow,
  type LinkRow,
} from './links.ts'
import {
  customerProfile,
  invoice,
  invoiceCustomer,
  invoiceNumbering,
  linkPayment,
  paymentLink,
} from './schema.ts'

type InvoiceRow = typeof invoice.$inferSelect
/** What a draft may change. */
export type DraftFields = Pick<InvoiceRow, 'dueOn' | 'currency' | 'lines' | 'total' | 'note'>
export type FoundInvoice = {
  row: InvoiceRow
  state: InvoiceState
  /** Of a draft: who would issue it now. */
  seller: InvoiceSeller | null
  customer: CustomerRow | null
  code: string | null
}

/** Of an invoice that is not paid: whether a payment is on its way, or not final yet. */
function isConfirming(): SQL {
  const statuses = TAKEN.filter((status) => status !== 'finalized')
  return sql`exists (
    select 1 from ${linkPayment} where ${linkPayment.linkId} = ${invoice.linkId}
      and ${inArray(linkPayment.status, statuses)} and ${holdsPlace})`
}

/** The state that the payments of its link give an invoice on a day. */
function stateOn(today: string): SQL<InvoiceState> {
  return sql<InvoiceState>`case
    when ${invoice.state} <> 'open' then ${invoice.state}
    when ${invoice.paid} then 'paid'
    when ${isConfirming()} then 'confirming'
    when ${invoice.dueOn} < ${today} then 'overdue'
    else 'open' end`
}

/** Whether `stateOn` is this one, in a form that indexes help with. */
function isInState(state: InvoiceState, today: string): SQL | undefined {
  if (state === 'draft' || state === 'void') return eq(invoice.state, state)
  const isPaid = eq(invoice.paid, state === 'paid')
  if (state === 'paid') return and(eq(invoice.state, 'open'), isPaid)
  if (state === 'confirming') return and(eq(invoice.state, 'open'), isPaid, isConfirming())
  const isDue = state === 'overdue' ? lt(invoice.dueOn, today) : gte(invoice.dueOn, today)
  return and(eq(invoice.state, 'open'), isPaid, isDue, not(isConfirming()))
}

const sellerNow = sql`(select ${invoiceNumbering.seller} from ${invoiceNumbering})`

function selectFound(db: Pick<Database, 'select'>, today: string) {
  return db
    .select({
      row: invoice,
      state: stateOn(today),
      seller: sql<InvoiceSeller | null>`case ${invoice.state} when 'draft' then ${sellerNow} else ${invoice.seller} end`,
      customer: invoiceCustomer,
      code: paymentLink.code,
    })
    .from(invoice)
    .leftJoin(invoiceCustomer, eq(invoiceCustomer.id, invoice.customerId))
    .leftJoin(paymentLink, eq(paymentLink.id, invoice.linkId))
}

export type InvoiceSearch = {
  today: string
  state: InvoiceState | undefined
  q: string | undefined
  /** Whether `q` may find e-mail addresses. */
  withEmails: boolean
  before: bigint | undefined
  limit: number
}

/** Newest first. */
export async function listInvoices(
  db: Database,
  { today, state, q, withEmails, before, limit }: InvoiceSearch,
): Promise<FoundInvoice[]> {
  const part = q === undefined ? undefined : `%${q.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
  return selectFound(db, today)
    .where(
      and(
        before === undefined ? undefined : lt(invoice.position, before),
        state === undefined ? undefined : isInState(state, today),
        part === undefined
          ? undefined
          : or(
              ilike(invoice.number, part),
              ilike(invoiceCustomer.name, part),
              withEmails ? ilike(invoiceCustomer.email, part) : undefined,
            ),
      ),
    )
    .orderBy(desc(invoice.position))
    .limit(limit)
}

export async function findInvoice(
  db: Database,
  id: string,
  today: string,
): Promise<FoundInvoice | undefined> {
  return (await selectFound(db, today).where(eq(invoice.id, id)))[0]
}

/** The links of invoices whose payments may still change; those that were asked for longest ago first. */
export async function unpaidLinks(
  db: Database,
  { now, limit }: { now: Date; limit: number },
): Promise<string[]> {
  const rows = await db
    .select({ linkId: linkPayment.linkId })
    .from(linkPayment)
    .innerJoin(invoice, eq(invoice.linkId, linkPayment.linkId))
    .where(mayChange(now))
    .groupBy(linkPayment.linkId)
    .orderBy(sql`min(coalesce(${linkPayment.checkedAt}, 'epoch'))`)
    .limit(limit)
  return rows.map(({ linkId }) => linkId)
}

export type TakenPayment = Omit<LinkPaymentRow, 'paymentId'> & { paymentId: string }

/** The payments that landed or are on their way, by link, in the order of arrival. */
export async function takenPayments(
  db: Database,
  linkIds: readonly string[],
): Promise<Map<string, TakenPayment[]>> {
  const byLink = new Map<string, TakenPayment[]>()
  if (linkIds.length === 0) return byLink
  const rows = await db
    .select()
    .from(linkPayment)
    .where(and(inArray(linkPayment.linkId, [...linkIds]), inArray(linkPayment.status, [...TAKEN])))
    .orderBy(linkPayment.arrival, linkPayment.createdAt)
  for (const { paymentId, ...row } of rows)
    if (paymentId !== null)
      byLink.set(row.linkId, [...(byLink.get(row.linkId) ?? []), { ...row, paymentId }])
  return byLink
}

type Draft = {
  id: string
  fields: DraftFields
  customer: CustomerRow | null
  createdBy: string
  createdAt: Date
}

export async function insertDraft(db: Database, draft: Draft): Promise<void> {
  const { id, fields, customer, createdBy, createdAt } = draft
  await db.transaction(async (tx) => {
    const customerId = customer && (await putCustomer(tx, customer))
    await tx
      .insert(invoice)
      .values({ id, state: 'draft', ...fields, customerId, createdBy, createdAt })
  })
}

/** @returns whether the draft was there */
export async function replaceDraft(
  db: Database,
  { id, fields, customer }: Pick<Draft, 'id' | 'fields' | 'customer'>,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const draft = and(eq(invoice.id, id), eq(invoice.state, 'draft'))
    // First: nothing of the customer is kept where the draft is gone.
    const [found] = await tx
      .select({ customerId: invoice.customerId })
      .from(invoice)
      .where(draft)
      .for('update')
    if (!found) return false
    const customerId = customer && (await putCustomer(tx, customer))
    await tx
      .update(invoice)
      .set({ ...fields, customerId })
      .where(draft)
    await forgetUnused(tx, found.customerId)
    return true
  })
}

/** @returns whether the draft was there */
export async function deleteDraft(db: Database, id: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [deleted] = await tx
      .delete(invoice)
      .where(and(eq(invoice.id, id), eq(invoice.state, 'draft')))
      .returning({ customerId: invoice.customerId })
    if (!deleted) return false
    await forgetUnused(tx, deleted.customerId)
    return true
  })
}

const FIRST = { id: 1, prefix: 'INV-', last: 0, seller: null }

export function formatNumber(prefix: string, sequence: number): string {
  return prefix + String(sequence).padStart(4, '0')
}

type Numbering = { prefix: string; next: string; seller: InvoiceSeller | null }

export async function readNumbering(db: Database): Promise<Numbering> {
  const [row] = await db.select().from(invoiceNumbering)
  const { prefix, last, seller } = row ?? FIRST
  return { prefix, next: formatNumber(prefix, last + 1), seller }
}

export async function setPrefix(db: Database, prefix: string): Promise<void> {
  await db
    .insert(invoiceNumbering)
    .values({ ...FIRST, prefix })
    .onConflictDoUpdate({ target: invoiceNumbering.id, set: { prefix } })
}

export async function setSeller(db: Database, seller: InvoiceSeller): Promise<void> {
  await db
    .insert(invoiceNumbering)
    .values({ ...FIRST, seller })
    .onConflictDoUpdate({ target: invoiceNumbering.id, set: { seller } })
}

/** `isShown`: whether the draft is still what the operator was shown; asked while it is locked. */
type IssueCheck = {
  id: string
  issuedOn: string
  isShown?: ((found: FoundInvoice) => boolean) | undefined
}

/**
 * Gives a draft its number and its link, all or nothing. Who issues waits for the row of the
 * numbering: no number is given twice, and one whose invoice is not stored is given again.
 * @returns whether the draft was there
 */
export async function issueInvoice(
  db: Database,
  { id, issuedOn, isShown }: IssueCheck,
  linkOf: (row: InvoiceRow, given: { number: string; seller: InvoiceSeller | null }) => LinkRow,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [draft] = await tx
      .select()
      .from(invoice)
      .where(and(eq(invoice.id, id), eq(invoice.state, 'draft')))
      .for('update')
    if (!draft) return false
    // Before the draft is compared: the seller cannot change in between.
    await tx.insert(invoiceNumbering).values(FIRST).onConflictDoNothing()
    await tx.select({ id: invoiceNumbering.id }).from(invoiceNumbering).for('update')
    if (isShown) {
      const [found] = await selectFound(tx, issuedOn).where(eq(invoice.id, id))
      if (!found || !isShown(found)) return false
    }
    const [given] = await tx
      .update(invoiceNumbering)
      .set({ last: sql`${invoiceNumbering.last} + 1` })
      .returning()
    if (!given) throw new Error('The numbering of invoices gave no number.')
    const { seller, last: sequence } = given
    const number = formatNumber(given.prefix, sequence)
    const link = linkOf(draft, { number, seller })
    await tx.insert(paymentLink).values(link)
    await tx
      .update(invoice)
      .set({ state: 'open', sequence, number, issuedOn, seller, linkId: link.id })
      .where(eq(invoice.id, id))
    return true
  })
}

/**
 * Voids an invoice and closes its link, or reverses both. The row of the link is locked as by a
 * payer who takes a place: either the payment is seen here, or the payer is refused.
 * @returns `paid` where a payment landed or is on its way, `gone` where there is no such invoice
 */
export async function setVoid(
  db: Database,
  { id, voidedAt }: { id: string; voidedAt: Date | null },
): Promise<'done' | 'paid' | 'gone'> {
  return db.transaction(async (tx) => {
    const before = voidedAt === null ? 'void' : 'open'
    // The link first, as where the status of its payment is written, which then marks the invoice.
    const ofInvoice = tx.select({ linkId: invoice.linkId }).from(invoice).where(eq(invoice.id, id))
    const [link] = await tx
      .select({ id: paymentLink.id })
      .from(paymentLink)
      .where(inArray(paymentLink.id, ofInvoice))
      .for('update')
    const [found] = await tx
      .select({ id: invoice.id })
      .from(invoice)
      .where(and(eq(invoice.id, id), eq(invoice.state, before)))
      .for('update')
    if (!link || !found) return 'gone'
    if ((await countTaken(tx, { id: link.id, maxPayments: 1 })) > 0) return 'paid'
    await tx
      .update(invoice)
      .set({ state: voidedAt === null ? 'open' : 'void' })
      .where(eq(invoice.id, id))
    await tx.update(paymentLink).set({ withdrawnAt: voidedAt }).where(eq(paymentLink.id, link.id))
    return 'done'
  })
}

/** Invoices with personal data of one person, and the rows of customers that go with them. */
type Personal = { invoiceIds: string[]; customerIds: string[]; paid: string[] }

/** A wallet, and the invoices that a payment of it paid. */
export type InvoicePayer = { wallet: string; paidIds: readonly string[] }

/** The invoices, void ones aside, for which payments of a wallet arrived: one may be too many for its invoice. */
export async function invoicesOfPayer(
  db: Database,
  wallet: string,
): Promise<{ id: string; linkId: string }[]> {
  return db
    .selectDistinct({ id: invoice.id, linkId: linkPayment.linkId })
    .from(linkPayment)
    .innerJoin(invoice, eq(invoice.linkId, linkPayment.linkId))
    .where(
      and(
        eq(linkPayment.sender, wallet),
        isNotNull(linkPayment.arrival),
        eq(invoice.state, 'open'),
      ),
    )
}

/**
 * Of a wallet: invoices that it paid, and those whose customer has the e-mail address of its profile,
 * which people of the account wrote. That of an invoice leads to no other one: anybody with its link
 * may pay it. Nor does one typed at checkout: nobody verified it.
 */
async function findPersonal(
  db: Transaction | Database,
  { wallet, paidIds }: InvoicePayer,
): Promise<Personal> {
  const paid = await db
    .select({ id: invoice.id, customerId: invoice.customerId })
    .from(invoice)
    .where(inArray(invoice.id, [...paidIds]))
  const profiles = await db
    .select({ email: customerProfile.email })
    .from(customerProfile)
    .where(eq(customerProfile.wallet, wallet))
  const emails = profiles.flatMap(({ email }) => email?.toLowerCase() ?? [])
  const known = await db
    .select({ id: invoiceCustomer.id })
    .from(invoiceCustomer)
    .where(inArray(sql`lower(${invoiceCustomer.email})`, emails))
  const customerIds = known.map(({ id }) => id)
  const named = await db
    .select({ id: invoice.id })
    .from(invoice)
    .where(inArray(invoice.customerId, customerIds))
  return {
    invoiceIds: [...new Set([...paid, ...named].map(({ id }) => id))],
    customerIds,
    paid: paid.flatMap(({ customerId }) => customerId ?? []),
  }
}

/** What invoices have of a person: the customer and the note. Oldest first. */
export async function readPersonal(
  db: Database,
  payer: InvoicePayer,
): Promise<Pick<FoundInvoice, 'row' | 'customer'>[]> {
  const { invoiceIds } = await findPersonal(db, payer)
  return db
    .select({ row: invoice, customer: invoiceCustomer })
    .from(invoice)
    .leftJoin(invoiceCustomer, eq(invoiceCustomer.id, invoice.customerId))
    .where(inArray(invoice.id, invoiceIds))
    .orderBy(invoice.position)
}

/** Removes the customers, and the notes of drafts. All else of an invoice with a number stays, and it says when. */
export async function removePersonal(
  tx: Transaction,
  payer: InvoicePayer,
  at: Date,
): Promise<void> {
  await remove(tx, await findPersonal(tx, payer), at)
}

/** @returns how many rows of customers */
async function remove(
  tx: Transaction,
  { invoiceIds, customerIds, paid }: Personal,
  at: Date,
): Promise<number> {
  const isDraft = eq(invoice.state, 'draft')
  await tx
    .update(invoice)
    .set({
      customerId: null,
      note: sql`case when ${isDraft} then null else ${invoice.note} end`,
      customerRemovedAt: sql`case when ${isDraft} then null else coalesce(${invoice.customerRemovedAt}, ${at.toISOString()}::timestamptz) end`,
    })
    .where(
      and(
        inArray(invoice.id, invoiceIds),
        or(isNotNull(invoice.customerId), and(isDraft, isNotNull(invoice.note))),
      ),
    )
  // Without an e-mail address, a row of the same name may be of another person: their invoices keep it.
  const rows = await tx
    .delete(invoiceCustomer)
    .where(
      or(
        inArray(invoiceCustomer.id, customerIds),
        and(inArray(invoiceCustomer.id, paid), isUnused),
      ),
    )
    .returning({ id: invoiceCustomer.id })
  return rows.length
}

/** Deletes a customer, and all rows with the same e-mail address. @returns how many rows */
export async function deleteCustomer(db: Database, id: string, at: Date): Promise<number> {
  return db.transaction(async (tx) => {
    const email = tx
      .select({ email: sql`lower(${invoiceCustomer.email})` })
      .from(invoiceCustomer)
      .where(eq(invoiceCustomer.id, id))
    const known = await tx
      .select({ id: invoiceCustomer.id })
      .from(invoiceCustomer)
      .where(or(eq(invoiceCustomer.id, id), inArray(sql`lower(${invoiceCustomer.email})`, email)))
    const customerIds = known.map((each) => each.id)
    const named = await tx
      .select({ id: invoice.id })
      .from(invoice)
      .where(inArray(invoice.customerId, customerIds))
    return remove(tx, { invoiceIds: named.map((each) => each.id), customerIds, paid: [] }, at)
  })
}
