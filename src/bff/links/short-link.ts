import { randomInt } from 'node:crypto'
import type * as v from 'valibot'
import { parseAddress } from '#contract/address.ts'
import { parseAmount } from '#contract/amount.ts'
import type { browserEndpoints } from '#contract/browser-endpoints.ts'
import { createId } from '#contract/id.ts'
import type { LinkOption, OpenedShortLink } from '#contract/link-endpoints.ts'
import { familyOf, findAsset, type Asset, type Network } from '#contract/network.ts'
import type { LinkTerms, ShortTerms } from '#contract/payment-link.ts'
import {
  amountAtRate,
  isOutrun,
  isPrice,
  priceOf,
  QUOTE_LASTS_MS,
  type RateQuote,
} from '#contract/quote.ts'
import type { BffConfig } from '../config/config.ts'
import { requireNoProblems } from '../http/parse.ts'
import type { ProxyContext } from '../context/context.ts'
import { countsOf, refuseLink, stateOf, type LinkRefusal } from './open-link.ts'
import { findShortLink, insertLink, type LinkRow } from '../db/links.ts'
import { signingKey, type LinkKey } from './keys.ts'
import { readQuote, signQuote } from './quote-token.ts'

export type ShortLinkRequest = v.InferOutput<(typeof browserEndpoints)['shortLinkCreate']['body']>

/** One currency on one network, and the merchant's wallet there. */
type Way = { network: Network; asset: Asset; recipient: string }

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const CODE_LENGTH = 12

/** 12 base58 characters, each as likely as any other: 70.3 random bits. */
export function createCode(): string {
  return Array.from({ length: CODE_LENGTH }, () => BASE58.charAt(randomInt(BASE58.length))).join('')
}

/** Makes and keeps a short link. @throws ProblemError `INVALID_PARAMETERS` that names every field that is wrong */
export async function createShortLink(
  context: ProxyContext,
  asked: ShortLinkRequest,
  createdBy: string,
): Promise<LinkRow> {
  const short = readTerms(context, asked)
  const code = createCode()
  const row: LinkRow = {
    id: short.id,
    link: code,
    code,
    short,
    expiresAt: short.expiresAt === null ? null : new Date(short.expiresAt),
    maxPayments: short.maxPayments,
    createdBy,
    createdAt: context.now(),
    withdrawnAt: null,
  }
  await insertLink(context.db, row)
  return row
}

function readTerms({ config, rates, now }: ProxyContext, asked: ShortLinkRequest): ShortTerms {
  const details: Record<string, string> = {}
  const only = asked.only ? readOnly(config, asked.only, details) : null
  const ways = waysOf(config, only)
  const { currencies } = rates
  const symbols = [...new Set(ways.map(({ asset }) => asset.symbol))]
  const { price } = asked
  const kind = price && symbols.includes(price.currency) ? 'asset' : 'fiat'
  if (price && kind === 'fiat' && !currencies.includes(price.currency))
    details['price.currency'] =
      `Expected one of ${[...currencies, ...symbols].join(', ')}, received ${price.currency}.`
  if (price && !isPrice(price.amount))
    details['price.amount'] = `Expected a decimal above 0, received ${price.amount}.`
  else if (price && kind === 'asset' && waysOfPrice(ways, { ...price, kind }).length === 0)
    details['price.amount'] = `${price.currency} has fewer decimals than ${price.amount}.`
  if (asked.maxPieces !== undefined && asked.maxPieces > 1 && !price)
    details['maxPieces'] = 'Expected a price: the payer chooses the amount of this link.'
  if (asked.expiresAt !== undefined && asked.expiresAt <= now().getTime())
    details['expiresAt'] = 'Expected a time to come.'
  requireNoProblems(details)
  return {
    id: createId('lnk'),
    price: price ? { kind, ...price } : null,
    only,
    maxPieces: asked.maxPieces ?? 1,
    askEmail: asked.askEmail ?? false,
    resource: asked.resource ?? null,
    description: asked.description ?? null,
    reference: asked.reference ?? null,
    expiresAt: asked.expiresAt ?? null,
    maxPayments: asked.maxPayments ?? null,
    returnUrl: asked.returnUrl ?? null,
  }
}

