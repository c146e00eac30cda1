import type { Asset, Network } from '#contract/network.ts'
import type { BroadcastEvidence } from '../../payment-intent/evidence.ts'
import type { PaymentChain, PaymentWallet, TransactionReader } from '../../payment-intent/ports.ts'
import type { ConnectedAccount } from './accounts.ts'

/** EIP-712. What is signed moves nothing by itself. */
export type TypedData = {
  domain: Readonly<Record<string, unknown>>
  types: Readonly<Record<string, readonly { name: string; type: string }[]>>
  primaryType: string
  message: Readonly<Record<string, unknown>>
}

/** What both families' wallet code offers; `startEvm` and `startSolana` make its two shapes. */
export interface WalletAdapter {
  /** Asks the wallet. Several accounts: the wallet's first is current until `choose`. */
  connect(walletId: string, elsewhere?: Elsewhere): Promise<readonly string[]>
  choose(address: string): void
  /** Connects the wallet of the last visit if it still trusts this page; never opens a window. */
  reconnect(): Promise<void>
  disconnect(): Promise<void>
  signMessage(account: ConnectedAccount, text: string): Promise<string>
  /** EIP-712, hex; refused where wallets know no such thing. @throws WalletError; nothing was sent */
  signTypedData(
    network: Network,
    account: Pick<ConnectedAccount, 'address' | 'walletName'>,
    data: TypedData,
  ): Promise<string>
  readonly wallet: PaymentWallet
  readonly chain: PaymentChain
  readonly reader: TransactionReader
  /** EVM: nonce and fees of a transaction and of the bytes it was built as, by the payer's own RPC; null while that does not show it, and elsewhere. */
  readBroadcast(
    network: Network,
    transaction: { signature: string; bytes: Uint8Array },
  ): Promise<BroadcastReading | null>
  /** One for each of the network's assets, in their order; zero where the account holds nothing of it. */
  balances(network: Network, address: string): Promise<readonly AssetBalance[]>
}

/** What left the wallet, and what the order was built with. */
export type BroadcastReading = {
  sent: BroadcastEvidence
  fees: { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }
}

/** For a wallet on another device: it is shown a text to scan or open, and may be given up on. */
export type Elsewhere = { onUri: (uri: string) => void; signal: AbortSignal }

/** In atomic units of the asset. */
export type AssetBalance = { asset: Asset; atomic: bigint }
