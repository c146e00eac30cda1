import { createHash } from 'node:crypto'
import { createId } from '#contract/payment.ts'
import { dayIn, fiatDecimals, invoiceTotals } from '#contract/invoice.ts'
import type { InvoiceBody } from '#contract/invoice-endpoints.ts'
import { ProblemError } from '#contract/problem.ts'
import type { ProxyContext } from '../context/context.ts'
import { listCustomers, type CustomerRow } from '../db/invoice-customers.ts'
import {
  deleteCustomer,
  deleteDraft,
  findInvoice,
  insertDraft,
  invoicesOfPayer,
  issueInvoice,
  listInvoices,
  readNumbering,
  replaceDraft,
  setPrefix,
  setSeller,
  setVoid,
  takenPayments,
  unpaidLinks,
  type DraftFields,
  type FoundInvoice,
  type InvoicePayer,
  type TakenPayment,
} from '../db/invoices.ts'
import { firstPaying, PAID } from '../db/surplus.ts'
import { requireNoProblems } from '../http/parse.ts'
import { noteRefunds, readStatuses, refreshPayments, type KnownStatus } from '../links/refresh.ts'
import { assetDecimals, readPrice, shortLinkRow } from '../links/short-link.ts'
import { type OwnCall, type OwnRule, may, notFound, requireRole } from '../session/rule.ts'
import type { Visitor } from '../session/visitor.ts'

const PAGE = 50
const MOST_CUSTOMERS = 500

type Asking = Pick<OwnCall<'invoiceRead'>, 'context' | 'visitor' | 'requestId'>

export const invoiceList: OwnRule<'invoiceList'> = async (call) => {
  const { context, body } = call
  const { db } = context
  // First: a filter by state reads what was last known of the payments.
  await refreshPayments(context, await unpaidLinks(db, { now: context.now(), limit: PAGE }), call)
  const rows = await listInvoices(db, {
    today: todayOf(context),
    state: body.state,
    q: body.q,
    before: body.before === undefined ? undefined : BigInt(body.before),
    withEmails: readsPersonalData(call.visitor),
    limit: PAGE + 1,
  })
  const page = rows.slice(0, PAGE)
  const next = rows.length > PAGE ? (page.at(-1)?.row.position.toString() ?? null) : null
  const [invoices, { seller, ...numbering }] = await Promise.all([
    bodiesOf(call, page),
    readNumbering(db),
  ])
  return { value: { invoices, next, numbering, seller } }
}

export const invoiceRead: OwnRule<'invoiceRead'> = (call) => answerWith(call, call.body.id)

export const invoiceSave: OwnRule<'invoiceSave'> = async (call) => {
  const { context, visitor, body } = call
  const fields = readFields(context, body)
  const customer = body.customer ? customerRow(context, body.customer) : null
  const id = body.id ?? createId('ivc')
  if (body.id !== undefined) {
    if (!(await replaceDraft(context.db, { id, fields, customer }))) throw refuse('invoice_state')
  } else {
    const createdBy = requireRole(visitor, 'operator').member.wallet
    await insertDraft(context.db, { id, fields, customer, createdBy, createdAt: context.now() })
  }
  return answerWith(call, id)
}

export const invoiceDelete: OwnRule<'invoiceDelete'> = async ({ context, body }) => {
  if (!(await deleteDraft(context.db, body.id))) throw refuse('invoice_state')
  return { value: { deleted: true } }
}

export const invoiceIssue: OwnRule<'invoiceIssue'> = async (call) => {
  const { context, visitor, body } = call
  const operator = requireRole(visitor, 'operator').member.wallet
  const issuedOn = todayOf(context)
  const { id, draft } = body
  if (draft && draft.issuesOn !== issuedOn) throw refuse('invoice_state')
  const isShown = draft && ((found: FoundInvoice) => versionOf(found) === draft.version)
  const issued = await issueInvoice(
    context.db,
    { id, issuedOn, isShown },
    (row, { number, seller }) => {
      requireIssuable(row, issuedOn)
      const { currency, total, lines, dueOn } = row
      return shortLinkRow(
        context,
        {
          id: createId('lnk'),
          price: { kind: currency.kind, currency: currency.code, amount: total },
          item: null,
          invoice: { number, issuedOn, dueOn, seller, currency, lines },
          only: null,
          maxPieces: 1,
          askEmail: false,
          resource: null,
          description: `Invoice ${number}`,
          reference: number,
          // An invoice can be paid after it is due.
          expiresAt: null,
          maxPayments: 1,
          returnUrl: null,
        },
        operator,
      )
    },
  )
  if (!issued) throw refuse('invoice_state')
  return answerWith(call, body.id)
}

