import type { Chain } from './chain.ts'

/** Watchers of this process, by the chain they follow. A process that does not follow a chain has none to wake: the one that does looks soon anyway. */
const sleepers = new WeakMap<Chain, Set<() => void>>()

/** Makes the watcher of a chain look now: there is a payment to find, or a report to check. */
export function notifyMonitor(chain: Chain): void {
  for (const wake of sleepers.get(chain) ?? []) wake()
}

/** @returns a function that ends the subscription */
export function onNotify(chain: Chain, wake: () => void): () => void {
  const wakes = sleepers.get(chain) ?? new Set()
  sleepers.set(chain, wakes.add(wake))
  return () => wakes.delete(wake)
}
