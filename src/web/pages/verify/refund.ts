import type { Mispaid } from '../../payment-view/mispaid.ts'
import type { Check } from '../../payment-view/check.ts'
import type { Expected } from './proof/local-checks.ts'

/** What is known of a payment that is on the chain. */
export type OnChain = { checks: readonly Check[]; transaction: string | null; payer: string | null }

/**
 * What came in another amount than was asked for: the reader's own node shows that it came, in this currency, to this wallet.
 * Undefined where anything of that is not certain. `now`: Unix milliseconds.
 */
export function mispaidOf(
  { checks, transaction, payer }: OnChain,
  { network, asset, wallet, amountAtomic }: Expected,
  now: number,
): Mispaid | undefined {
  const told = new Map(
    checks.filter(({ source }) => source === 'chain').map((check) => [check.name, check]),
  )
  const amount = told.get('amount')
  const came = ['transaction', 'recipient', 'asset'].every((name) => told.get(name)?.state === 'ok')
  if (!came || amount?.state !== 'bad' || amount.got.code !== 'amount' || !payer || !transaction)
    return undefined
  const { symbol, decimals, amountAtomic: cameAtomic } = amount.got.params
  if (symbol !== asset.symbol || decimals !== asset.decimals || BigInt(cameAtomic) <= 0n)
    return undefined
  const expectedAtomic = amountAtomic.toString()
  return {
    transaction,
    network: network.network,
    asset: asset.address,
    payer,
    wallet,
    cameAtomic,
    expectedAtomic,
    at: now,
  }
}
