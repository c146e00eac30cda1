import { formatAmount } from '#contract/amount.ts'
import type { PublicConfig } from '#contract/dashboard-endpoints.ts'
import { dueDay, fiatDecimals, type InvoiceCurrency, type InvoiceLine } from '#contract/invoice.ts'
import type { InvoiceBody } from '#contract/invoice-endpoints.ts'
import { RATE_DECIMALS } from '#contract/quote.ts'
import { serverNow } from '../../api/clock.ts'
import { localDecimal, readAmount } from '../../payment-flow/form/fields.ts'
import { pricedNetworks } from '../../payment-flow/form/start-values.ts'

type LineForm = { name: string; quantity: string; unitPrice: string; taxPercent: string }
export type InvoiceForm = {
  name: string
  email: string
  address: string
  dueOn: string
  currency: string
  lines: LineForm[]
  note: string
}
export const EMPTY_LINE: LineForm = { name: '', quantity: '1', unitPrice: '', taxPercent: '' }

export function formOf(
  draft: InvoiceBody | undefined,
  { currency, timeZone }: { currency: string; timeZone: string },
): InvoiceForm {
  return {
    name: draft?.customer?.name ?? '',
    email: draft?.customer?.email ?? '',
    address: draft?.customer?.address ?? '',
    dueOn: draft?.dueOn ?? dueDay(timeZone, new Date(serverNow())),
    currency: draft?.currency.code ?? currency,
    lines: draft?.lines.map(({ name, quantity, unitPrice, taxPercent }) => ({
      name,
      quantity: localDecimal(quantity),
      unitPrice: localDecimal(unitPrice),
      taxPercent: localDecimal(taxPercent ?? ''),
    })) ?? [EMPTY_LINE],
    note: draft?.note ?? '',
  }
}

/** Typed decimals in the spelling of the API. They were checked before. */
function plain(text: string, decimals: number): string {
  const read = readAmount(text, { decimals })
  return read.ok ? formatAmount(read.atomic, decimals) : '0'
}

function lineOf(line: LineForm): InvoiceLine {
  return {
    name: line.name.trim(),
    quantity: plain(line.quantity, 3),
    unitPrice: plain(line.unitPrice, RATE_DECIMALS),
    taxPercent: line.taxPercent.trim() === '' ? null : plain(line.taxPercent, 2),
  }
}

/**
 * The lines that have a price. Undefined while a figure of one is wrong, or none has a price: a sum would be of something
 * else than what is typed.
 */
export function linesSoFar(typed: readonly LineForm[]): InvoiceLine[] | undefined {
  const priced = typed.filter(({ unitPrice }) => unitPrice.trim() !== '')
  const isRight = ({ quantity, unitPrice, taxPercent }: LineForm) =>
    readAmount(quantity, { decimals: 3 }).ok &&
    readAmount(unitPrice, { decimals: RATE_DECIMALS }).ok &&
    (isNoTax(taxPercent) || readAmount(taxPercent, { decimals: 2 }).ok)
  return priced.length > 0 && priced.every(isRight) ? priced.map(lineOf) : undefined
}

export function isNoTax(taxPercent: string): boolean {
  return /^0?$/.test(taxPercent.trim())
}

/** The currency of an invoice, with the decimals that the server rounds to. */
export function currencyOf(
  config: Pick<PublicConfig, 'networks' | 'sellerWallets'>,
  code: string,
): InvoiceCurrency {
  const assets = pricedNetworks(config).flatMap((network) => network.assets)
  const decimals = assets.filter(({ symbol }) => symbol === code).map((asset) => asset.decimals)
  return decimals.length > 0
    ? { kind: 'asset', code, decimals: Math.min(RATE_DECIMALS, ...decimals) }
    : { kind: 'fiat', code, decimals: fiatDecimals(code) }
}

export function requestOf({ name, email, address, dueOn, currency, lines, note }: InvoiceForm) {
  return {
    dueOn,
    currency,
    lines: lines.map(lineOf),
    ...(name.trim() && {
      customer: {
        name: name.trim(),
        ...(email.trim() && { email: email.trim() }),
        ...(address.trim() && { address: address.trim() }),
      },
    }),
    ...(note.trim() && { note: note.trim() }),
  }
}
