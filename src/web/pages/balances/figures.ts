import type { PaymentPage } from '../../api/queries.ts'
import type { WalletBalance } from '../../rpc/read-balances.ts'

type Row = PaymentPage['payments'][number]

/** What is on its way out of wallets, in atomic units. */
export type Pending = ReadonlyMap<string, bigint>

const keyOf = (at: { network: string; wallet: string; asset: string }) =>
  `${at.network} ${at.wallet} ${at.asset}`

/** The statuses of a payment that may still take money out of its sender. */
export const OPEN_STATUSES = 'created,pending,rolled_back'

/**
 * What open payments take out of their senders. One that the service signs counts from the moment it
 * exists; one that nobody has signed yet does not. One that is in a block, whose time its row has, is
 * in the balance already, however many confirmations it still needs.
 */
export function pendingOutflows(rows: readonly Row[]): Pending {
  const sums = new Map<string, bigint>()
  for (const { status, mode, sender, network, asset, amountAtomic, blockTime } of rows) {
    if (status === 'pending' && blockTime !== null) continue
    if (status !== 'pending' && status !== 'rolled_back')
      if (status !== 'created' || mode !== 'hosted') continue
    const key = keyOf({ network, wallet: sender, asset })
    sums.set(key, (sums.get(key) ?? 0n) + BigInt(amountAtomic))
  }
  return sums
}

/** The part of a network, as text: what it is read for again. */
export function pendingOn(network: string, pending: Pending | undefined): string[] | undefined {
  return (
    pending &&
    [...pending]
      .filter(([key]) => key.startsWith(`${network} `))
      .map(([key, atomic]) => `${key} ${atomic}`)
      .toSorted()
  )
}

export type Figure = {
  balance: bigint
  /** Undefined where the open payments could not be read. */
  pending: bigint | undefined
  /** Never below zero: a payment may land between the two readings. */
  available: bigint
}

/** Undefined where the balance is not known: that is never zero. */
export function figureOf(
  balances: readonly WalletBalance[] | undefined,
  pending: Pending | undefined,
  at: { network: string; wallet: string; asset: string },
): Figure | undefined {
  const own = balances?.find(
    ({ wallet, asset }) => wallet === at.wallet && asset === at.asset,
  )?.atomic
  if (own === undefined) return undefined
  const out = pending && (pending.get(keyOf(at)) ?? 0n)
  const rest = own - (out ?? 0n)
  return { balance: own, pending: out, available: rest < 0n ? 0n : rest }
}

/** The sum over wallets; undefined as soon as one of them is not known. */
export function totalOf(figures: readonly (Figure | undefined)[]): Figure | undefined {
  let total: Figure = { balance: 0n, pending: 0n, available: 0n }
  for (const figure of figures) {
    if (!figure) return undefined
    total = {
      balance: total.balance + figure.balance,
      pending:
        total.pending === undefined || figure.pending === undefined
          ? undefined
          : total.pending + figure.pending,
      available: total.available + figure.available,
    }
  }
  return total
}
