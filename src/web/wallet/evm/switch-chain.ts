import { hexToNumber, isHex, numberToHex, type EIP1193Provider } from 'viem'
import { chainIdOf, nativeAsset, type Network } from '#contract/network.ts'
import { bounded } from '../state/bounded.ts'
import { signalOf, WalletError } from '../state/errors.ts'

const READ_WITHIN_MS = 10_000
/** A person answers the wallet's question in here; some wallets never settle the promise at all. */
const SWITCH_WITHIN_MS = 90_000

/**
 * Brings the wallet to a network, adding it where the wallet does not know it. Believes only `eth_chainId`: some wallets answer
 * that they switched and stay where they are.
 * @throws WalletError; nothing was sent in any case
 */
export async function switchChain(
  provider: EIP1193Provider,
  network: Network,
  walletName: string,
): Promise<void> {
  const expected = chainIdOf(network.network)
  if ((await readChainId(provider)) === expected) return
  try {
    await requestSwitch(provider, expected)
  } catch (error) {
    if (signalOf(error) !== 'unknown_chain') throw problemOf(error, walletName, 'wrong_chain')
    await addChain(provider, network, walletName)
    if ((await readChainId(provider)) !== expected) {
      await requestSwitch(provider, expected).catch((again) => {
        throw problemOf(again, walletName, 'wrong_chain')
      })
    }
  }
  if ((await readChainId(provider)) !== expected) throw new WalletError('wrong_chain', walletName)
}

export async function readChainId(provider: EIP1193Provider): Promise<number> {
  const chainId: unknown = await bounded(
    provider.request({ method: 'eth_chainId' }),
    READ_WITHIN_MS,
  )
  return isHex(chainId) ? hexToNumber(chainId) : Number(chainId)
}

async function requestSwitch(provider: EIP1193Provider, chainId: number): Promise<void> {
  await bounded(
    provider.request({
      method: 'wallet_switchEthereumChain',
      params: [{ chainId: numberToHex(chainId) }],
    }),
    SWITCH_WITHIN_MS,
  )
}

async function addChain(
  provider: EIP1193Provider,
  network: Network,
  walletName: string,
): Promise<void> {
  const { name, symbol, decimals } = nativeAsset(network)
  const explorer = network.explorer && new URL(network.explorer.tx.replace('{tx}', '')).origin
  const chain = {
    chainId: numberToHex(chainIdOf(network.network)),
    chainName: network.name,
    nativeCurrency: { name, symbol, decimals },
    rpcUrls: network.rpcUrls,
    ...(explorer && { blockExplorerUrls: [explorer] }),
  }
  try {
    await bounded(
      provider.request({ method: 'wallet_addEthereumChain', params: [chain] }),
      SWITCH_WITHIN_MS,
    )
  } catch (error) {
    throw problemOf(error, walletName, 'add_chain_failed')
  }
}

/** A refusal stays a refusal; anything less clear becomes `otherwise`, and nothing was sent either way. */
function problemOf(
  error: unknown,
  walletName: string,
  otherwise: 'wrong_chain' | 'add_chain_failed',
): WalletError {
  const signal = signalOf(error)
  return new WalletError(
    signal === 'rejected' || signal === 'request_pending' ? signal : otherwise,
    walletName,
    { cause: error },
  )
}
