import { WalletReadyState, type WalletName } from '@solana/wallet-adapter-base'
import {
  ConnectionProvider,
  useWallet,
  WalletProvider,
  type WalletContextState,
} from '@solana/wallet-adapter-react'
import type { StandardWalletAdapter } from '@solana/wallet-standard-wallet-adapter-base'
import { useEffect } from 'react'
import { createRoot } from 'react-dom/client'
import { WalletError } from '../state/errors.ts'

/** Extensions may register this late after the page loads. */
const REGISTERED_WITHIN_MS = 2_000

/**
 * The wallet adapter's providers in a separate React root, beside the page. Not around it, because
 * they load late and must not remount the page; not inside its StrictMode, because the adapter
 * destroys adapters that it still uses when a strict unmount is simulated, and then misses account
 * changes.
 */
export type AdapterRoot = {
  current(): WalletContextState
  subscribe(on: () => void): void
  /** Resolves to true once `holds` is true of the context, to false after `withinMs`. */
  until(holds: (context: WalletContextState) => boolean, withinMs: number): Promise<boolean>
}

/**
 * A module constant: a new array on each render would rebuild every adapter. The provider finds
 * standard wallets by itself.
 */
const NO_ADAPTERS: [] = []

export async function mountAdapterRoot(endpoint: string): Promise<AdapterRoot> {
  const listeners = new Set<() => void>()
  let context: WalletContextState | undefined
  const ready = new Promise<void>((resolve) => {
    const publish = (next: WalletContextState) => {
      context = next
      resolve()
      for (const on of listeners) on()
    }
    createRoot(document.createElement('div')).render(
      <ConnectionProvider endpoint={endpoint}>
        <WalletProvider
          autoConnect={false}
          localStorageKey="paydesk.solana-wallet"
          onError={ignoreError}
          wallets={NO_ADAPTERS}
        >
          <Bridge publish={publish} />
        </WalletProvider>
      </ConnectionProvider>,
    )
  })
  await ready

  const current = () => {
    if (!context) throw new Error('The wallet adapter has not rendered.')
    return context
  }
  return {
    current,
    subscribe: (on) => void listeners.add(on),
    until: (holds, withinMs) =>
      new Promise((resolve) => {
        const finish = (outcome: boolean) => {
          clearTimeout(timer)
          listeners.delete(look)
          resolve(outcome)
        }
        const look = () => holds(current()) && finish(true)
        const timer = setTimeout(() => finish(false), withinMs)
        listeners.add(look)
        look()
      }),
  }
}

/** The standard wallet behind the installed adapter of this name. */
export function adapterNamed(
  context: WalletContextState,
  name: string,
): StandardWalletAdapter | undefined {
  const found = context.wallets.find(
    ({ adapter, readyState }) => adapter.name === name && readyState === WalletReadyState.Installed,
  )
  return found && isStandard(found.adapter) ? found.adapter : undefined
}

/**
 * Makes a wallet the adapter's current one. `select` takes effect on the next render; connecting
 * earlier would connect the previously selected wallet, or none.
 * @throws WalletError when the wallet is not there
 */
export async function selectAdapter(
  root: AdapterRoot,
  name: string,
): Promise<StandardWalletAdapter> {
  if (
    !(await root.until(
      (context) => adapterNamed(context, name) !== undefined,
      REGISTERED_WITHIN_MS,
    ))
  )
    throw new WalletError('disconnected', name)
  root.current().select(name as WalletName)
  await root.until((context) => context.wallet?.adapter.name === name, REGISTERED_WITHIN_MS)
  const adapter = adapterNamed(root.current(), name)
  if (!adapter) throw new WalletError('disconnected', name)
  return adapter
}

function isStandard(adapter: object): adapter is StandardWalletAdapter {
  return 'wallet' in adapter && 'standard' in adapter
}

/**
 * Callers get every failure as well; the adapter's default prints it and opens the wallet's home
 * page.
 */
function ignoreError(): void {}

function Bridge({ publish }: { publish: (context: WalletContextState) => void }) {
  const context = useWallet()
  // After this root's effects: React runs them inside the page's commit too, and a listener that renders the page
  // there commits the same tree twice (React error 177).
  useEffect(() => queueMicrotask(() => publish(context)), [context, publish])
  return null
}
