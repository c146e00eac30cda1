import { t } from '@lingui/core/macro'
import { pathTo } from '../../paths.ts'
import type { Check } from './check.ts'
import type { Expected } from './local-checks.ts'

/** What is known of a payment that is on the chain. */
export type OnChain = { checks: readonly Check[]; transaction: string | null; payer: string | null }

const AMOUNT = /^([0-9]+(?:\.[0-9]+)?) (\S+)$/

/**
 * The way to send back what came in another amount than was asked for: the reader's own node shows that it came, in this currency, to this wallet.
 * Undefined where anything of that is not certain. The protocol knows no way back by itself.
 */
export function sendBackPath({ checks, transaction, payer }: OnChain, { network, asset }: Expected): string | undefined {
  const told = new Map(checks.filter(({ source }) => source === 'chain').map((check) => [check.name, check]))
  const [, amount, symbol] = AMOUNT.exec(told.get('amount')?.got ?? '') ?? []
  const came = ['transaction', 'recipient', 'asset'].every((name) => told.get(name)?.state === 'ok')
  if (!came || told.get('amount')?.state !== 'bad' || symbol !== asset.symbol || !amount || !payer || !transaction) return undefined
  const search = {
    to: payer,
    amount,
    network: network.network,
    asset: asset.address,
    description: t`Sent back: another amount than was asked for`,
    reference: transaction,
  }
  return pathTo('checkout', { search })
}
