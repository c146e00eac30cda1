import type { StandardWalletAdapter } from '@solana/wallet-standard-wallet-adapter-base'
import bs58 from 'bs58'
import type { Network } from '#contract/network.ts'
import { setAccount } from '../state/accounts.ts'
import { bounded } from '../state/bounded.ts'
import { ChosenAccount } from '../state/chosen.ts'
import { safeIcon } from '../state/discover.ts'
import { walletProblem, WalletError } from '../state/errors.ts'
import { rememberedWallet, rememberWallet } from '../state/remembered.ts'
import { adapterNamed, mountAdapterRoot, selectAdapter } from './adapter-root.tsx'
import { readBalances } from './balances.ts'
import { solanaChain } from './chain.ts'
import { connectRpc, type Rpc } from './connections.ts'
import { signWithWallet } from './pay.ts'
import { solanaReader } from './reader.ts'
import { standardSigner } from './standard.ts'
import type { WalletAdapter } from '../state/wallet-adapter.ts'

const CONNECT_WITHIN_MS = 3 * 60_000
const QUIET_WITHIN_MS = 5_000

/** Starts @solana/wallet-adapter-react for the configured networks. */
export async function startSolana(networks: readonly Network[]): Promise<WalletAdapter> {
  const endpoint = networks[0]?.rpcUrls[0]
  if (!endpoint) throw new Error('No Solana network is configured.')
  const root = await mountAdapterRoot(endpoint)
  const chosen = new ChosenAccount()

  const connected = (): StandardWalletAdapter | undefined => {
    const { wallet } = root.current()
    const adapter = wallet && adapterNamed(root.current(), wallet.adapter.name)
    return adapter?.connected ? adapter : undefined
  }

  /** I5. Read from the wallet itself: its adapter may have missed a change. */
  const publish = (): string | undefined => {
    const adapter = connected()
    const address = adapter && chosen.pick(standardSigner(adapter.wallet).accounts())
    if (!adapter || !address) {
      setAccount('solana', undefined)
      return undefined
    }
    setAccount('solana', {
      family: 'solana',
      address,
      walletId: adapter.name,
      walletName: adapter.name,
      icon: safeIcon(adapter.icon),
    })
    return address
  }
  root.subscribe(publish)

  const rpcOf = connectAll(networks)
  return {
    connect: async (name) => {
      try {
        const adapter = await selectAdapter(root, name)
        chosen.forget()
        await bounded(adapter.connect(), CONNECT_WITHIN_MS)
        rememberWallet('solana', name)
        publish()
        return standardSigner(adapter.wallet).accounts()
      } catch (error) {
        throw walletProblem(error, name)
      }
    },
    choose: (address) => {
      const adapter = connected()
      if (adapter) chosen.choose(address, standardSigner(adapter.wallet).accounts())
      publish()
    },
    reconnect: async () => {
      const name = rememberedWallet('solana')
      if (name === undefined) return
      // A locked wallet, or one that is gone: the person connects by hand, nothing is forgotten and nothing pops up.
      await bounded(
        selectAdapter(root, name).then((adapter) => adapter.autoConnect()),
        QUIET_WITHIN_MS,
      ).catch(() => undefined)
      publish()
    },
    disconnect: async () => {
      rememberWallet('solana', undefined)
      await bounded(root.current().disconnect(), QUIET_WITHIN_MS).catch(() => undefined)
      publish()
    },
    signMessage: async (account, text) => {
      const adapter = connected()
      if (!adapter || publish() !== account.address)
        throw new WalletError('unauthorized', account.walletName)
      try {
        return bs58.encode(await standardSigner(adapter.wallet).signMessage(account.address, text))
      } catch (error) {
        throw walletProblem(error, account.walletName)
      }
    },
    signTypedData: async (_network, { walletName }) => {
      throw new WalletError('unsupported', walletName)
    },
    wallet: {
      signer: async () => publish() ?? null,
      pay: async (order, built) => {
        const adapter = connected()
        if (!adapter || publish() !== order.sender) return { kind: 'signer_changed' }
        return signWithWallet(standardSigner(adapter.wallet), order, built)
      },
    },
    chain: solanaChain(networks, rpcOf),
    reader: solanaReader,
    // The memo names the payment: nothing else is needed to recognise it.
    readBroadcast: () => Promise.resolve(null),
    balances: (network, address) =>
      rpcOf(network)((connection) => readBalances(connection, network, address)),
  }
}

function connectAll(networks: readonly Network[]): (network: Network) => Rpc {
  const rpcs = new Map(networks.map((network) => [network.network, connectRpc(network)]))
  return ({ network }) => {
    const rpc = rpcs.get(network)
    if (!rpc) throw new Error(`${network} is not configured.`)
    return rpc
  }
}
