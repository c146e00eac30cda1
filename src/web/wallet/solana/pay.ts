import type {
  SolanaSignMessageFeature,
  SolanaSignTransactionFeature,
} from '@solana/wallet-standard-features'
import type { Wallet, WalletAccount } from '@wallet-standard/base'
import bs58 from 'bs58'
import { SOLANA_DEVNET, SOLANA_MAINNET, type NetworkId } from '#contract/network.ts'
import { describeUnsigned } from '../../errors/error-messages.ts'
import type { CheckedTransaction, WalletPaymentIntent } from '../../payment-intent/intent.ts'
import type { WalletResponse } from '../../payment-intent/ports.ts'
import { bounded } from '../state/bounded.ts'
import { signalOf, WalletError } from '../state/errors.ts'

/**
 * What a payment needs from a Solana wallet; the rest of the app uses wallets only through this.
 */
interface SolanaSigner {
  /** As the wallet reports them now. */
  accounts(): readonly string[]
  /** The wire bytes with the wallet's signature; the wallet may have changed them. */
  signTransaction(address: string, network: NetworkId, bytes: Uint8Array): Promise<Uint8Array>
  /** 64 bytes. */
  signMessage(address: string, text: string): Promise<Uint8Array>
}

type Chain = `${string}:${string}`

const SOLANA_TESTNET = 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z'
const SIGN_WITHIN_MS = 5 * 60_000

/**
 * The Wallet Standard's name of a network. The adapter's own `signTransaction` passes none, and the
 * wallet then simulates on its current cluster.
 */
export function standardChain(network: NetworkId): Chain {
  if (network === SOLANA_MAINNET) return 'solana:mainnet'
  if (network === SOLANA_DEVNET) return 'solana:devnet'
  return network === SOLANA_TESTNET ? 'solana:testnet' : 'solana:localnet'
}

/** Calls the wallet's own features, each with its account and chain. */
export function standardSigner(wallet: Wallet): SolanaSigner {
  const accountOf = (address: string): WalletAccount => {
    const account = wallet.accounts.find((each) => each.address === address)
    if (!account) throw new WalletError('unauthorized', wallet.name)
    return account
  }
  return {
    accounts: () => wallet.accounts.map(({ address }) => address),
    signTransaction: async (address, network, bytes) => {
      const [account, chain] = [accountOf(address), standardChain(network)]
      if (!hasSignTransaction(wallet)) throw new WalletError('unsupported', wallet.name)
      if (account.chains.length > 0 && !account.chains.includes(chain))
        throw new WalletError('wrong_chain', wallet.name)
      const feature = wallet.features['solana:signTransaction']
      const [output] = await bounded(
        feature.signTransaction({ account, chain, transaction: bytes }),
        SIGN_WITHIN_MS,
      )
      if (!output) throw new WalletError('refused_transaction', wallet.name)
      return Uint8Array.from(output.signedTransaction)
    },
    signMessage: async (address, text) => {
      const account = accountOf(address)
      if (!hasSignMessage(wallet)) throw new WalletError('unsupported', wallet.name)
      const message = new TextEncoder().encode(text)
      const [output] = await bounded(
        wallet.features['solana:signMessage'].signMessage({ account, message }),
        SIGN_WITHIN_MS,
      )
      if (!output || bs58.encode(output.signedMessage) !== bs58.encode(message))
        throw new WalletError('refused_transaction', wallet.name)
      return Uint8Array.from(output.signature)
    },
  }
}

function hasSignTransaction(
  wallet: Wallet,
): wallet is Wallet & { features: SolanaSignTransactionFeature } {
  return 'solana:signTransaction' in wallet.features
}

function hasSignMessage(wallet: Wallet): wallet is Wallet & { features: SolanaSignMessageFeature } {
  return 'solana:signMessage' in wallet.features
}

/** Has the wallet sign a payment. Signing sends nothing: after any error, no byte has left. */
export async function signWithWallet(
  signer: SolanaSigner,
  order: WalletPaymentIntent,
  built: CheckedTransaction,
): Promise<WalletResponse> {
  try {
    return {
      kind: 'signed',
      bytes: await signer.signTransaction(order.sender, order.network, built.bytes),
    }
  } catch (error) {
    return { kind: 'refused', userError: describeUnsigned(signalOf(error), order.walletName) }
  }
}
