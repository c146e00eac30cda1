import { parseAmount } from '#contract/amount.ts'
import type { Mispaid } from '../../mispaid.ts'
import type { Check } from './check.ts'
import type { Expected } from './local-checks.ts'

/** What is known of a payment that is on the chain. */
export type OnChain = { checks: readonly Check[]; transaction: string | null; payer: string | null }

const AMOUNT = /^([0-9]+(?:\.[0-9]+)?) (\S+)$/

/**
 * What came in another amount than was asked for: the reader's own node shows that it came, in this currency, to this wallet.
 * Undefined where anything of that is not certain. `now`: Unix milliseconds.
 */
export function mispaidOf({ checks, transaction, payer }: OnChain, { network, asset, wallet, amountAtomic }: Expected, now: number): Mispaid | undefined {
  const told = new Map(checks.filter(({ source }) => source === 'chain').map((check) => [check.name, check]))
  const [, amount, symbol] = AMOUNT.exec(told.get('amount')?.got ?? '') ?? []
  const came = ['transaction', 'recipient', 'asset'].every((name) => told.get(name)?.state === 'ok')
  if (!came || told.get('amount')?.state !== 'bad' || symbol !== asset.symbol || !amount || !payer || !transaction) return undefined
  const parsed = parseAmount(amount, asset.decimals)
  if (!parsed.ok) return undefined
  const [cameAtomic, expectedAtomic] = [parsed.atomic.toString(), amountAtomic.toString()]
  return { transaction, network: network.network, asset: asset.address, payer, wallet, cameAtomic, expectedAtomic, at: now }
}
