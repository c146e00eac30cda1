import * as v from 'valibot'
import { formatAmount } from '#contract/amount.ts'
import { createBrowserStore } from '../local-data/store.ts'
import { pathTo } from '../router/paths.ts'

/**
 * Money received on-chain that matches no order, because another amount was asked for. No protocol
 * returns it: the person who checked the proof decides, so this browser remembers it until it is
 * refunded or dismissed. All of it is public; the proof itself is not stored.
 */
export type Mispaid = {
  transaction: string
  network: string
  /** The asset's address. */
  asset: string
  payer: string
  /** The recipient. */
  wallet: string
  /** Atomic units. */
  cameAtomic: string
  expectedAtomic: string
  /** When it was found. Unix milliseconds. */
  at: number
}

const MOST = 200
const atomic = v.pipe(v.string(), v.regex(/^[0-9]{1,78}$/))
const text = v.pipe(v.string(), v.maxLength(200))
const Stored = v.array(
  v.object({
    transaction: text,
    network: text,
    asset: text,
    payer: text,
    wallet: text,
    cameAtomic: atomic,
    expectedAtomic: atomic,
    at: v.number(),
  }),
)

const store = createBrowserStore<readonly Mispaid[]>('paydesk.mispaid', parse)

/** Newest first. */
export function useMispaid(): readonly Mispaid[] {
  return store.use()
}

/** Finding it again only updates the expected amount. */
export function rememberMispaid(found: Mispaid): void {
  store.set([found, ...store.get().filter((each) => !isSame(each, found))].slice(0, MOST))
}

/** @returns a function that restores it at its position */
export function forgetMispaid(done: Pick<Mispaid, 'network' | 'transaction'>): () => void {
  const at = store.get().findIndex((each) => isSame(each, done))
  const removed = store.get()[at]
  if (!removed) return () => undefined
  store.set(store.get().toSpliced(at, 1))
  return () => {
    if (!store.get().some((each) => isSame(each, removed)))
      store.set(store.get().toSpliced(at, 0, removed))
  }
}

/**
 * The checkout with every field filled in; the transaction is the reference, which identifies the
 * refund.
 */
export function refundPath(
  {
    payer,
    network,
    asset,
    cameAtomic,
    transaction,
  }: Omit<Mispaid, 'wallet' | 'expectedAtomic' | 'at'>,
  { decimals, description }: { decimals: number; description?: string },
) {
  const amount = formatAmount(BigInt(cameAtomic), decimals)
  return pathTo('checkout', {
    search: { to: payer, amount, network, asset, description, reference: transaction },
  })
}

function isSame(
  one: Pick<Mispaid, 'network' | 'transaction'>,
  other: Pick<Mispaid, 'network' | 'transaction'>,
): boolean {
  return one.network === other.network && one.transaction === other.transaction
}

function parse(stored: string | null): readonly Mispaid[] {
  try {
    const read = v.safeParse(Stored, JSON.parse(stored ?? '[]'))
    return read.success ? read.output : []
  } catch {
    return []
  }
}
