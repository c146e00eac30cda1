import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import bs58 from 'bs58'
import type * as v from 'valibot'
import { parseAddress } from '#contract/address.ts'
import { describeAmountProblem, parseAmount } from '#contract/amount.ts'
import type { browserEndpoints } from '#contract/browser-endpoints.ts'
import type { LinkBody, ShortLinkBody } from '#contract/link-endpoints.ts'
import { familyOf, findAsset } from '#contract/network.ts'
import { readLink, type LinkState, type LinkTerms, linkPayload } from '#contract/payment-link.ts'
import { createId } from '#contract/payment.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import { networkOf } from '../budget/budgets.ts'
import type { ProxyContext } from '../context/context.ts'
import {
  countTaken,
  findLink,
  type LinkCounts,
  type LinkRow,
  findLinkKey,
  insertLinkKey,
  newestLinkKey,
  insertLink,
} from '../db/links.ts'
import { requireNoProblems } from '../http/parse.ts'

/** A key signs for this long; links signed before stay good, each names its key. */
const SIGNS_FOR_MS = 90 * 24 * 3_600_000

export type LinkKey = { id: string; secret: string }

/** The key that signs now. Two processes that make one at the same moment make two, and either is good. */
export async function signingKey(db: Database, now: Date): Promise<LinkKey> {
  const newest = await newestLinkKey(db)
  if (newest && now.getTime() - newest.createdAt.getTime() < SIGNS_FOR_MS) return newest
  const made = {
    id: bs58.encode(randomBytes(4)),
    secret: randomBytes(32).toString('base64url'),
    createdAt: now,
  }
  await insertLinkKey(db, made)
  return made
}

export function macOf(payload: string, secret: string): string {
  return createHmac('sha256', Buffer.from(secret, 'base64url')).update(payload).digest('base64url')
}

/** Stands for a payer's network address at one link, without telling it. */
export async function presenterAt(
  { db, now }: Pick<ProxyContext, 'db' | 'now'>,
  linkId: string,
  address: string,
): Promise<string> {
  const { secret } = await signingKey(db, now())
  // What a link or a quote signs has no space.
  return macOf(`presenter ${linkId} ${networkOf(address)}`, secret).slice(0, 22)
}

/** Whether the text of the signature is, to the last character, the one this proxy makes over the payload. In constant time. */
export async function isGenuine(
  db: Database,
  link: { mac: string; payload: string; keyId: string },
): Promise<boolean> {
  const key = await findLinkKey(db, link.keyId)
  const [given, made] = [Buffer.from(link.mac), Buffer.from(macOf(link.payload, key?.secret ?? ''))]
  return given.length === made.length && timingSafeEqual(given, made) && key !== undefined
}

/** Why a link takes no payment, worded for the person who has it. */
const REFUSALS = {
  link_changed:
    'This payment link was changed after its seller made it, or was not copied whole. Ask the seller for the link again.',
  link_unknown: 'This payment link does not exist. Ask the seller for a new one.',
  link_wallet:
    'This payment link pays a wallet that its seller no longer uses. Ask the seller for a new one.',
  link_expired: 'This payment link has expired. Ask the seller for a new one.',
  link_used: 'This payment link was already paid.',
  link_busy:
    'Someone else is paying this link right now. Try again in two minutes, or ask the seller for another one.',
  link_withdrawn: 'The seller withdrew this payment link.',
  link_option: 'This payment link cannot be paid this way. Choose one of its options.',
  link_quote: 'The price was quoted for another payment, or was changed. Open the link again.',
  quote_expired: 'The quoted price has expired. Nothing was charged. Open the link again.',
  quote_outrun:
    'The rate has fallen since the price was quoted. Nothing was charged. Open the link again.',
  rate_unknown: 'The price cannot be converted into this currency. Choose another one.',
  rate_stale: 'No current rate is known, so nothing can be quoted now. Try again later.',
  rate_disputed: 'The sources of the rate contradict each other. Try again later.',
} as const
export type LinkRefusal = keyof typeof REFUSALS

export function refuseLink(reason: LinkRefusal): ProblemError {
  return new ProblemError('INVALID_PARAMETERS', {
    message: REFUSALS[reason],
    reason,
    details: { link: REFUSALS[reason] },
  })
}

export type OpenedLink = { row: LinkRow; terms: LinkTerms }

/**
 * The link in a text, once its signature, row and recipient are verified. Its state is not checked
 * here.
 * @throws ProblemError `INVALID_PARAMETERS` with `details.reason`
 */
export async function openLink({ db, config }: ProxyContext, text: string): Promise<OpenedLink> {
  const read = readLink(text)
  if (!read || !(await isGenuine(db, read))) throw refuseLink('link_changed')
  const row = await findLink(db, read.terms.id)
  if (!row || row.link !== text) throw refuseLink('link_unknown')
  // The seller may have lost control of a wallet that was removed from the list.
  if (!config.sellerWallets.includes(read.terms.recipient)) throw refuseLink('link_wallet')
  return { row, terms: read.terms }
}

function stateOf(row: LinkRow, counts: Pick<LinkCounts, 'taken'>, now: Date): LinkState {
  if (row.withdrawnAt) return 'withdrawn'
  if (row.maxPayments !== null && counts.taken >= row.maxPayments) return 'used'
  return row.expiresAt && row.expiresAt <= now ? 'expired' : 'open'
}

