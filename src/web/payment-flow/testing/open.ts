import { TestDependencies } from './test-dependencies.ts'
import { TabBrowser } from './tab.ts'

let count = 0

/** Runs everything that is only waiting for its turn. */
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A chain, a wallet and a service controlled by the test, and a browser with its own journal. */
export function open(family: 'evm' | 'solana'): { outside: TestDependencies; browser: TabBrowser } {
  const outside = new TestDependencies(family)
  return { outside, browser: new TabBrowser(outside, `test-${count++}`, turn) }
}
