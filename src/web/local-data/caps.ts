import * as v from 'valibot'
import { parseJson } from '#contract/json.ts'
import { createBrowserStore } from './store.ts'

/** What the owner of this browser allows it to spend, by network and asset: `eip155:1/0xEeee…`. Atomic units as text; nothing set, nothing capped. */
export type Cap = { perPayment?: string; perDay?: string }
export type Caps = Readonly<Record<string, Cap>>

const atomic = v.optional(v.pipe(v.string(), v.regex(/^(0|[1-9][0-9]{0,77})$/)))
const Stored = v.record(v.string(), v.object({ perPayment: atomic, perDay: atomic }))

const store = createBrowserStore('paydesk.spending-caps', parse)

export function useCaps(): Caps {
  return store.use()
}

/** Sets or, with nothing in it, lifts the cap of an asset. @returns what puts it back, for an undo */
export function setCap(key: string, cap: Cap): () => void {
  const before = store.get()[key] ?? {}
  write(key, cap)
  return () => write(key, before)
}

function write(key: string, cap: Cap): void {
  const { [key]: _, ...others } = store.get()
  const lifted = cap.perPayment === undefined && cap.perDay === undefined
  store.set(lifted ? others : { ...others, [key]: cap })
}

/** Names an asset of a network; both in their normal form. */
export function capKey(network: string, assetAddress: string): string {
  return `${network}/${assetAddress}`
}

export type CapBreach = {
  limit: 'per_payment' | 'per_day'
  capAtomic: bigint
  /** What would still be allowed now. */ leftAtomic: bigint
}

/**
 * Whether a payment would go over its owner's cap. `outflowTodayAtomic`: what left this browser in the last 24 hours and did not certainly fail,
 * so that a payment whose end is unknown counts as spent.
 */
export function findBreach(
  key: string,
  amountAtomic: bigint,
  outflowTodayAtomic: bigint,
): CapBreach | undefined {
  const { perPayment, perDay } = store.get()[key] ?? {}
  if (perPayment !== undefined && amountAtomic > BigInt(perPayment)) {
    return { limit: 'per_payment', capAtomic: BigInt(perPayment), leftAtomic: BigInt(perPayment) }
  }
  if (perDay === undefined || amountAtomic + outflowTodayAtomic <= BigInt(perDay)) return undefined
  const left = BigInt(perDay) - outflowTodayAtomic
  return { limit: 'per_day', capAtomic: BigInt(perDay), leftAtomic: left > 0n ? left : 0n }
}

function parse(text: string | null): Caps {
  try {
    const result = v.safeParse(Stored, parseJson(text ?? '{}'))
    return result.success ? result.output : {}
  } catch {
    return {}
  }
}
