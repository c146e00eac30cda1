import { randomBytes } from 'node:crypto'
import type { FileBody, FileSource } from '#contract/file-endpoints.ts'
import { MOST_PAYMENT_IDS } from '#contract/fields.ts'
import { createId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import { isPrice } from '#contract/quote.ts'
import type { RefusalCode } from '#contract/reasons.ts'
import type { FilesConfig } from '../config/files-config.ts'
import type { ProxyContext } from '../context/context.ts'
import {
  closeFailures,
  countPurchases,
  deleteUnsoldFile,
  findFile,
  findFileByCode,
  insertFile,
  insertLinkPurchase,
  insertTicket,
  listFiles,
  unrecordedPayments,
  unreportedFailures,
  updateFile,
  type FileChange,
  type FileCounts,
  type FilePriceRow,
  type FileRow,
} from '../db/files.ts'
import { countPayments, setWithdrawn } from '../db/links.ts'
import { priceWays, urlOf } from '../files/offers.ts'
import { findOwnPayment, readStatus, type FileRequest } from '../files/ownership.ts'
import { probeSource, SourceError, storeSource, type StoredSource } from '../files/source.ts'
import { requireNoProblems } from '../http/parse.ts'
import { readStatuses, refreshPayments } from '../links/refresh.ts'
import { createCode, createShortLink } from '../links/short-link.ts'
import {
  type OwnCall,
  type OwnRule,
  may,
  notFound,
  requireRole,
  requireSession,
} from '../session/rule.ts'
import { createCookieValue, hashCookieValue } from '../session/random.ts'

const MOST_LISTED = 500
/** So many payments a list asks for that it has not recorded; the rest comes with the next. */
const MOST_RECORDED = 50
/** Of failed deliveries, 100 each: older ones than these are old enough to have been seen. */
const MOST_FAILURE_PAGES = 20
/** A download address is valid for so long. */
const TICKET_MS = 60_000
/** No payment that was begun before can arrive any more. */
const DELETE_AFTER_MS = 24 * 3_600_000

const UNSOLD: FileCounts = { sales: 0, downloads: 0, undelivered: 0, failed: 0 }

export const fileList: OwnRule<'fileList'> = async ({ context, visitor, requestId }) => {
  const { config, db, vault } = context
  const operator = visitor.session !== undefined && may(visitor.session, 'operator')
  const rows = config.files ? await listFiles(db, MOST_LISTED) : []
  await recordPayments({ context, visitor, requestId }, rows)
  const counts = await countPurchases(
    db,
    rows.map(({ id }) => id),
  )
  return {
    value: {
      offered: config.files !== undefined,
      sealed: vault !== undefined,
      files: rows.map((row) => {
        const file = describe(context, row, counts.get(row.id))
        return operator ? file : { ...file, source: withoutPlace(file.source) }
      }),
    },
  }
}

/**
 * What the inbox of the overview says, up to 100. The service is asked only where a source has
 * failed; more than once only where many of those payments were refunded since the last time. A
 * refund that is not final is looked at again: a reorganization may undo it.
 */
export const fileFailures: OwnRule<'fileFailures'> = async (request) => {
  const { config, db } = request.context
  let failed = 0
  let offset = 0
  for (let page = 0; config.files && page < MOST_FAILURE_PAGES; page++) {
    const failures = await unreportedFailures(db, { limit: MOST_PAYMENT_IDS, offset })
    const known = await readStatuses(request, failures)
    const refunded = failures.filter((id) => known.get(id)?.refund.state === 'full')
    const closed = refunded.filter((id) => known.get(id)?.refundFinal)
    await closeFailures(db, closed)
    failed += failures.length - refunded.length
    offset += failures.length - closed.length
    if (failures.length < MOST_PAYMENT_IDS || failed >= MOST_PAYMENT_IDS) break
  }
  return { value: { failed: Math.min(failed, MOST_PAYMENT_IDS) } }
}

/** Who has the address of a source without credentials has the file: a viewer is told the host alone. */
function withoutPlace(source: FileSource): FileSource {
  if (source.kind === 'https') return { ...source, url: `${new URL(source.url).origin}/…` }
  return source.kind === 's3' ? { ...source, key: '…', accessKeyId: '…' } : source
}

/** Payments through the links of files, whose payers may not have come back for the file. */
async function recordPayments(request: FileRequest, rows: readonly FileRow[]): Promise<void> {
  const { context, visitor, requestId } = request
  const owners = new Map(
    rows.flatMap((row) => row.prices.map(({ linkId }) => [linkId, row] as const)),
  )
  const linkIds = [...owners.keys()]
  if (linkIds.length === 0) return
  await refreshPayments(context, linkIds, { visitor, requestId })
  const found = await unrecordedPayments(context.db, linkIds, MOST_RECORDED)
  await Promise.allSettled(
    found.map(async ({ paymentId, linkId }) => {
      const file = owners.get(linkId)
      const payment = await readStatus(request, paymentId)
      if (!file || !payment) return
      const purchase = { paymentId, fileId: file.id, wallet: payment.sender }
      await insertLinkPurchase(context.db, { ...purchase, createdAt: context.now() })
    }),
  )
}

export const fileCreate: OwnRule<'fileCreate'> = async ({ context, visitor, body }) => {
  const files = requireFiles(context)
  const createdBy = requireRole(visitor, 'operator').member.wallet
  requireNoProblems({ ...priceProblems(context, body), ...pageProblem(context, body.page) })
  const id = createId('fil')
  const stored = await storeSource(context, id, body.source)
  const facts = await readFacts(context, visitor.address, stored)
  const code = createCode()
  const page = body.page.replace(/\/+$/, '')
  const row = await context.db.transaction(async (tx) => {
    const prices: FilePriceRow[] = []
    for (const price of body.prices) {
      const link = await createShortLink(
        { ...context, db: tx },
        {
          price,
          description: body.name,
          resource: urlOf({ config: { ...context.config, files } }, code),
          returnUrl: `${page}/${code}?payment={PAYMENT_ID}`,
        },
        createdBy,
      )
      prices.push({ ...price, linkId: link.id, link: link.link })
    }
    const made: FileRow = {
      ...stored,
      ...facts,
      code,
      page,
      prices,
      createdBy,
      name: body.name,
      fileName: body.fileName ?? fileNameOf(body),
      memoKey: randomBytes(32).toString('base64url'),
      createdAt: context.now(),
      withdrawnAt: null,
    }
    await insertFile(tx, made)
    return made
  })
  return { value: { file: describe(context, row, UNSOLD) } }
}

type Created = OwnCall<'fileCreate'>['body']

function priceProblems({ config }: ProxyContext, { prices }: Created): Record<string, string> {
  const details: Record<string, string> = {}
  for (const [index, price] of prices.entries()) {
    const at = `prices.${index}`
    const twice = prices.findIndex(({ currency }) => currency === price.currency) !== index
    const symbols = config.networks.flatMap(({ assets }) => assets.map(({ symbol }) => symbol))
    if (twice) details[`${at}.currency`] = `Expected ${price.currency} once.`
    else if (!symbols.includes(price.currency))
      details[`${at}.currency`] =
        `Expected one of ${[...new Set(symbols)].join(', ')}, received ${price.currency}.`
    else if (!isPrice(price.amount))
      details[`${at}.amount`] = `Expected a decimal above 0, received ${price.amount}.`
    else if (priceWays(config, price).length === 0)
      details[`${at}.amount`] =
        `No wallet of the seller can be paid ${price.amount} ${price.currency}.`
  }
  return details
}

function pageProblem({ config }: ProxyContext, page: string): Record<string, string> {
  const { origin, search, hash } = new URL(page)
  return config.allowedOrigins.includes(origin) && search === '' && hash === ''
    ? {}
    : { page: `Expected a path of ${config.allowedOrigins.join(' or ')}.` }
}

/** The last part of the source's path, as a file name; the name otherwise. */
function fileNameOf({ name, source }: Pick<Created, 'name' | 'source'>): string {
  const safe = (text: string) => text.replace(/[\p{C}/\\:*?"<>|]/gu, '_').replace(/^\.+/, '_')
  if (source.kind === 'text') return `${safe(name)}.txt`
  const path = source.kind === 's3' ? source.key : new URL(source.url).pathname
  const last = path.split('/').at(-1) ?? ''
  return safe(decode(last)).slice(0, 120) || safe(name)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const fileCheck: OwnRule<'fileCheck'> = async ({ context, visitor, body }) => {
  requireFiles(context)
  const stored = await storeSource(context, createId('fil'), body.source)
  return { value: await readFacts(context, visitor.address, stored) }
}

/** Asks the source, and tells its merchant why it gives no file. */
async function readFacts(context: ProxyContext, address: string, stored: StoredSource) {
  if (stored.source.kind !== 'text') context.budgets.spendRelay(address)
  try {
    return await probeSource(context, stored)
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    throw new ProblemError('INVALID_PARAMETERS', {
      message: error.message,
      reason: `source_${error.reason}`,
      details: { source: error.message },
    })
  }
}

export const fileUpdate: OwnRule<'fileUpdate'> = async ({ context, visitor, body }) => {
  const { id, name, fileName, source } = body
  const row = await requireFile(context, id)
  let change: FileChange = { ...(name !== undefined && { name }), ...(fileName && { fileName }) }
  if (source) {
    const { id: _, ...stored } = await storeSource(context, row.id, source)
    const facts = await readFacts(context, visitor.address, { ...stored, id: row.id })
    change = { ...change, ...stored, ...facts }
  }
  return { value: { file: await changeFile(context, row, change) } }
}

export const fileWithdraw: OwnRule<'fileWithdraw'> = ({ context, body }) =>
  setSold(context, body.id, context.now())

export const fileRestore: OwnRule<'fileRestore'> = ({ context, body }) =>
  setSold(context, body.id, null)

async function setSold(context: ProxyContext, id: string, withdrawnAt: Date | null) {
  const row = await requireFile(context, id)
  const file = await context.db.transaction(async (tx) => {
    for (const { linkId } of row.prices) await setWithdrawn(tx, linkId, withdrawnAt)
    return changeFile({ ...context, db: tx }, row, { withdrawnAt })
  })
  return { value: { file } }
}

export const fileDelete: OwnRule<'fileDelete'> = async (call) => {
  const { context, body } = call
  const row = await requireFile(context, body.id)
  const old = context.now().getTime() - DELETE_AFTER_MS
  if (!row.withdrawnAt || row.withdrawnAt.getTime() > old)
    throw refuse('file_sold_lately', 'Withdraw the file first. It can be deleted a day later.')
  await recordPayments(call, [row])
  const links = await countPayments(
    context.db,
    row.prices.map(({ linkId }) => linkId),
  )
  const taken = [...links.values()].some((counts) => counts.taken > 0)
  if (taken || !(await deleteUnsoldFile(context.db, row.id)))
    throw refuse('file_bought', 'Somebody bought this file: its buyers may read it again.')
  return { value: { id: row.id } }
}

/** For anybody who has the code. An address may try so many codes a minute that guessing finds none. */
export const fileOpen: OwnRule<'fileOpen'> = async (call) => {
  const { context, visitor, body } = call
  context.budgets.spendLink(visitor.address)
  const file = await requireCode(context, body.code)
  const { name, fileName, size, mimeType, prices, withdrawnAt } = file
  return {
    value: {
      name,
      fileName,
      size,
      mimeType,
      prices: prices.map(toPrice),
      withdrawn: withdrawnAt !== null,
      paid: (await findOwnPayment(call, file)) !== undefined,
    },
  }
}

export const fileDownload: OwnRule<'fileDownload'> = async (call) => {
  const { context, visitor, body } = call
  requireSession(visitor)
  context.budgets.spendLink(visitor.address)
  const file = await requireCode(context, body.code)
  const payment = await findOwnPayment(call, file)
  if (!payment)
    throw refuse(
      'file_not_paid',
      'No payment of this wallet bought the file, or it was refunded. Sign in with the wallet that paid.',
    )
  const { paymentId, sender } = payment
  const now = context.now()
  await insertLinkPurchase(context.db, {
    paymentId,
    fileId: file.id,
    wallet: sender,
    createdAt: now,
  })
  const ticket = createCookieValue()
  const expiresAt = new Date(now.getTime() + TICKET_MS)
  await insertTicket(context.db, { ticketHash: hashCookieValue(ticket), paymentId, expiresAt })
  const { publicUrl } = requireFiles(context)
  return {
    value: { url: `${publicUrl}/api/download/${ticket}`, expiresAt: expiresAt.getTime() },
  }
}

function requireFiles({ config }: ProxyContext): FilesConfig {
  if (config.files) return config.files
  throw refuse('files_off', 'This proxy sells no files. Set PUBLIC_URL and start it again.')
}

async function requireFile(context: ProxyContext, id: string): Promise<FileRow> {
  requireFiles(context)
  const row = await findFile(context.db, id)
  if (!row) throw notFound()
  return row
}

async function requireCode(context: ProxyContext, code: string): Promise<FileRow> {
  const row = context.config.files && (await findFileByCode(context.db, code))
  if (!row) throw notFound()
  return row
}

async function changeFile(
  context: ProxyContext,
  row: FileRow,
  change: FileChange,
): Promise<FileBody> {
  const changed =
    Object.keys(change).length === 0 ? row : await updateFile(context.db, row.id, change)
  if (!changed) throw notFound()
  const counts = await countPurchases(context.db, [row.id])
  return describe(context, changed, counts.get(row.id))
}

function describe(context: ProxyContext, row: FileRow, counts: FileCounts = UNSOLD): FileBody {
  const { id, code, name, fileName, size, mimeType, ranges, source, prices } = row
  return {
    id,
    code,
    url: urlOf(context, code),
    name,
    fileName,
    size,
    mimeType,
    ranges,
    source,
    prices: prices.map(toPrice),
    ...counts,
    createdAt: row.createdAt.getTime(),
    withdrawnAt: row.withdrawnAt?.getTime() ?? null,
  }
}

function toPrice({ currency, amount, link }: FilePriceRow) {
  return { currency, amount, link }
}

function refuse(reason: RefusalCode, message: string): ProblemError {
  return new ProblemError('FORBIDDEN', { message, reason })
}
