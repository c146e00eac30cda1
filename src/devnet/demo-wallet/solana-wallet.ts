import { ed25519 } from '@noble/curves/ed25519.js'
import type {
  SolanaSignMessageFeature,
  SolanaSignTransactionFeature,
} from '@solana/wallet-standard-features'
import type { IdentifierString, Wallet, WalletAccount, WalletIcon } from '@wallet-standard/base'
import type {
  StandardConnectFeature,
  StandardDisconnectFeature,
  StandardEventsFeature,
  StandardEventsListeners,
} from '@wallet-standard/features'
import bs58 from 'bs58'
import { ProviderError, type WalletOwner } from './owner.ts'

const SIGNATURE_BYTES = 64
const KEY_BYTES = 32

/** A Solana wallet: the demo wallet and the stories' wallet differ in their owner only. */

export type SolanaAccount = {
  address: string
  publicKey: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

/** @param secretKey the seed, then the public key */
export function secretKeyToAccount(secretKey: Uint8Array): SolanaAccount {
  const [seed, publicKey] = [secretKey.slice(0, KEY_BYTES), secretKey.slice(KEY_BYTES)]
  const sign = (message: Uint8Array) => ed25519.sign(message, seed)
  return { address: bs58.encode(publicKey), publicKey, sign }
}

export type SolanaApprovalRequest =
  | { kind: 'transaction'; transaction: Uint8Array; chain: string | undefined }
  | { kind: 'message'; text: string }

export type SolanaOwner = WalletOwner<SolanaAccount, SolanaApprovalRequest> & {
  /** What the wallet signs instead of what the page asked for. */
  amend?(transaction: Uint8Array): Uint8Array
  /** Runs after the signature and before the page gets the transaction. */
  onSigned?(transaction: Uint8Array): Promise<void>
}

export type PublicAccount = { address: string; publicKey: Uint8Array }

/** What a page asks of the wallet. */
export type SolanaHandlers = {
  connect(input: { silent: boolean }): Promise<PublicAccount[]>
  disconnect(): Promise<void>
  signTransaction(input: {
    address: string
    chain: string | undefined
    transaction: Uint8Array
  }): Promise<Uint8Array>
  signMessage(input: { address: string; message: Uint8Array }): Promise<Uint8Array>
}

/** The answers of a wallet. @throws ProviderError */
export function solanaHandlers(owner: SolanaOwner): SolanaHandlers {
  const ownAccount = async (address: string) => {
    const account = await owner.account()
    if (account?.address !== address)
      throw new ProviderError(4100, 'This page is not connected to that account.')
    return account
  }
  return {
    async connect({ silent }) {
      const account = (await owner.account()) ?? (silent ? undefined : await owner.connect())
      return account ? [{ address: account.address, publicKey: account.publicKey }] : []
    },
    disconnect: async () => owner.disconnect(),
    async signTransaction({ address, chain, transaction: requested }) {
      const account = await ownAccount(address)
      const transaction = owner.amend?.(requested) ?? requested
      await owner.approve({ kind: 'transaction', transaction, chain }, account)
      const signed = writeSignature(transaction, account)
      await owner.onSigned?.(signed)
      return signed
    },
    async signMessage({ address, message }) {
      const account = await ownAccount(address)
      await owner.approve({ kind: 'message', text: new TextDecoder().decode(message) }, account)
      return account.sign(message)
    },
  }
}

/**
 * The transaction with the account's signature in its place. Signatures stand first, after their count in one byte. The message has a
 * byte for its version (none in a legacy one), three counts, the number of its keys, and the keys, signers first. Read here and not by
 * `#chains`, so that the stories' wallet shares no decoder with the app they test.
 * @throws ProviderError -32602 when the transaction does not ask for this account
 */
function writeSignature(transaction: Uint8Array, account: SolanaAccount): Uint8Array {
  const [count = 0] = transaction
  const message = transaction.slice(1 + count * SIGNATURE_BYTES)
  const keys = message.subarray((message[0] ?? 0) >= 0x80 ? 5 : 4)
  const keyAt = (place: number) => keys.subarray(place * KEY_BYTES, (place + 1) * KEY_BYTES)
  const place = Array.from({ length: count }, (_, index) => keyAt(index).join()).indexOf(
    account.publicKey.join(),
  )
  if (place < 0)
    throw new ProviderError(-32602, 'The transaction asks for no signature of this account.')
  const signed = Uint8Array.from(transaction)
  signed.set(account.sign(message), 1 + place * SIGNATURE_BYTES)
  return signed
}

type Registration = { name: string; icon: WalletIcon; chains: readonly IdentifierString[] }
type Features = StandardConnectFeature &
  StandardDisconnectFeature &
  StandardEventsFeature &
  SolanaSignTransactionFeature &
  SolanaSignMessageFeature

/**
 * Registers a wallet by the Wallet Standard, with pages that already listen and with later ones. Stories put the text of this function
 * into their pages: it uses nothing outside of itself. Returns what tells the page of other accounts.
 */
export function registerSolana(
  { name, icon, chains }: Registration,
  handlers: SolanaHandlers,
): (list: readonly PublicAccount[]) => void {
  const listeners = new Set<StandardEventsListeners['change']>()
  let accounts: readonly WalletAccount[] = []
  const setAccounts = (list: readonly PublicAccount[]) => {
    const features = ['solana:signTransaction', 'solana:signMessage'] as const
    const known = accounts.map(({ address }) => address).join()
    if (list.map(({ address }) => address).join() === known) return
    accounts = list.map((account) => Object.freeze({ ...account, chains, features }))
    for (const listener of listeners) listener({ accounts })
  }
  const features: Features = {
    'standard:connect': {
      version: '1.0.0',
      connect: async ({ silent = false } = {}) => {
        setAccounts(await handlers.connect({ silent }))
        return { accounts }
      },
    },
    'standard:disconnect': {
      version: '1.0.0',
      disconnect: async () => {
        await handlers.disconnect()
        setAccounts([])
      },
    },
    'standard:events': {
      version: '1.0.0',
      on: (_event, listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
    'solana:signTransaction': {
      version: '1.0.0',
      supportedTransactionVersions: ['legacy', 0],
      signTransaction: (...inputs) =>
        Promise.all(
          inputs.map(async ({ account: { address }, transaction, chain }) => ({
            signedTransaction: await handlers.signTransaction({ address, chain, transaction }),
          })),
        ),
    },
    'solana:signMessage': {
      version: '1.0.0',
      signMessage: (...inputs) =>
        Promise.all(
          inputs.map(async ({ account: { address }, message }) => ({
            signedMessage: message,
            signature: await handlers.signMessage({ address, message }),
          })),
        ),
    },
  }
  const wallet: Wallet = {
    version: '1.0.0',
    name,
    icon,
    chains,
    features,
    get accounts() {
      return accounts
    },
  }
  type Api = { register: (wallet: Wallet) => void }
  const callback = ({ register }: Api) => register(wallet)
  // The page's event is an `Event` with an added `detail`, not a `CustomEvent`.
  window.addEventListener('wallet-standard:app-ready', (event: Event & { detail?: Api }) => {
    if (event.detail) callback(event.detail)
  })
  window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: callback }))
  return setAccounts
}
