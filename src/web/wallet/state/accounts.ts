import { useEffect, useRef } from 'react'
import type { Family } from '#contract/address.ts'
import { createStore } from '../../local-data/store.ts'

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

const accounts = createStore<readonly ConnectedAccount[]>([])
/** `any` while the dialog is open for either family. */
const dialog = createStore<Family | 'any' | null>(null)

/** At most one account of each family, EVM first. */
export const useAccounts = accounts.use

export const useConnectDialog = dialog.use

export function openConnectDialog(family?: Family): void {
  dialog.set(family ?? 'any')
}

export function closeConnectDialog(): void {
  dialog.set(null)
}

/**
 * Opens the connect dialog for what needs a wallet first, and does that once the dialog closed with
 * an account; a dialog closed without one forgets it.
 */
export function useConnectFirst(
  onConnected: (account: ConnectedAccount) => void,
): (family?: Family) => void {
  const open = dialog.use()
  const connected = accounts.use()
  const pendingFamily = useRef<Family | 'any'>(undefined)
  const run = useRef(onConnected)
  useEffect(() => {
    run.current = onConnected
  })
  useEffect(() => {
    if (!pendingFamily.current || open !== null) return
    const family = pendingFamily.current
    pendingFamily.current = undefined
    const account = connected.find((each) => family === 'any' || each.family === family)
    if (account) run.current(account)
  }, [open, connected])
  return (family) => {
    pendingFamily.current = family ?? 'any'
    openConnectDialog(family)
  }
}

/** Called by a wallet adapter with its currently connected account. */
export function setAccount(family: Family, account: ConnectedAccount | undefined): void {
  const others = accounts.get().filter((other) => other.family !== family)
  const all = account ? [...others, account] : others
  accounts.set(all.sort((a, b) => a.family.localeCompare(b.family)))
}