/** The state of a link now. The payments of a link that takes any number are not counted. */
export async function readState(context: ProxyContext, row: LinkRow): Promise<LinkState> {
  const { id, maxPayments } = row
  const taken = maxPayments === null ? 0 : await countTaken(context.db, { id, maxPayments })
  return stateOf(row, { taken }, context.now())
}

export type LinkUse = {
  counts: LinkCounts
  surplus?: readonly string[]
  /** What of its payments was refunded; undefined where the service could not be asked. */
  refunds?: LinkRefunds | undefined
  /** Of more of them it may be unknown whether they were refunded. */
  partlyRead?: boolean
  now: Date
}

export type LinkRefunds = ReadonlyMap<string, 'partial' | 'full'>

export function describeLink(row: LinkRow, use: LinkUse): LinkBody {
  const read = readLink(row.link)
  if (!read) throw new Error(`The link ${row.id} cannot be read back.`)
  return { ...usageOf(row, use), terms: read.terms }
}

export function describeShortLink(row: LinkRow, use: LinkUse): ShortLinkBody {
  if (!row.short) throw new Error(`The link ${row.id} is not a short one.`)
  return { ...usageOf(row, use), short: row.short }
}

function usageOf(row: LinkRow, use: LinkUse) {
  const { counts, surplus = [], refunds, partlyRead, now } = use
  return {
    link: row.link,
    state: stateOf(row, counts, now),
    paid: counts.paid,
    pending: counts.pending,
    surplus: [...surplus],
    refunded: refunds && !partlyRead ? countRefunds(row, { ...use, refunds }) : null,
    createdAt: row.createdAt.getTime(),
    withdrawnAt: row.withdrawnAt?.getTime() ?? null,
  }
}

/**
 * Of the payments that a link takes, how many went back. One that went back in full and whose place
 * another payment has taken is not among them.
 */
function countRefunds(
  { maxPayments }: LinkRow,
  { counts, surplus = [], refunds }: LinkUse & { refunds: LinkRefunds },
): { full: number; partial: number } {
  const owed = new Set(surplus)
  const partial = [...refunds].filter(([id, state]) => state === 'partial' && !owed.has(id)).length
  const returned = [...refunds.values()].filter((state) => state === 'full').length
  const takes = maxPayments ?? counts.paid
  const full = Math.min(takes, counts.paid) - Math.min(takes, counts.paid - returned)
  return { full: Math.max(0, full), partial }
}

export type LinkRequest = v.InferOutput<(typeof browserEndpoints)['linkCreate']['body']>

/** Makes and keeps a link. @throws ProblemError `INVALID_PARAMETERS` that names every field that is wrong */
export async function createLink(
  context: ProxyContext,
  request: LinkRequest,
  createdBy: string,
): Promise<LinkRow> {
  const terms = readTerms(context, request)
  const now = context.now()
  const key = await signingKey(context.db, now)
  const payload = linkPayload(terms, key.id)
  const row: LinkRow = {
    id: terms.id,
    link: macOf(payload, key.secret) + payload,
    code: null,
    short: null,
    expiresAt: terms.expiresAt === null ? null : new Date(terms.expiresAt),
    maxPayments: terms.maxPayments,
    createdBy,
    createdAt: now,
    withdrawnAt: null,
  }
  await insertLink(context.db, row)
  return row
}

function readTerms({ config, now }: ProxyContext, request: LinkRequest): LinkTerms {
  const details: Record<string, string> = {}
  const network = config.networks.find((known) => known.network === request.network)
  if (!network)
    details['network'] =
      `Expected one of ${config.networks.map((known) => known.network).join(', ')}.`
  const asset = network && findAsset(network, request.asset)
  if (network && !asset)
    details['asset'] =
      `Expected an asset of ${network.name}: ${network.assets.map(({ symbol }) => symbol).join(', ')}.`
  const recipient = parseAddress(request.recipient)
  if (!config.sellerWallets.includes(request.recipient))
    details['recipient'] =
      `Expected one of the seller's wallets: ${config.sellerWallets.join(', ')}.`
  else if (network && recipient.ok && recipient.family !== familyOf(network.network))
    details['recipient'] = `Expected a wallet on ${network.name}.`
  const amount =
    request.amount !== undefined && asset ? parseAmount(request.amount, asset.decimals) : undefined
  if (amount && !amount.ok)
    details['amount'] = describeAmountProblem(
      amount.problem,
      request.amount ?? '',
      asset?.decimals ?? 0,
    )
  if (request.expiresAt !== undefined && request.expiresAt <= now().getTime())
    details['expiresAt'] = 'Expected a time to come.'
  requireNoProblems(details)
  return {
    id: createId('lnk'),
    network: request.network,
    recipient: request.recipient,
    asset: asset?.address ?? '',
    amountAtomic: amount?.ok ? amount.atomic.toString() : null,
    resource: request.resource ?? null,
    description: request.description ?? null,
    reference: request.reference ?? null,
    expiresAt: request.expiresAt ?? null,
    maxPayments: request.maxPayments ?? null,
    returnUrl: request.returnUrl ?? null,
  }
}
