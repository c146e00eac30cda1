import { getPublicClient, signMessage } from 'wagmi/actions'
import { chainIdOf, type Network } from '#contract/network.ts'
import { bounded } from '../state/bounded.ts'
import { walletProblem, WalletError } from '../state/errors.ts'
import { readBalances } from './balances.ts'
import { readBroadcast } from './broadcast.ts'
import { evmChain } from './chain.ts'
import { EvmConnection, providerOf } from './connection.ts'
import { payWithProvider } from './pay.ts'
import { evmReader } from './reader.ts'
import { signTypedData } from './sign-typed-data.ts'
import { createConfigOf } from './wagmi.ts'
import { walletConnect, type RelaySettings } from './walletconnect.ts'
import type { WalletAdapter } from '../state/wallet-adapter.ts'

const SIGN_WITHIN_MS = 5 * 60_000

/** Starts wagmi for the configured networks. With `relay`, for wallets on other devices too. */
export function startEvm(networks: readonly Network[], relay: RelaySettings | null): WalletAdapter {
  const remote = relay ? walletConnect(relay) : undefined
  const config = createConfigOf(networks, remote ? [remote.connectorOf] : [])
  const connection = new EvmConnection(config, remote)

  const clientOf = (network: Network) => {
    const client = getPublicClient(config, { chainId: chainIdOf(network.network) })
    if (!client) throw new Error(`${network.network} is not configured.`)
    return client
  }

  return {
    connect: (walletId, elsewhere) => connection.connect(walletId, elsewhere),
    choose: (address) => connection.choose(address),
    reconnect: () => connection.reconnect(),
    disconnect: () => connection.disconnect(),
    signMessage: async (account, message) => {
      const signer = await connection.readSigner()
      if (signer?.address !== account.address)
        throw new WalletError('unauthorized', account.walletName)
      try {
        return await bounded(
          signMessage(config, {
            account: account.address as `0x${string}`,
            message,
            connector: signer.connector,
          }),
          SIGN_WITHIN_MS,
        )
      } catch (error) {
        throw walletProblem(error, account.walletName)
      }
    },
    signTypedData: async (network, { address, walletName }, data) => {
      const signer = await connection.readSigner()
      if (signer?.address !== address) throw new WalletError('unauthorized', walletName)
      return signTypedData(signer.provider, network, { address, walletName, data })
    },
    wallet: {
      signer: async () => (await connection.readSigner().catch(() => null))?.address ?? null,
      pay: async (order, built) => {
        const network = networks.find((each) => each.network === order.network)
        const { connector } = connection
        if (!network || !connector) return { kind: 'signer_changed' }
        return payWithProvider(await providerOf(connector), network, { order, built })
      },
    },
    chain: evmChain(networks, clientOf),
    reader: evmReader(networks),
    readBroadcast: (network, transaction) => readBroadcast(clientOf(network), transaction),
    balances: (network, address) => readBalances(clientOf(network), network, address),
  }
}
