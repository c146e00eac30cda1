import { createConnector, type CreateConnectorFn } from 'wagmi'
import type { Address } from 'viem'
import { WalletConnectSession, type WalletConnectOptions } from './walletconnect-session.ts'

/** The id by which dialog, memory and stack know a wallet at the other end of WalletConnect. */
export const WALLET_CONNECT = 'walletConnect'

/** WalletConnect as a connector of wagmi, beside those that EIP-6963 brings. */
export function walletConnect(options: Omit<WalletConnectOptions, 'chainIds'>): CreateConnectorFn {
  return createConnector((config) => {
    let opening: Promise<WalletConnectSession> | undefined
    const start = () =>
      WalletConnectSession.open(
        { ...options, chainIds: config.chains.map(({ id }) => id) },
        {
          accounts: (accounts) => config.emitter.emit('change', { accounts: accounts as Address[] }),
          chain: (chainId) => config.emitter.emit('change', { chainId }),
          end: () => config.emitter.emit('disconnect'),
        },
      )
    const session = () => {
      if (opening) return opening
      opening = start()
      // A start that failed, with the network down, is tried anew by the next caller.
      opening.catch(() => (opening = undefined))
      return opening
    }

    return {
      id: WALLET_CONNECT,
      name: 'WalletConnect',
      type: 'walletConnect',
      async connect({ isReconnecting } = {}) {
        const opened = await session()
        const known = opened.accounts()
        const accounts = known.length > 0 || isReconnecting ? known : await opened.connect()
        return { accounts: accounts as never, chainId: opened.chainId }
      },
      disconnect: async () => (await session()).disconnect(),
      getAccounts: async () => (await session()).accounts() as Address[],
      getChainId: async () => (await session()).chainId,
      getProvider: () => session(),
      isAuthorized: async () => (await session()).accounts().length > 0,
      // What a wallet tells comes through the session's own events.
      onAccountsChanged: () => {},
      onChainChanged: () => {},
      onDisconnect: () => {},
    }
  })
}
