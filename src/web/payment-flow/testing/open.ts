import { Outside } from './outside.ts'
import { Browser } from './tab.ts'

let count = 0

/** Lets everything that waits for nothing but its turn go on. */
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A chain, a wallet and a service in the hands of the test, and a browser with a journal of its own. */
export function open(family: 'evm' | 'solana'): { outside: Outside; browser: Browser } {
  const outside = new Outside(family)
  return { outside, browser: new Browser(outside, `test-${count++}`, turn) }
}
