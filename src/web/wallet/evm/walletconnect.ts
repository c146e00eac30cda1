import type { Address } from 'viem'
import { createConnector, type CreateConnectorFn } from 'wagmi'
import type { Elsewhere } from '../state/wallet-adapter.ts'
import { WALLET_CONNECT } from './wallet-connect-id.ts'
import type { WalletConnectSession } from './walletconnect-session.ts'

export type RelaySettings = { projectId: string; relayUrl: string | null; title: string }

export type WalletConnect = {
  connectorOf: CreateConnectorFn
  /** The remote wallet's own name; undefined while there is none. */
  walletName(): string | undefined
  /** Sets where the code of the next connection is shown, and how it is cancelled. */
  setCodeDisplay(elsewhere: Elsewhere): void
}

/**
 * WalletConnect as a wagmi connector, in addition to those from EIP-6963. Its code loads when
 * someone uses it, or used it on the last visit.
 */
export function walletConnect({ projectId, relayUrl, title }: RelaySettings): WalletConnect {
  let elsewhere: Elsewhere | undefined
  let opening: Promise<WalletConnectSession> | undefined
  let opened: WalletConnectSession | undefined

  const connectorOf = createConnector((config) => {
    const start = async () => {
      const { WalletConnectSession: Session } = await import('./walletconnect-session.ts')
      const options = {
        projectId,
        ...(relayUrl !== null && { relayUrl }),
        asker: {
          name: title,
          url: window.location.origin,
          icon: new URL('favicon.svg', document.baseURI).href,
        },
        chainIds: config.chains.map(({ id }) => id),
        onUri: (uri: string) => elsewhere?.onUri(uri),
      }
      opened = await Session.open(options, {
        accounts: (accounts) => config.emitter.emit('change', { accounts: accounts as Address[] }),
        chain: (chainId) => config.emitter.emit('change', { chainId }),
        end: () => config.emitter.emit('disconnect'),
      })
      return opened
    }
    const session = () => {
      if (opening) return opening
      opening = start()
      // If the start failed, with the network down, the next caller tries again.
      opening.catch(() => (opening = undefined))
      return opening
    }
    return {
      id: WALLET_CONNECT,
      name: 'WalletConnect',
      type: 'walletConnect',
      async connect({ isReconnecting } = {}) {
        const current = await session()
        const known = current.accounts()
        const accounts = known.length > 0 || isReconnecting ? known : await current.connect()
        return { accounts: accounts as never, chainId: current.chainId }
      },
      disconnect: async () => (await session()).disconnect(),
      getAccounts: async () => (await session()).accounts() as Address[],
      getChainId: async () => (await session()).chainId,
      getProvider: () => session(),
      isAuthorized: async () => (await session()).accounts().length > 0,
      // The wallet's notifications come through the session's own events.
      onAccountsChanged: () => {},
      onChainChanged: () => {},
      onDisconnect: () => {},
    }
  })

  return {
    connectorOf,
    walletName: () => opened?.walletName,
    setCodeDisplay: (offered) => {
      elsewhere = offered
      offered.signal.addEventListener('abort', () => opened?.cancel(), { once: true })
    },
  }
}
