import { randomInt } from 'node:crypto'
import type * as v from 'valibot'
import { parseAmount } from '#contract/amount.ts'
import type { browserEndpoints } from '#contract/browser-endpoints.ts'
import { createId } from '#contract/payment.ts'
import type { LinkOption, OpenedShortLink } from '#contract/link-endpoints.ts'
import { findAsset, type Asset, type Network } from '#contract/network.ts'
import type { ItemPrice, LinkTerms, ShortTerms } from '#contract/payment-link.ts'
import {
  amountAtRate,
  isOutrun,
  isPrice,
  priceOf,
  QUOTE_LASTS_MS,
  RATE_DECIMALS,
  type RateQuote,
} from '#contract/quote.ts'
import type { BffConfig } from '../config/config.ts'
import { isWalletOn, sellerNetworks } from '../config/seller-networks.ts'
import { requireNoProblems } from '../http/parse.ts'
import type { ProxyContext } from '../context/context.ts'
import { readState, refuseLink, type LinkRefusal, signingKey, type LinkKey } from './open-link.ts'
import { findShortLink, insertLink, type LinkRow } from '../db/links.ts'
import { findProduct, type ProductRow } from '../db/products.ts'
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
  request: ShortLinkRequest,
  createdBy: string,
): Promise<LinkRow> {
  const row = shortLinkRow(context, await readTerms(context, request), createdBy)
  await insertLink(context.db, row)
  return row
}

/** The row of a short link with these terms, under a new code. */
export function shortLinkRow(
  { now }: Pick<ProxyContext, 'now'>,
  short: ShortTerms,
  createdBy: string,
): LinkRow {
  const code = createCode()
  return {
    id: short.id,
    link: code,
    code,
    short,
    expiresAt: short.expiresAt === null ? null : new Date(short.expiresAt),
    maxPayments: short.maxPayments,
    createdBy,
    createdAt: now(),
    withdrawnAt: null,
  }
}

async function readTerms(context: ProxyContext, request: ShortLinkRequest): Promise<ShortTerms> {
  const { config, now } = context
  const details: Record<string, string> = {}
  const only = request.only ? readOnly(config, request.only, details) : null
  const item = request.product === undefined ? null : await readItem(context, request, details)
  const named = item?.price ?? request.price
  const price = named ? readPrice(context, named, { only, details }) : null
  if (request.maxPieces !== undefined && request.maxPieces > 1 && !price)
    details['maxPieces'] = 'Expected a price: the payer chooses the amount of this link.'
  if (request.expiresAt !== undefined && request.expiresAt <= now().getTime())
    details['expiresAt'] = 'Expected a time to come.'
  requireNoProblems(details)
  return {
    id: createId('lnk'),
    price,
    item: item && {
      product: item.id,
      name: item.name,
      description: item.description,
      image: item.imageId,
    },
    invoice: null,
    only,
    maxPieces: request.maxPieces ?? 1,
    askEmail: request.askEmail ?? false,
    resource: request.resource ?? null,
    description: item?.name ?? request.description ?? null,
    reference: request.reference ?? null,
    expiresAt: request.expiresAt ?? null,
    maxPayments: request.maxPayments ?? null,
    returnUrl: request.returnUrl ?? null,
  }
}

/** The product that a link sells, which sets what nothing else may. */
async function readItem(
  { db }: ProxyContext,
  { product, price, description }: ShortLinkRequest,
  details: Record<string, string>,
): Promise<ProductRow | null> {
  const row = product === undefined ? undefined : await findProduct(db, product)
  if (!row) details['product'] = 'Expected one of your products.'
  else if (row.archivedAt) details['product'] = `${row.name} is archived.`
  if (price) details['price'] = 'The product sets this.'
  if (description !== undefined) details['description'] = 'The product sets this.'
  return row ?? null
}

/** The decimals that an amount in an asset may have on every network where the merchant takes it. */
export function assetDecimals({ config }: Pick<ProxyContext, 'config'>, symbol: string): number {
  const ways = waysOf(config, null).filter(({ asset }) => asset.symbol === symbol)
  return Math.min(RATE_DECIMALS, ...ways.map(({ asset }) => asset.decimals))
}

/** A price in fiat or in an asset that the merchant can be paid in; `details` gets what is wrong with it. */
export function readPrice(
  { config, rates }: ProxyContext,
  { currency, amount }: { currency: string; amount: string },
  { only = null, details }: { only?: ShortTerms['only']; details: Record<string, string> },
): ItemPrice {
  const ways = waysOf(config, only)
  const { currencies } = rates
  const symbols = [...new Set(ways.map(({ asset }) => asset.symbol))]
  const kind = symbols.includes(currency) ? 'asset' : 'fiat'
  const price = { kind, currency, amount } as const
  if (kind === 'fiat' && !currencies.includes(currency))
    details['price.currency'] =
      `Expected one of ${[...currencies, ...symbols].join(', ')}, received ${currency}.`
  if (!isPrice(amount)) details['price.amount'] = `Expected a decimal above 0, received ${amount}.`
  else if (kind === 'asset' && waysOfPrice(ways, price).length === 0)
    details['price.amount'] = `${currency} has fewer decimals than ${amount}.`
  return price
}

function readOnly(
  config: BffConfig,
  requested: NonNullable<ShortLinkRequest['only']>,
  details: Record<string, string>,
): ShortTerms['only'] {
  const network = config.networks.find((known) => known.network === requested.network)
  const asset = network && findAsset(network, requested.asset)
  if (!network)
    details['only.network'] =
      `Expected one of ${config.networks.map((known) => known.network).join(', ')}.`
  else if (!asset)
    details['only.asset'] =
      `Expected an asset of ${network.name}: ${network.assets.map(({ symbol }) => symbol).join(', ')}.`
  if (!config.sellerWallets.includes(requested.recipient))
    details['only.recipient'] =
      `Expected one of the seller's wallets: ${config.sellerWallets.join(', ')}.`
  else if (network && !isWalletOn(requested.recipient, network))
    details['only.recipient'] = `Expected a wallet on ${network.name}.`
  return { network: requested.network, recipient: requested.recipient, asset: asset?.address ?? '' }
}

/** Every currency of every network where the merchant is paid, or the one that a link names. */
function waysOf(config: BffConfig, only: ShortTerms['only']): Way[] {
  const { networks, sellerWallets } = config
  const places = only
    ? networks
        .filter(
          (network) => network.network === only.network && isWalletOn(only.recipient, network),
        )
        .filter(() => sellerWallets.includes(only.recipient))
        .map((network) => ({ network, recipient: only.recipient }))
    : sellerNetworks(config)
  return places.flatMap(({ network, recipient }) =>
    network.assets
      .filter((asset) => !only || only.asset === asset.address)
      .map((asset) => ({ network, asset, recipient })),
  )
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
    state: await readState(context, row),
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
