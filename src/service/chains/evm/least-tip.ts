import type { PublicClient } from 'viem'

/** How nodes name the least tip per gas that they take, in wei, where they refuse a transaction for its tip. */
const NAMED_TIP = /(?:minimum needed|tip below minimum):? ([0-9]{1,30})(?![0-9.])/i

/** How long a node is believed to ask for what it named, in milliseconds. */
const NAMED_TTL_MS = 600_000

const namedTips = new WeakMap<PublicClient, { tip: bigint; until: number }>()

/** Remembers the least tip where a node's refusal names one. */
export function noteLeastTip(client: PublicClient, refusal: string): void {
  const named = NAMED_TIP.exec(refusal)?.[1]
  if (named !== undefined)
    namedTips.set(client, { tip: BigInt(named), until: performance.now() + NAMED_TTL_MS })
}

/** The least tip that a node has named lately, wei per gas. */
export function leastTip(client: PublicClient): bigint {
  const known = namedTips.get(client)
  return known && performance.now() < known.until ? known.tip : 0n
}
