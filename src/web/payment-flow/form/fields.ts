import { t } from '@lingui/core/macro'
import { maxFeeAtomic as maxFeeOnEvm } from '#chains/evm/fee.ts'
import { maxFeeAtomic as maxFeeOnSolana } from '#chains/solana/fee.ts'
import { parseAddress, type Family } from '#contract/address.ts'
import { formatAmount, parseAmount, type ParsedAmount } from '#contract/amount.ts'
import { familyOf, nativeAsset, type Asset, type Network } from '#contract/network.ts'
import { isEmail } from '#contract/payment-link.ts'
import { serverNow } from '../../api/clock.ts'
import { readDecimal, separators } from '../../locales/decimal.ts'
import { numberLocale } from '../../locales/formats.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import { formatAmountText } from '../../ui/format-amount.ts'
import type { ConnectedAccount } from '../../wallet/state/accounts.ts'
import type { OpenLink } from './open-link.ts'

/** The form's values, as typed. */
export type CheckoutFields = {
  network: string
  /** The address of an asset of the network. */
  asset: string
  recipient: string
  amount: string
  resource: string
  description: string
  reference: string
  /** Of a link that asks for it. */
  email: string
  fee: FeeChoice
  /** With `custom`: what the validator gets, in the native currency. */
  priorityFee: string
}

export const FEE_CHOICES = ['auto', 'low', 'high', 'custom'] as const
export type FeeChoice = (typeof FEE_CHOICES)[number]

/**
 * The most a payer may add for the validator, in native currency: above it, an extra zero is
 * likelier than intent.
 */
const MAX_PRIORITY_FEE = '0.01'

/** Why a typed decimal cannot be read: `ambiguous` could be a thousand times more or less. */
type ReadAmount = ParsedAmount | { ok: false; problem: 'ambiguous' }

/** The typed amount, read in the reader's own number format. */
export function readAmount(
  text: string,
  asset: Pick<Asset, 'decimals'>,
  locale = numberLocale(),
): ReadAmount {
  const typed = readDecimal(text, locale)
  if (!typed.ok)
    return { ok: false, problem: typed.problem === 'ambiguous' ? 'ambiguous' : 'not_a_decimal' }
  return parseAmount(typed.plain.replace(/^0+(?=[0-9])/, ''), asset.decimals)
}

/** The amount to prefill in a field: every digit, with the reader's decimal point. */
export function writeAmount(atomic: bigint, decimals: number): string {
  return localDecimal(formatAmount(atomic, decimals))
}

/** A plain decimal, as in a page's URL, with the reader's decimal point. */
export function localDecimal(plain: string): string {
  return plain.replace('.', separators(numberLocale()).point)
}

/** Addresses copied from chats may contain invisible characters. */
export function cleanRecipient(text: string): string {
  return text.replace(/[\s\u200b-\u200f\u202a-\u202e\u2060\ufeff]/g, '')
}

export function validateRecipient(
  text: string,
  network: Network,
  sender: string | undefined,
): string | true {
  const parsed = parseAddress(cleanRecipient(text))
  if (!parsed.ok)
    return parsed.problem === 'bad_checksum'
      ? t`Wrong checksum. Copy it again.`
      : t`Paste the whole address.`
  const expected = familyOf(network.network)
  if (parsed.family !== expected) return wrongFamily(expected)
  return parsed.address === sender ? payYourself() : true
}

/** Nothing would move but the fee, and the service does not prepare it. */
export function payYourself(): string {
  return t`This is your paying wallet.`
}

/** What the proxy would answer anybody but an operator. */
export function paysOnly(seller: string): string {
  return t`This checkout pays only ${seller}.`
}

export type AmountLimits = {
  /** Of the asset itself; the network fee is checked separately. */
  balanceAtomic?: bigint | undefined
  /** What is left of a payment to refund. */
  refundableAtomic?: bigint | undefined
}

export function checkAmount(
  text: string,
  asset: Asset,
  { balanceAtomic, refundableAtomic }: AmountLimits = {},
): string | true {
  const parsed = readAmount(text, asset)
  if (!parsed.ok)
    return text.trim() === '' ? t`Enter an amount.` : describeProblem(parsed.problem, asset)
  if (refundableAtomic !== undefined && parsed.atomic > refundableAtomic) {
    const left = formatWithSymbol(refundableAtomic, asset)
    return t`At most ${left} can be refunded.`
  }
  if (balanceAtomic !== undefined && parsed.atomic > balanceAtomic) {
    const [held, lacking] = [
      formatWithSymbol(balanceAtomic, asset),
      formatWithSymbol(parsed.atomic - balanceAtomic, asset),
    ]
    return t`You hold ${held}. You need ${lacking} more.`
  }
  return asset.native && parsed.atomic === balanceAtomic
    ? t`Leave enough for the network fee.`
    : true
}

