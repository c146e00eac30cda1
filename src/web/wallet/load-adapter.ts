import type { Family } from '#contract/address.ts'
import { familyOf } from '#contract/network.ts'
import { configQuery } from '../api/queries.ts'
import { queryClient } from '../api/query-client.ts'
import { loadMessages } from '../locales/language.ts'
import type { ConnectedAccount } from './state/accounts.ts'
import type { WalletAdapter } from './state/wallet-adapter.ts'
import { rememberedWallet } from './state/remembered.ts'

const loading = new Map<Family, Promise<WalletAdapter>>()

/** Loads a family's stack once. After a failed load, the next caller tries again. */
export function loadWalletAdapter(family: Family): Promise<WalletAdapter> {
  const known = loading.get(family)
  if (known) return known
  const adapter = startAdapter(family)
  loading.set(family, adapter)
  adapter.catch(() => loading.delete(family))
  return adapter
}

async function startAdapter(family: Family): Promise<WalletAdapter> {
  const [{ networks, title, walletConnect }] = await Promise.all([
    queryClient.ensureQueryData(configQuery),
    loadMessages('paying'),
  ])
  const own = networks.filter(({ network }) => familyOf(network) === family)
  if (family === 'evm')
    return (await import('./evm/start-evm.ts')).startEvm(
      own,
      walletConnect && { ...walletConnect, title },
    )
  return (await import('./solana/start-solana.ts')).startSolana(own)
}

/** At the start of the app: reconnects the remembered wallets, in the background and silently. */
export async function reconnectWallets(): Promise<void> {
  const families = (['evm', 'solana'] as const).filter(
    (family) => rememberedWallet(family) !== undefined,
  )
  await Promise.allSettled(
    families.map(async (family) => (await loadWalletAdapter(family)).reconnect()),
  )
}

/**
 * Asks the account's wallet to sign a text: hex on EVM, base58 on Solana.
 * @throws WalletError with words for the reader
 */
export async function signMessage(account: ConnectedAccount, text: string): Promise<string> {
  return (await loadWalletAdapter(account.family)).signMessage(account, text)
}

export async function disconnect(family: Family): Promise<void> {
  await (await loadWalletAdapter(family)).disconnect()
}