function readOnly(
  config: BffConfig,
  asked: NonNullable<ShortLinkRequest['only']>,
  details: Record<string, string>,
): ShortTerms['only'] {
  const network = config.networks.find((known) => known.network === asked.network)
  const asset = network && findAsset(network, asked.asset)
  const recipient = parseAddress(asked.recipient)
  if (!network)
    details['only.network'] =
      `Expected one of ${config.networks.map((known) => known.network).join(', ')}.`
  else if (!asset)
    details['only.asset'] =
      `Expected an asset of ${network.name}: ${network.assets.map(({ symbol }) => symbol).join(', ')}.`
  if (!config.sellerWallets.includes(asked.recipient))
    details['only.recipient'] =
      `Expected one of the seller's wallets: ${config.sellerWallets.join(', ')}.`
  else if (network && recipient.ok && recipient.family !== familyOf(network.network))
    details['only.recipient'] = `Expected a wallet on ${network.name}.`
  return { network: asked.network, recipient: asked.recipient, asset: asset?.address ?? '' }
}

/** Every currency of every network where the merchant has a wallet, or the one that a link names. */
function waysOf({ networks, sellerWallets }: BffConfig, only: ShortTerms['only']): Way[] {
  return networks.flatMap((network) => {
    if (only && only.network !== network.network) return []
    const recipient = sellerWallets.find((wallet) => {
      const parsed = parseAddress(wallet)
      const fits = parsed.ok && parsed.family === familyOf(network.network)
      return fits && (!only || only.recipient === wallet)
    })
    return recipient === undefined
      ? []
      : network.assets
          .filter((asset) => !only || only.asset === asset.address)
          .map((asset) => ({ network, asset, recipient }))
  })
}

/** A price in an asset is paid in that asset alone, on every network that can spell the amount. */
function waysOfPrice(ways: readonly Way[], price: ShortTerms['price']): Way[] {
  return ways.filter(
    ({ asset }) =>
      price?.kind !== 'asset' ||
      (asset.symbol === price.currency && parseAmount(price.amount, asset.decimals).ok),
  )
}

/** The short link of a code. @throws ProblemError `INVALID_PARAMETERS` with the reason `link_unknown` */
export async function findShort(
  { db }: Pick<ProxyContext, 'db'>,
  code: string,
): Promise<{ row: LinkRow; short: ShortTerms }> {
  const row = await findShortLink(db, code)
  if (!row?.short) throw refuseLink('link_unknown')
  return { row, short: row.short }
}

/** A short link with every way to pay it, priced now. */
export async function openShortLink(context: ProxyContext, code: string): Promise<OpenedShortLink> {
  const { row, short } = await findShort(context, code)
  const { price } = short
  const ways = waysOfPrice(waysOf(context.config, short.only), price)
  if (ways.length === 0) throw refuseLink('link_wallet')
  const quotedAt = context.now().getTime()
  const times = { quotedAt, expiresAt: quotedAt + QUOTE_LASTS_MS }
  const key = await signingKey(context.db, context.now())
  const priced = await Promise.all(
    ways.map((way) => priceWay(context, { short, way, key, ...times })),
  )
  const options = priced.flatMap((each) => (typeof each === 'string' ? [] : [each]))
  const refused = priced.find((each) => typeof each === 'string' && each !== 'rate_unknown')
  if (options.length === 0) throw refuseLink(typeof refused === 'string' ? refused : 'rate_unknown')
  const quoted = price?.kind === 'fiat'
  return {
    terms: short,
    state: stateOf(row, await countsOf(context, row.id), context.now()),
    options,
    quotedAt: quoted ? times.quotedAt : null,
    expiresAt: quoted ? times.expiresAt : null,
  }
}