/** @throws ProblemError that names what must be changed first: an invoice stays as it is issued */
function requireIssuable({ dueOn, currency }: FoundInvoice['row'], issuedOn: string): void {
  if (dueOn < issuedOn)
    throw refuse('invoice_draft', { dueOn: `Expected ${issuedOn}, the date of issue, or later.` })
  const { kind, code, decimals } = currency
  // Its total was rounded as an earlier version did, to whole units of HUF or COP. Nobody issues another one unseen.
  if (kind === 'fiat' && decimals !== fiatDecimals(code))
    throw refuse('invoice_draft', {
      currency: `Amounts in ${code} have ${fiatDecimals(code)} decimals. Save the draft again and check its total.`,
    })
}

export const invoiceVoid: OwnRule<'invoiceVoid'> = (call) => changeVoid(call, call.context.now())

export const invoiceUnvoid: OwnRule<'invoiceUnvoid'> = (call) => changeVoid(call, null)

async function changeVoid(
  call: Asking & { body: { id: string } },
  voidedAt: Date | null,
): Promise<{ value: { invoice: InvoiceBody } }> {
  const { context, body } = call
  await refreshOne(call, body.id)
  const changed = await setVoid(context.db, { id: body.id, voidedAt })
  if (changed !== 'done') throw refuse(changed === 'paid' ? 'invoice_paid' : 'invoice_state')
  return answerWith(call, body.id)
}

export const invoicePrefix: OwnRule<'invoicePrefix'> = async ({ context, body }) => {
  await setPrefix(context.db, body.prefix)
  const { prefix, next } = await readNumbering(context.db)
  return { value: { prefix, next } }
}

export const invoiceSeller: OwnRule<'invoiceSeller'> = async ({ context, body }) => {
  const { name, address = null, taxNumber = null } = body
  const seller = { name, address, taxNumber }
  await setSeller(context.db, seller)
  return { value: { seller } }
}

export const invoiceCustomers: OwnRule<'invoiceCustomers'> = async ({ context }) => {
  const rows = await listCustomers(context.db, MOST_CUSTOMERS)
  return {
    value: {
      customers: rows.map(({ id, name, email, address }) => ({ id, name, email, address })),
    },
  }
}

export const invoiceForget: OwnRule<'invoiceForget'> = async ({ context, body }) => {
  const deleted = await deleteCustomer(context.db, body.id, context.now())
  if (deleted === 0) throw notFound()
  return { value: { deleted } }
}

/** E-mail and postal addresses are for operators: a viewer neither reads them nor finds one by a search. */
function readsPersonalData({ session }: Visitor): boolean {
  return session !== undefined && may(session, 'operator')
}

/** Days begin and end in the merchant's time zone: an invoice of the morning has the day of its books. */
function todayOf({ now, config }: Pick<ProxyContext, 'now' | 'config'>): string {
  return dayIn(config.timeZone, now())
}

/** Of everything that a draft says, its seller and its customer too. */
function versionOf({ row, seller, customer }: FoundInvoice): string {
  const { dueOn, currency, lines, total, note } = row
  const { name, email, address } = customer ?? {}
  const shown = [dueOn, currency, lines, total, note, seller, name, email, address]
  const text = JSON.stringify(shown)
  return createHash('sha256').update(text).digest('hex')
}

/** @throws ProblemError `INVALID_PARAMETERS` that names every field that is wrong */
function readFields(context: ProxyContext, body: OwnCall<'invoiceSave'>['body']): DraftFields {
  const { dueOn, lines, note } = body
  const details: Record<string, string> = {}
  const { kind } = readPrice(context, { currency: body.currency, amount: '1' }, { details })
  if (details['price.currency']) requireNoProblems({ currency: details['price.currency'] })
  const decimals =
    kind === 'asset' ? assetDecimals(context, body.currency) : fiatDecimals(body.currency)
  const currency = { kind, code: body.currency, decimals }
  const { total } = invoiceTotals(lines, currency)
  if (total === '0') requireNoProblems({ lines: 'Expected a total above 0.' })
  return { dueOn, currency, lines, total, note: note ?? null }
}

function customerRow(
  { now }: ProxyContext,
  { name, email, address }: NonNullable<OwnCall<'invoiceSave'>['body']['customer']>,
): CustomerRow {
  return {
    id: createId('cus'),
    name,
    email: email ?? null,
    address: address ?? null,
    usedAt: now(),
  }
}

async function refreshOne(call: Asking, id: string): Promise<void> {
  const found = await findInvoice(call.context.db, id, todayOf(call.context))
  if (found?.row.linkId) await refreshPayments(call.context, [found.row.linkId], call)
}

