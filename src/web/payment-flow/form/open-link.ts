import { queryOptions } from '@tanstack/react-query'
import type { PublicConfig } from '#contract/dashboard-endpoints.ts'
import type { LinkOption, OpenedShortLink } from '#contract/link-endpoints.ts'
import type { InvoiceFace } from '#contract/invoice.ts'
import { findAsset, type Asset, type Network } from '#contract/network.ts'
import {
  differingTerm,
  isLinkCode,
  readLink,
  type ItemPrice,
  type LinkItem,
  type LinkState,
  type LinkTerms,
  type ReadLink,
} from '#contract/payment-link.ts'
import { amountAtRate, priceOf, type RateQuote } from '#contract/quote.ts'
import type { LinkChoice, PaymentItem, PaymentQuantity } from '../../payment-intent/intent.ts'
import { callProxy, proxyAddress } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { refusalOf, formatRefusal, type RefusalReason } from '../../errors/refusals.ts'

/** A link whose terms the proxy found genuine and the page found equal to what the link contains. */
export type OpenLink = {
  text: string
  terms: LinkTerms
  network: Network
  asset: Asset
  /** The seller's name and the host that signed, for the payer. */
  setBy: string
  /** Of a short link: the way to pay it that was chosen. */
  choice?: LinkChoice
  /** Whether the payer is asked for an e-mail address. */
  askEmail?: boolean
  quote?: RateQuote
  item?: PaymentItem
  quantity?: PaymentQuantity
  invoice?: InvoiceFace
}

/** A short link, whose payer chooses the currency. */
export type ShortLink = { text: string; opened: OpenedShortLink; setBy: string }

/** `retry`: the same link may be payable in a moment. */
export type LinkProblem = { reason: RefusalReason; title: string; body: string; retry: boolean }
export type LinkView =
  | { kind: 'open'; link: OpenLink }
  | { kind: 'closed'; link: OpenLink; problem: LinkProblem }
  | { kind: 'short'; short: ShortLink; problem: LinkProblem | undefined }
  | { kind: 'refused'; problem: LinkProblem }

type Answer =
  | { kind: 'short'; opened: OpenedShortLink }
  | { kind: 'signed'; own: ReadLink; terms: LinkTerms; state: LinkState }
  /** What cannot even be read needs no proxy to be refused. */
  | { kind: 'unreadable' }

async function requestAnswer(text: string, signal?: AbortSignal): Promise<Answer> {
  const [request, options] = [{ body: { link: text } }, { ...(signal && { signal }) }]
  if (isLinkCode(text))
    return { kind: 'short', opened: await callProxy('linkOpen', request, options) }
  const own = readLink(text)
  if (!own) return { kind: 'unreadable' }
  return { kind: 'signed', own, ...(await callProxy('linkRead', request, options)) }
}

/** Of the link of the first page, until the page takes it. */
let early: { text: string; answer: Promise<Answer>; sentAt: number } | undefined
let taken = false
/** The page takes no older answer: until it is there, a link may be paid or withdrawn, and its price may change. */
const EARLY_MS = 20_000

/** Asks the proxy about the link of the first page, whose code is still on its way. */
export function requestEarly(text: string): void {
  if (taken) return
  const request = { text, answer: requestAnswer(text), sentAt: Date.now() }
  early = request
  // What failed before the page is there, the page asks again.
  request.answer.catch(() => early === request && (early = undefined))
}

function takeAnswer(text: string, signal: AbortSignal): Promise<Answer> {
  const isFresh = early?.text === text && Date.now() - early.sentAt < EARLY_MS
  const answer = early && isFresh ? early.answer : requestAnswer(text, signal)
  early = undefined
  taken = true
  return answer
}

/** Asks the proxy about a link. What is wrong with the link is an answer; an error is that nobody could be asked. */
export function linkQuery(text: string, config: PublicConfig) {
  return queryOptions({
    queryKey: ['linkRead', text],
    queryFn: ({ signal }) => openLink(text, config, signal),
    retry: (failures, error) => failures < 2 && error instanceof ApiError && error.retryable,
    staleTime: 0,
  })
}

