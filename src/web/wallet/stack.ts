import type { Family } from '#contract/address.ts'
import { familyOf, type Asset, type Network } from '#contract/network.ts'
import { configQuery } from '../api/queries.ts'
import { queryClient } from '../api/query-client.ts'
import { loadMessages } from '../locales/language.ts'
import type { Broadcast } from '../payment/evidence.ts'
import type { PaymentChain, PaymentWallet, TransactionReader } from '../payment/ports.ts'
import type { ConnectedAccount } from './accounts.ts'
import type { TypedData } from './evm/sign-typed-data.ts'
import { rememberedWallet } from './remembered.ts'

/** What both families' wallet code offers; `evm.ts` and `solana.ts` are its two shapes. */
export interface WalletStack {
  /** Asks the wallet. Several accounts: the wallet's first is current until `choose`. */
  connect(walletId: string, elsewhere?: Elsewhere): Promise<readonly string[]>
  choose(address: string): void
  /** Connects the wallet of the last visit if it still trusts this page; never opens a window. */
  reconnect(): Promise<void>
  disconnect(): Promise<void>
  signMessage(account: ConnectedAccount, text: string): Promise<string>
  /** EIP-712, hex; refused where wallets know no such thing. @throws WalletProblem; nothing was sent */
  signTypedData(network: Network, account: Pick<ConnectedAccount, 'address' | 'walletName'>, data: TypedData): Promise<string>
  readonly wallet: PaymentWallet
  readonly chain: PaymentChain
  readonly reader: TransactionReader
  /** EVM: nonce and fees of a transaction and of the bytes it was built as, by the payer's own RPC; null while that does not show it, and elsewhere. */
  readBroadcast(network: Network, transaction: { signature: string; bytes: Uint8Array }): Promise<BroadcastReading | null>
  /** One for each of the network's assets, in their order; zero where the account holds nothing of it. */
  balances(network: Network, address: string): Promise<readonly AssetBalance[]>
}

/** What left the wallet, and what the order was built with. */
export type BroadcastReading = { sent: Broadcast; fees: { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint } }

/** For a wallet on another device: it is shown a text to scan or open, and may be given up on. */
export type Elsewhere = { onUri: (uri: string) => void; signal: AbortSignal }

/** In atomic units of the asset. */
export type AssetBalance = { asset: Asset; atomic: bigint }

const loading = new Map<Family, Promise<WalletStack>>()

/** Loads a family's stack once. A load that failed is tried anew by the next caller. */
export function loadStack(family: Family): Promise<WalletStack> {
  const known = loading.get(family)
  if (known) return known
  const stack = startStack(family)
  loading.set(family, stack)
  stack.catch(() => loading.delete(family))
  return stack
}

async function startStack(family: Family): Promise<WalletStack> {
  const [{ networks, title, walletConnect }] = await Promise.all([queryClient.ensureQueryData(configQuery), loadMessages('paying')])
  const own = networks.filter(({ network }) => familyOf(network) === family)
  if (family === 'evm') return (await import('./evm.ts')).startEvm(own, walletConnect && { ...walletConnect, title })
  return (await import('./solana.ts')).startSolana(own)
}

/** At the start of the app: connects again whoever was connected, in the background and silently. */
export async function reconnectWallets(): Promise<void> {
  const families = (['evm', 'solana'] as const).filter((family) => rememberedWallet(family) !== undefined)
  await Promise.allSettled(families.map(async (family) => (await loadStack(family)).reconnect()))
}