async function answerWith(call: Asking, id: string): Promise<{ value: { invoice: InvoiceBody } }> {
  await refreshOne(call, id)
  const found = await findInvoice(call.context.db, id, todayOf(call.context))
  const [invoice] = found ? await bodiesOf(call, [found]) : []
  if (!invoice) throw notFound()
  return { value: { invoice } }
}

async function bodiesOf(call: Asking, found: readonly FoundInvoice[]): Promise<InvoiceBody[]> {
  const personal = readsPersonalData(call.visitor)
  const { taken, statuses } = await readPaymentsOf(
    call,
    found.map(({ row, state }) => ({ linkId: row.linkId ?? '', state })),
  )
  const issuesOn = todayOf(call.context)
  return found.map((each) => {
    const { row, state, seller, customer, code } = each
    const payments = taken.get(row.linkId ?? '') ?? []
    const paid = payments.filter(({ status }) => PAID.includes(status))
    // Null where nobody could say.
    const refundOf = (paymentId: string) =>
      asksForRefunds(state, paid) ? (statuses.get(paymentId)?.refund.state ?? null) : 'none'
    // What arrives on a void invoice pays nothing.
    const paying = state === 'void' ? undefined : (firstPaying(paid) ?? paid[0] ?? payments[0])
    return {
      id: row.id,
      state,
      number: row.number,
      issuedOn: row.issuedOn,
      draft: state === 'draft' && personal ? { version: versionOf(each), issuesOn } : null,
      dueOn: row.dueOn,
      seller,
      customer: customer && {
        id: customer.id,
        name: customer.name,
        email: personal ? customer.email : null,
        address: personal ? customer.address : null,
      },
      currency: row.currency,
      lines: row.lines,
      total: row.total,
      note: row.note,
      customerRemovedAt: row.customerRemovedAt?.getTime() ?? null,
      link: code,
      payment: paying
        ? {
            paymentId: paying.paymentId,
            status: paying.status,
            refund: paid.includes(paying) ? refundOf(paying.paymentId) : null,
            late: statuses.get(paying.paymentId)?.late ?? false,
          }
        : null,
      surplus: paid.filter(({ surplus }) => surplus).map(({ paymentId }) => paymentId),
      createdAt: row.createdAt.getTime(),
    }
  })
}

type Payments = { taken: Map<string, TakenPayment[]>; statuses: ReadonlyMap<string, KnownStatus> }

/** The payments of the links of invoices, and what the service says of those that arrived, which is noted first. */
async function readPaymentsOf(
  call: Asking,
  invoices: readonly { linkId: string; state: string }[],
): Promise<Payments> {
  const { context } = call
  const linkIds = invoices.map(({ linkId }) => linkId).filter((linkId) => linkId !== '')
  const taken = await takenPayments(context.db, linkIds)
  const arrived = invoices.flatMap(({ linkId, state }) => {
    const paid = (taken.get(linkId) ?? []).filter(({ status }) => PAID.includes(status))
    return asksForRefunds(state, paid) ? paid : []
  })
  const statuses = await readStatuses(
    call,
    arrived.map(({ paymentId }) => paymentId),
  )
  if (!(await noteRefunds(context, arrived, statuses))) return { taken, statuses }
  return { taken: await takenPayments(context.db, linkIds), statuses }
}

/**
 * The invoices that a wallet paid: not those for which its payment came too late, or went back in
 * full as far as the service can be asked.
 */
export async function readPayer(call: Asking, wallet: string): Promise<InvoicePayer> {
  const rows = await invoicesOfPayer(call.context.db, wallet)
  const { taken } = await readPaymentsOf(
    call,
    rows.map(({ linkId }) => ({ linkId, state: 'paid' })),
  )
  const own = rows.filter(({ linkId }) => firstPaying(taken.get(linkId) ?? [])?.sender === wallet)
  return { wallet, paidIds: own.map(({ id }) => id) }
}

/** Of one payment that is not final yet the service is not asked: it is shown as under way. */
function asksForRefunds(state: string, paid: readonly unknown[]): boolean {
  return paid.length > 0 && (state === 'paid' || state === 'void' || paid.length > 1)
}

const PROBLEM_TEXTS = {
  invoice_state: 'This invoice changed meanwhile, or it does not exist. Load it again.',
  invoice_draft: 'This draft cannot be issued as it is. Change what details name, and save it.',
  invoice_paid: 'A payment of this invoice arrived or is on its way. Refund it instead.',
} as const

function refuse(
  reason: keyof typeof PROBLEM_TEXTS,
  details: { dueOn?: string; currency?: string } = {},
): ProblemError {
  return new ProblemError('INVALID_PARAMETERS', { message: PROBLEM_TEXTS[reason], reason, details })
}
