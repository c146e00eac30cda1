import { formatAmount } from '#contract/amount.ts'
import { LosslessNumber } from '#contract/json.ts'
import { nativeAsset, type Asset, type Network } from '#contract/network.ts'
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
}

const HOUR_MS = 3_600_000
const LASTS_MS = {
  hour: HOUR_MS,
  day: 24 * HOUR_MS,
  week: 7 * 24 * HOUR_MS,
  month: 30 * 24 * HOUR_MS,
  always: undefined,
} as const

export function emptyLinkForm(
  network: Network | undefined,
  recipient: string | undefined,
): LinkForm {
  const texts = { amount: '', description: '', reference: '', resource: '', returnUrl: '' }
  return {
    ...texts,
    network: network?.network ?? '',
    recipient: recipient ?? '',
    asset: network ? nativeAsset(network).address : '',
    lasts: 'week',
    uses: 'one',
  }
}

/** What the proxy is asked for. */
export function linkRequestOf(fields: LinkForm, asset: Asset) {
  const read = fields.amount.trim() === '' ? undefined : readAmount(fields.amount, asset)
  const lasts = LASTS_MS[fields.lasts]
  const texts = (['description', 'reference', 'resource', 'returnUrl'] as const).flatMap((name) =>
    fields[name].trim() ? [[name, fields[name].trim()]] : [],
  )
  return {
    network: fields.network,
    recipient: fields.recipient,
    asset: asset.address,
    ...(read?.ok && { amount: new LosslessNumber(formatAmount(read.atomic, asset.decimals)) }),
    ...(lasts !== undefined && { expiresAt: serverNow() + lasts }),
    ...(fields.uses === 'one' && { maxPayments: 1 }),
    ...Object.fromEntries(texts),
  }
}