export function checkResource(text: string): string | true {
  if (text.trim() === '') return true
  return /^https?:\/\/\S+$/.test(text.trim()) && URL.canParse(text.trim()) && text.length <= 2048
    ? true
    : t`Enter an address with https://.`
}

export function checkEmail(text: string): string | true {
  return text.trim() === '' || isEmail(text.trim()) || t`Enter an email address.`
}

/** A custom priority fee. */
export function checkPriorityFee(text: string, native: Asset): string | true {
  const parsed = readAmount(text, native)
  if (!parsed.ok)
    return text.trim() === '' ? t`Enter an amount.` : describeProblem(parsed.problem, native)
  const most = parseAmount(MAX_PRIORITY_FEE, native.decimals)
  if (!most.ok || parsed.atomic <= most.atomic) return true
  const maximum = formatWithSymbol(most.atomic, native)
  return t`Enter at most ${maximum}.`
}

/**
 * The highest network fee a payment may cost, no matter what the service builds: the review checks
 * against it.
 */
export function feeCapOf(
  network: Network,
  asset: Asset,
  priorityFeeAtomic: bigint | undefined,
): bigint {
  return familyOf(network.network) === 'evm'
    ? maxFeeOnEvm(priorityFeeAtomic, asset)
    : maxFeeOnSolana(priorityFeeAtomic)
}

/** The value of a custom fee, if it can be read. */
export function customFeeAtomic(
  fields: Pick<CheckoutFields, 'fee' | 'priorityFee'>,
  network: Network,
): bigint | undefined {
  if (fields.fee !== 'custom') return undefined
  const read = readAmount(fields.priorityFee, nativeAsset(network))
  return read.ok ? read.atomic : undefined
}

export type CheckoutForm = {
  network: Network
  asset: Asset
  account: ConnectedAccount
  priorityFeeAtomic: bigint | undefined
  link: OpenLink | undefined
  refundOf: string | undefined
}

/**
 * The order of validated fields. Its id is created here, before the first request. A link's terms
 * are taken from the link.
 */
export function checkoutIntentOf(
  fields: CheckoutFields,
  { network, asset, account, priorityFeeAtomic, link, refundOf }: CheckoutForm,
): WalletPaymentIntent {
  const [recipient, amount] = [
    parseAddress(cleanRecipient(fields.recipient)),
    readAmount(fields.amount, asset),
  ]
  const set = link?.terms.amountAtomic ?? null
  const amountAtomic = set === null ? (amount.ok ? amount.atomic : undefined) : BigInt(set)
  if (!recipient.ok || amountAtomic === undefined)
    throw new Error('The form was submitted before it was checked.')
  return {
    id: crypto.randomUUID(),
    createdAt: serverNow(),
    network: network.network,
    asset,
    sender: account.address,
    recipient: link?.terms.recipient ?? recipient.address,
    amountAtomic,
    walletName: account.walletName,
    ...(refundOf !== undefined && !link && { refundOf }),
    ...(priorityFeeAtomic !== undefined && { priorityFeeAtomic }),
    ...optional('resource', link ? (link.terms.resource ?? '') : fields.resource),
    ...optional('description', link?.terms.description ?? fields.description),
    ...optional('reference', link?.terms.reference ?? fields.reference),
    ...(link && {
      link: {
        text: link.text,
        setBy: link.setBy,
        returnUrl: link.terms.returnUrl,
        ...(link.choice && { choice: link.choice }),
        ...(link.askEmail && optional('email', fields.email)),
      },
    }),
    ...(link?.quote && { quote: link.quote }),
    ...(link?.item && { item: link.item }),
    ...(link?.quantity && { quantity: link.quantity }),
  }
}

function optional<K extends string>(key: K, text: string): Partial<Record<K, string>> {
  const value = text.trim()
  // The key is the one passed in; a computed key widens to string.
  return value === '' ? {} : ({ [key]: value } as Record<K, string>)
}

export function formatWithSymbol(
  atomic: bigint,
  asset: Pick<Asset, 'decimals' | 'symbol'>,
): string {
  return `${formatAmountText(atomic, asset.decimals, { exact: true }).text} ${asset.symbol}`
}

function describeProblem(
  problem: Exclude<ReadAmount, { ok: true }>['problem'],
  asset: Asset,
): string {
  const { decimals } = asset
  const { point } = separators(numberLocale())
  switch (problem) {
    case 'ambiguous':
      return t`Omit thousands separators. Use “${point}” for decimals.`
    case 'not_positive':
      return t`Enter more than 0.`
    case 'too_many_decimals':
      return t`Up to ${decimals} decimals.`
    case 'too_large':
      return t`The number is too large.`
    case 'not_a_decimal':
      return t`Enter a number.`
  }
}

function wrongFamily(expected: Family): string {
  return expected === 'evm' ? t`Enter an Ethereum address.` : t`Enter a Solana address.`
}
