import { formatAmount } from '#contract/amount.ts'
import { RATE_DECIMALS } from '#contract/quote.ts'
import type { Asset } from '#contract/network.ts'
import { serverNow } from '../../api/clock.ts'
import { readAmount } from '../../payment-flow/form/fields.ts'

/** What the form holds, as typed. */
export type LinkForm = {
  network: string
  recipient: string
  asset: string
  amount: string
  description: string
  reference: string
  resource: string
  returnUrl: string
  lasts: keyof typeof LASTS_MS
  uses: 'one' | 'any'
  /** How many pieces one payment may buy, as typed. */
  pieces: string
  askEmail: boolean
}

/** In place of a network: a link that is paid on any of them. */
export const EVERY_NETWORK = 'every'

const HOUR_MS = 3_600_000
const LASTS_MS = {
  hour: HOUR_MS,
  day: 24 * HOUR_MS,
  week: 7 * 24 * HOUR_MS,
  month: 30 * 24 * HOUR_MS,
  always: undefined,
} as const

export function emptyLinkForm(currency: string): LinkForm {
  const texts = { amount: '', description: '', reference: '', resource: '', returnUrl: '' }
  return {
    ...texts,
    network: EVERY_NETWORK,
    recipient: '',
    asset: currency,
    lasts: 'week',
    uses: 'one',
    pieces: '1',
    askEmail: false,
  }
}

/**
 * What the proxy is asked for: a price in fiat or in one currency, paid on every network, or with
 * `only` in one currency of one network.
 */
export function linkRequestOf(fields: LinkForm, only: Asset | undefined) {
  const decimals = only?.decimals ?? RATE_DECIMALS
  const read = readAmount(fields.amount, { decimals })
  const amount = read.ok ? formatAmount(read.atomic, decimals) : ''
  const { network, recipient } = fields
  return {
    ...(amount !== '' && { price: { currency: only?.symbol ?? fields.asset, amount } }),
    ...(only && { only: { network, recipient, asset: only.address } }),
    ...quantityOf(fields),
    ...commonOf(fields),
  }
}

/** A short link that sells a product, which sets the price and the description. */
export function productLinkRequestOf(fields: LinkForm, product: string) {
  return { product, ...quantityOf(fields), ...commonOf({ ...fields, description: '' }) }
}

function quantityOf({ pieces, askEmail }: LinkForm) {
  return {
    ...(/^[0-9]+$/.test(pieces) && Number(pieces) > 1 && { maxPieces: Number(pieces) }),
    ...(askEmail && { askEmail: true }),
  }
}

function commonOf(fields: LinkForm) {
  const lasts = LASTS_MS[fields.lasts]
  const texts = (['description', 'reference', 'resource', 'returnUrl'] as const).flatMap((name) =>
    fields[name].trim() ? [[name, fields[name].trim()]] : [],
  )
  return {
    ...(lasts !== undefined && { expiresAt: serverNow() + lasts }),
    ...(fields.uses === 'one' && { maxPayments: 1 }),
    ...Object.fromEntries(texts),
  }
}
