import { useEffect, useRef, useSyncExternalStore } from 'react'
import type { Family } from '#contract/address.ts'

/**
 * The connected accounts, for pages that show them. No wallet code in here: the wallet adapters
 * of EVM and Solana are separate chunks that load when someone connects, or when a wallet of an
 * earlier visit is reconnected silently.
 */

export type ConnectedAccount = {
  family: Family
  /** Normal form. */
  address: string
  /** Of the wallet within its family: the reverse domain name on EVM, the name on Solana. */
  walletId: string
  walletName: string
  /** A `data:` image provided by the wallet. */
  icon?: string
}

type State = {
  accounts: readonly ConnectedAccount[]
  /** `any` while the dialog is open for either family. */
  dialog: Family | 'any' | null
}

let state: State = { accounts: [], dialog: null }
const listeners = new Set<() => void>()

/** At most one account of each family, EVM first. */
export function useAccounts(): readonly ConnectedAccount[] {
  return useSyncExternalStore(subscribe, () => state.accounts)
}

export function useConnectDialog(): Family | 'any' | null {
  return useSyncExternalStore(subscribe, () => state.dialog)
}

export function openConnectDialog(family?: Family): void {
  set({ ...state, dialog: family ?? 'any' })
}

export function closeConnectDialog(): void {
  set({ ...state, dialog: null })
}

/**
 * Opens the connect dialog for what needs a wallet first, and does that once the dialog closed with
 * an account; a dialog closed without one forgets it.
 */
export function useConnectFirst(
  onConnected: (account: ConnectedAccount) => void,
): (family?: Family) => void {
  const dialog = useConnectDialog()
  const accounts = useAccounts()
  const pendingFamily = useRef<Family | 'any'>(undefined)
  const run = useRef(onConnected)
  useEffect(() => {
    run.current = onConnected
  })
  useEffect(() => {
    if (!pendingFamily.current || dialog !== null) return
    const family = pendingFamily.current
    pendingFamily.current = undefined
    const account = accounts.find((each) => family === 'any' || each.family === family)
    if (account) run.current(account)
  }, [dialog, accounts])
  return (family) => {
    pendingFamily.current = family ?? 'any'
    openConnectDialog(family)
  }
}

/** Called by a wallet adapter with its currently connected account. */
export function setAccount(family: Family, account: ConnectedAccount | undefined): void {
  const others = state.accounts.filter((other) => other.family !== family)
  const accounts = account ? [...others, account] : others
  set({ ...state, accounts: accounts.sort((a, b) => a.family.localeCompare(b.family)) })
}

function set(next: State): void {
  state = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
