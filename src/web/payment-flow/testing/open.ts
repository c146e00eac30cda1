import { TestDependencies } from './test-dependencies.ts'
import { TabBrowser } from './tab.ts'

/** Runs everything that is only waiting for its turn. */
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A chain, a wallet and a service controlled by the test, and a browser with its own journal. */
export function open(family: 'evm' | 'solana'): {
  dependencies: TestDependencies
  browser: TabBrowser
} {
  const dependencies = new TestDependencies(family)
  return { dependencies, browser: new TabBrowser(dependencies, turn) }
}