async function openLink(
  text: string,
  config: PublicConfig,
  signal: AbortSignal,
): Promise<LinkView> {
  try {
    return viewOf(text, await takeAnswer(text, signal), config)
  } catch (error) {
    const reason = linkReason(error)
    if (reason) return { kind: 'refused', problem: linkProblem(reason) }
    throw error
  }
}

function viewOf(text: string, answer: Answer, config: PublicConfig): LinkView {
  if (answer.kind === 'unreadable') return { kind: 'refused', problem: linkProblem('link_changed') }
  const setBy = nameOf(config)
  // The proxy keeps the terms of a short link, and is believed: its code says nothing.
  if (answer.kind === 'short') {
    const { opened } = answer
    const problem = opened.state === 'open' ? undefined : linkProblem(`link_${opened.state}`)
    return { kind: 'short', short: { text, opened, setBy }, problem }
  }
  const { own, terms, state } = answer
  if (differingTerm(own.terms, terms))
    return { kind: 'refused', problem: linkProblem('link_other_terms') }
  const network = config.networks.find((each) => each.network === terms.network)
  const asset = network && findAsset(network, terms.asset)
  if (!network || !asset) return { kind: 'refused', problem: linkProblem('link_network') }
  const link = { text, terms: own.terms, network, asset, setBy }
  return state === 'open'
    ? { kind: 'open', link }
    : { kind: 'closed', link, problem: linkProblem(`link_${state}`) }
}

function nameOf({ title }: PublicConfig): string {
  return `${title} · ${new URL(proxyAddress('/')).host}`
}

/** A short link as a link of one currency, for a number of pieces; undefined where this page does not know the currency. */
export function linkOfOption(
  { text, opened, setBy }: ShortLink,
  option: LinkOption,
  { pieces, networks }: { pieces: number; networks: readonly Network[] },
): OpenLink | undefined {
  const network = networks.find((each) => each.network === option.network)
  const asset = network && findAsset(network, option.asset)
  if (!network || !asset) return undefined
  const { price, only: _only, maxPieces, askEmail, item, invoice, ...common } = opened.terms
  const { quote } = option
  const amount =
    price?.kind === 'fiat' && quote
      ? amountAtRate(price.amount, quote.rate, { pieces, decimals: asset.decimals })
      : option.amountAtomic === null
        ? null
        : BigInt(option.amountAtomic) * BigInt(pieces)
  const { network: id, recipient } = option
  const terms = { ...common, network: id, recipient, asset: asset.address }
  const choice = {
    token: quote?.token ?? null,
    pieces,
    open: {
      amount: amount === null,
      description: common.description === null,
      reference: common.reference === null,
      asset: opened.options.length > 1,
    },
  }
  return {
    text,
    terms: { ...terms, amountAtomic: amount?.toString() ?? null },
    network,
    asset,
    setBy,
    choice,
    askEmail,
    ...(invoice && { invoice }),
    ...(item && price && { item: itemOf(item, price, pieces) }),
    ...(!item && price && maxPieces > 1 && { quantity: { price, pieces } }),
    ...(price?.kind === 'fiat' && quote && { quote: quoteFor({ opened, price, quote, pieces }) }),
  }
}

function itemOf(
  { name, description, image }: LinkItem,
  price: ItemPrice,
  pieces: number,
): PaymentItem {
  return { name, description, image, price, pieces }
}

function quoteFor({
  opened,
  price,
  quote,
  pieces,
}: {
  opened: OpenedShortLink
  price: { currency: string; amount: string }
  quote: NonNullable<LinkOption['quote']>
  pieces: number
}): RateQuote {
  const { token: _token, ...rate } = quote
  return {
    currency: price.currency,
    amount: priceOf(price.amount, pieces),
    ...rate,
    quotedAt: opened.quotedAt ?? 0,
    expiresAt: opened.expiresAt ?? 0,
  }
}

/** What a refusal says about the link itself, if it is about one. */
export function linkReason(error: unknown): RefusalReason | undefined {
  const reason = refusalOf(error)
  return reason !== undefined && /^(link|quote|rate)_/.test(reason) ? reason : undefined
}

/** Why a link cannot be paid, in the payer's terms. */
export function linkProblem(reason: RefusalReason): LinkProblem {
  const { title, body, action } = formatRefusal(reason)
  return { reason, title, body, retry: action === 'retry' }
}
