import { createId } from '#contract/payment.ts'
import { formatAmount } from '#contract/amount.ts'
import { LosslessNumber } from '#contract/json.ts'
import { findAsset } from '#contract/network.ts'
import { isLinkCode, type LinkTerms } from '#contract/payment-link.ts'
import { requireNoProblems } from '../http/parse.ts'
import type { ProxyContext } from '../context/context.ts'
import { insertContact } from '../db/contacts.ts'
import { findFileByLink } from '../db/files.ts'
import { findLink, findLinkPayment, type LinkPaymentRow } from '../db/links.ts'
import {
  fillLinkUse,
  findLinkUse,
  releaseLinkUse,
  allocateLinkUse,
  type NewLinkUse,
} from '../db/link-places.ts'
import { requireSource } from '../files/source.ts'
import {
  openLink,
  presenterAt,
  readState,
  refuseLink,
  type OpenedLink,
} from '../links/open-link.ts'
import { refreshPayments } from '../links/refresh.ts'
import { chosenTerms, findShort } from '../links/short-link.ts'
import { requestPaymentBuild } from './build-payment.ts'
import type { OwnCall, OwnReply, OwnRule } from '../session/rule.ts'

/**
 * Anyone may have the payment of a link built, on the link's terms. The place is taken before the
 * service is called, so a link for one payment never has two payers signing at the same time.
 */
export const linkPay: OwnRule<'linkPay'> = async (call) => {
  const { context, visitor, body, requestId, idempotencyKey } = call
  // First: the plan of the service is charged after the database was asked.
  context.budgets.spendLink(visitor.address)
  const opened = await openAnyLink(context, body)
  if (opened.row.maxPayments !== null)
    await refreshPayments(context, [opened.row.id], { visitor, requestId })
  const { session } = visitor
  const senderVerified = session?.wallets.includes(body.walletAddress) ?? false
  const payer = {
    id: createId('lpm'),
    sessionId: session?.id,
    requestKey: idempotencyKey && requestKeyOf(idempotencyKey, senderVerified),
    address: visitor.address,
    now: context.now(),
  }
  // A request repeated under its key takes no second place, even if the link is no longer open. Where
  // nothing was built in its place, the link must be open.
  const place =
    (await findLinkUse(context.db, opened.row.id, payer)) ??
    (await takeOpenPlace(context, opened, payer))
  const buildRequest = {
    context,
    visitor,
    requestId,
    idempotencyKey,
    sender: body.walletAddress,
    body: requestOf(context, opened, body),
  }
  const { reply, sessionId, setCookie } = await requestPaymentBuild(buildRequest).catch(
    async (error: unknown) => {
      if (place.id === payer.id) await releaseLinkUse(context.db, place.id)
      throw error
    },
  )
  const { paymentId } = reply.parsed
  const made = { id: payer.id, sessionId, paymentId, sender: body.walletAddress, now: payer.now }
  await fillLinkUse(context.db, place, made).catch(async (error: unknown) => {
    await releaseLinkUse(context.db, place.id)
    // The service repeated the payment of a request whose place was not found by its key: it has its own place.
    if (!(await findLinkPayment(context.db, paymentId))) throw error
  })
  if (body.email !== undefined)
    await insertContact(context.db, {
      paymentId,
      email: body.email,
      sender: body.walletAddress,
      createdAt: payer.now,
    })
  // `value` is the projection of the row that this endpoint names as its answer.
  return {
    value: reply.value as OwnReply<'linkPay'>['value'],
    cookies: setCookie === undefined ? undefined : [setCookie],
    headers: reply.headers,
  }
}

/**
 * The key under which a place is found again. A sender who is proven since then has another payment built, and takes
 * another place for it. No browser's key has a space, so neither spelling can be chosen for the other.
 */
function requestKeyOf(idempotencyKey: string, senderVerified: boolean): string {
  return `${senderVerified ? 'verified' : 'open'} ${idempotencyKey}`
}

type Payable = OpenedLink & { metadata: Record<string, unknown> }

/** A signed link with its terms, or a short one with those of the way to pay that was chosen. */
async function openAnyLink(
  context: ProxyContext,
  body: OwnCall<'linkPay'>['body'],
): Promise<Payable> {
  if (isLinkCode(body.link)) {
    const { row, short } = await findShort(context, body.link)
    if (!short.askEmail) refuseEmail(body)
    return { row, ...(await chosenTerms(context, short, body)) }
  }
  const { option, quote, pieces } = body
  if (option !== undefined || quote !== undefined || pieces !== undefined)
    throw refuseLink('link_option')
  refuseEmail(body)
  return { ...(await openLink(context, body.link)), metadata: {} }
}

/** Nothing personal is kept that the merchant did not ask for. */
function refuseEmail({ email }: OwnCall<'linkPay'>['body']): void {
  if (email !== undefined) requireNoProblems({ email: 'The link does not ask for it.' })
}

async function takeOpenPlace(
  context: ProxyContext,
  { row, terms }: OpenedLink,
  { address, ...payer }: Omit<NewLinkUse, 'presenter'> & { address: string },
): Promise<LinkPaymentRow> {
  const state = await readState(context, row)
  if (state !== 'open') throw refuseLink(`link_${state}`)
  // The link of a file names the file's address.
  const file = terms.resource === null ? undefined : await findFileByLink(context.db, row.id)
  if (file) await requireSource(context, file)
  const presenter =
    row.maxPayments === null ? undefined : await presenterAt(context, row.id, address)
  const place = await allocateLinkUse(context.db, row, { ...payer, presenter })
  if (place) return place
  const now = await findLink(context.db, row.id)
  throw refuseLink(now?.withdrawnAt ? 'link_withdrawn' : 'link_busy')
}

/** The request to the service: what the link sets, and otherwise only what it leaves open. */
function requestOf(
  { config }: ProxyContext,
  { terms, metadata }: { terms: LinkTerms; metadata: Record<string, unknown> },
  body: OwnCall<'linkPay'>['body'],
): Record<string, unknown> {
  const network = config.networks.find((known) => known.network === terms.network)
  const asset = network && findAsset(network, terms.asset)
  if (!network || !asset) throw refuseLink('link_unknown')
  const details: Record<string, string> = {}
  for (const field of ['amount', 'description', 'reference'] as const) {
    const set = field === 'amount' ? terms.amountAtomic : terms[field]
    if (set !== null && body[field] !== undefined) details[field] = 'The link sets this.'
  }
  if (terms.amountAtomic === null && body.amount === undefined)
    details['amount'] = 'Expected an amount: the link leaves it open.'
  requireNoProblems(details)
  const [description, referenceId] = [
    terms.description ?? body.description,
    terms.reference ?? body.reference,
  ]
  return {
    walletAddress: body.walletAddress,
    recipientAddress: terms.recipient,
    amount: new LosslessNumber(
      terms.amountAtomic === null
        ? (body.amount ?? '')
        : formatAmount(BigInt(terms.amountAtomic), asset.decimals),
    ),
    network: terms.network,
    ...(!asset.native && { asset: asset.address }),
    ...(terms.resource !== null && { resource: terms.resource }),
    ...(body.priorityFee !== undefined && { priorityFee: new LosslessNumber(body.priorityFee) }),
    metadata: {
      ...(description !== undefined && { description }),
      ...(referenceId !== undefined && { referenceId }),
      paymentLink: terms.id,
      ...metadata,
    },
  }
}
