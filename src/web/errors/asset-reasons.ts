import { msg } from '@lingui/core/macro'
import type { AssetReason } from '#contract/reasons.ts'
import type { ErrorRow } from './row.ts'

const operator = { who: 'operator', action: 'change', retry: 'after_change' } as const

/** The table's part for tokens that cannot be paid exactly. A missing code does not compile. */
export const assetReasons: Readonly<Record<AssetReason['code'], ErrorRow>> = {
  asset_missing: {
    ...operator,
    title: msg({ message: '{symbol} does not exist on this network' }),
    body: msg`Choose another currency, or tell the merchant. Nothing was sent.`,
  },
  asset_decimals_differ: {
    ...operator,
    title: msg({ message: '{symbol} is configured incorrectly' }),
    body: msg({
      message:
        'The token has {onChain} decimals, not {configured}. Choose another currency, or tell the merchant. Nothing was sent.',
    }),
  },
  asset_not_transferable: {
    ...operator,
    title: msg({ message: '{symbol} cannot be transferred' }),
    body: msg`Its issuer does not allow transfers. Choose another currency. Nothing was sent.`,
  },
  asset_calls_program: {
    ...operator,
    title: msg({ message: '{symbol} runs another program with every transfer' }),
    body: msg`That program is not known here. Choose another currency. Nothing was sent.`,
  },
  asset_keeps_part: {
    ...operator,
    title: msg({ message: '{symbol} keeps a part of every transfer' }),
    body: msg({
      message: 'Of {sent}, only {arrives} would arrive. Choose another currency. Nothing was sent.',
    }),
  },
  asset_gas_too_high: {
    ...operator,
    title: msg({ message: '{symbol} needs too much gas' }),
    body: msg({
      message:
        'A transfer of it needs more than {maxGas} gas. Choose another currency. Nothing was sent.',
    }),
  },
}