type Priced = { short: ShortTerms; way: Way; key: LinkKey; quotedAt: number; expiresAt: number }

async function priceWay(
  context: ProxyContext,
  { short, way, key, quotedAt, expiresAt }: Priced,
): Promise<LinkOption | LinkRefusal> {
  const { network, asset, recipient } = way
  const option = { network: network.network, recipient, asset: asset.address }
  const { price } = short
  if (price?.kind !== 'fiat')
    return { ...option, amountAtomic: price && unitsOf(price.amount, asset), quote: null }
  const answer = await context.rates.read(asset.symbol, price.currency)
  if (!answer.ok) return answer.reason
  const { rate } = answer
  const token = signQuote(key, {
    linkId: short.id,
    network: option.network,
    asset: option.asset,
    currency: price.currency,
    rate,
    quotedAt,
    expiresAt,
  })
  const amount = amountAtRate(price.amount, rate.rate, { pieces: 1, decimals: asset.decimals })
  return { ...option, amountAtomic: amount.toString(), quote: { token, ...rate } }
}

function unitsOf(text: string, asset: Asset): string {
  const read = parseAmount(text, asset.decimals)
  if (!read.ok) throw refuseLink('link_option')
  return read.atomic.toString()
}

export type ShortChoice = {
  option?: { network: string; asset: string } | undefined
  quote?: string | undefined
  pieces?: number | undefined
}

/**
 * The terms of one way to pay a short link, as if it were a signed link of that currency, and what
 * the payment keeps of the quote. The amount is computed here, from the price of the link and the
 * signed rate: the payer sends neither.
 */
export async function chosenTerms(
  context: ProxyContext,
  short: ShortTerms,
  choice: ShortChoice,
): Promise<{ terms: LinkTerms; metadata: { pieces?: number; quote?: RateQuote } }> {
  const { price, maxPieces } = short
  const { pieces = 1 } = choice
  if (pieces > maxPieces)
    requireNoProblems({ pieces: `Expected at most ${maxPieces}, received ${pieces}.` })
  const way = waysOfPrice(waysOf(context.config, short.only), price).find(
    ({ network, asset }) =>
      network.network === choice.option?.network &&
      asset === findAsset(network, choice.option.asset),
  )
  if (!way) throw refuseLink('link_option')
  const { network, asset, recipient } = way
  const terms = {
    id: short.id,
    network: network.network,
    recipient,
    asset: asset.address,
    resource: short.resource,
    description: short.description,
    reference: short.reference,
    expiresAt: short.expiresAt,
    maxPayments: short.maxPayments,
    returnUrl: short.returnUrl,
  }
  const several = pieces > 1 ? { pieces } : {}
  if (price === null) return { terms: { ...terms, amountAtomic: null }, metadata: several }
  if (price.kind === 'asset') {
    const amount = BigInt(unitsOf(price.amount, asset)) * BigInt(pieces)
    return { terms: { ...terms, amountAtomic: amount.toString() }, metadata: several }
  }
  const { currency } = price
  const use = { linkId: short.id, network: terms.network, asset: terms.asset, currency }
  const { rate, quotedAt, expiresAt } = await readQuote(context, choice.quote ?? '', use)
  // Where no rate is known now, the quote stands.
  const current = await context.rates.read(asset.symbol, currency)
  if (current.ok && isOutrun(rate.rate, current.rate.rate)) throw refuseLink('quote_outrun')
  const { decimals } = asset
  return {
    terms: {
      ...terms,
      amountAtomic: amountAtRate(price.amount, rate.rate, { pieces, decimals }).toString(),
    },
    metadata: {
      ...several,
      quote: { currency, amount: priceOf(price.amount, pieces), ...rate, quotedAt, expiresAt },
    },
  }
}
