import { t } from '@lingui/core/macro'
import { formatAmount } from '#contract/amount.ts'
import type { FactTexts, MoneyAsset, SharedFact } from '#contract/facts.ts'
import { separators } from '../locales/decimal.ts'
import { formatDate, formatNumber, numberLocale } from '../locales/formats.ts'

/** The texts of the facts that comparisons and checks share. Names, addresses and hashes are the same in every language. */
export const sharedTexts: FactTexts<SharedFact> = {
  address: ({ address }) => address,
  amount: formatMoney,
  count: ({ count }) => formatNumber(count),
  network: ({ network }) => network,
  text: ({ text }) => text,
  data: ({ data }) => data,
  transaction: ({ transaction }) => transaction,
  time: ({ at }) => formatMoment(at),
  no_expiry: () => t`no expiry`,
  none: () => t`none`,
  nothing: () => t`nothing`,
  nobody: () => t`nobody`,
  failed: () => t`failed`,
  plain_transfer: () => t`plain transfer`,
  one_transfer: () => t`one transfer`,
  another_transaction: () => t`another transaction`,
  compute_limit: () => t`fee limit`,
  compute_price: () => t`fee price`,
  transfer: () => t`transfer`,
  token_transfer: () => t`token transfer`,
  memo: () => t`memo`,
  wallet_guard: () => t`wallet guard`,
  account_opened: () => t`token account opened`,
  other_instruction: () => t`another instruction`,
  // What a decoder objects to is a detail for engineers, in English.
  unreadable: ({ problem }) => problem,
}

/** `1234.5 ETH` as the reader writes it. Every digit stays. */
export function formatMoney({
  amountAtomic,
  symbol,
  decimals,
}: MoneyAsset & { amountAtomic: string }): string {
  return `${formatDigits(formatAmount(BigInt(amountAtomic), decimals))} ${symbol}`
}

/** `1234.5` as the reader writes it. Every digit stays. */
export function formatDigits(plain: string): string {
  const { group, point } = separators(numberLocale())
  const [whole = '', fraction] = plain.split('.')
  const grouped = whole.replace(/\B(?=([0-9]{3})+$)/g, group)
  return fraction === undefined ? grouped : `${grouped}${point}${fraction}`
}

/** `at`: Unix milliseconds. */
export function formatMoment(at: number): string {
  return formatDate(at, { dateStyle: 'medium', timeStyle: 'long' })
}
