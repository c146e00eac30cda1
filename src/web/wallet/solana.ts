import type { StandardWalletAdapter } from '@solana/wallet-standard-wallet-adapter-base'
import { PublicKey } from '@solana/web3.js'
import bs58 from 'bs58'
import type { Network } from '#contract/network.ts'
import { setAccount } from './accounts.ts'
import { bounded } from './bounded.ts'
import { safeIcon } from './discover.ts'
import { describeSignal, signalOf, walletProblem, WalletProblem } from './errors.ts'
import { rememberedWallet, rememberWallet } from './remembered.ts'
import { adapterNamed, mountAdapterRoot, walletName } from './solana/adapter-root.tsx'
import { solanaChain } from './solana/chain.ts'
import { connectRpc, type Rpc } from './solana/connections.ts'
import { solanaReader } from './solana/reader.ts'
import { standardSigner } from './solana/standard.ts'
import type { WalletStack } from './stack.ts'

const CONNECT_WITHIN_MS = 3 * 60_000
const QUIET_WITHIN_MS = 5_000
const REGISTERED_WITHIN_MS = 2_000

/** Starts @solana/wallet-adapter-react for the configured networks. */
export async function startSolana(networks: readonly Network[]): Promise<WalletStack> {
  const endpoint = networks[0]?.rpcUrls[0]
  if (!endpoint) throw new Error('This desk has no Solana network.')
  const root = await mountAdapterRoot(endpoint)
  let chosen: { address: string; first: string | undefined } | undefined

  const connected = (): StandardWalletAdapter | undefined => {
    const { wallet } = root.current()
    const adapter = wallet && adapterNamed(root.current(), wallet.adapter.name)
    return adapter?.connected ? adapter : undefined
  }

  /** The wallet's first account, unless the person chose another one and the wallet's first has stayed the same since. */
  const pick = (accounts: readonly string[]): string | undefined => {
    if (chosen && chosen.first === accounts[0] && accounts.includes(chosen.address)) return chosen.address
    chosen = undefined
    return accounts[0]
  }

  /** I5. Read from the wallet itself: its adapter may have missed a change. */
  const publish = (): string | undefined => {
    const adapter = connected()
    const address = adapter && pick(standardSigner(adapter.wallet).accounts())
    if (!adapter || !address) {
      setAccount('solana', undefined)
      return undefined
    }
    setAccount('solana', { family: 'solana', address, walletId: adapter.name, walletName: adapter.name, icon: safeIcon(adapter.icon) })
    return address
  }
  root.subscribe(publish)

  /** `select` takes effect on the next render; connecting before it would connect the wallet selected before, or none. */
  const select = async (name: string): Promise<StandardWalletAdapter> => {
    if (!(await root.until((context) => adapterNamed(context, name) !== undefined, REGISTERED_WITHIN_MS))) throw new WalletProblem('disconnected', name)
    root.current().select(walletName(name))
    await root.until((context) => context.wallet?.adapter.name === name, REGISTERED_WITHIN_MS)
    const adapter = adapterNamed(root.current(), name)
    if (!adapter) throw new WalletProblem('disconnected', name)
    return adapter
  }

  const rpcs = new Map<string, Rpc>(networks.map((network) => [network.network, connectRpc(network)]))
  const rpcOf = ({ network }: Network): Rpc => {
    const rpc = rpcs.get(network)
    if (!rpc) throw new Error(`${network} is not configured.`)
    return rpc
  }

  return {
    connect: async (name) => {
      try {
        const adapter = await select(name)
        chosen = undefined
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
      chosen = { address, first: adapter && standardSigner(adapter.wallet).accounts()[0] }
      publish()
    },
    reconnect: async () => {
      const name = rememberedWallet('solana')
      if (name === undefined) return
      // A locked wallet, or one that is gone: the person connects by hand, nothing is forgotten and nothing pops up.
      await bounded(select(name).then((adapter) => adapter.autoConnect()), QUIET_WITHIN_MS).catch(() => undefined)
      publish()
    },
    disconnect: async () => {
      rememberWallet('solana', undefined)
      await bounded(root.current().disconnect(), QUIET_WITHIN_MS).catch(() => undefined)
      publish()
    },
    signMessage: async (account, text) => {
      const adapter = connected()
      if (!adapter || publish() !== account.address) throw new WalletProblem('unauthorized', account.walletName)
      try {
        return bs58.encode(await standardSigner(adapter.wallet).signMessage(account.address, text))
      } catch (error) {
        throw walletProblem(error, account.walletName)
      }
    },
    wallet: {
      signer: async () => publish() ?? null,
      pay: async (order, built) => {
        const adapter = connected()
        if (!adapter || publish() !== order.sender) return { kind: 'signer_changed' }
        try {
          return { kind: 'signed', bytes: await standardSigner(adapter.wallet).signTransaction(order.sender, order.network, built.bytes) }
        } catch (error) {
          // Signing sends nothing: whatever went wrong, no byte has left.
          const { code, title, body } = describeSignal(signalOf(error), order.walletName)
          const clear = body.includes('Nothing was sent')
          return { kind: 'refused', trouble: { code, title, body: clear ? body : 'Nothing was sent. You can sign again.' } }
        }
      },
    },
    chain: solanaChain(networks, rpcOf),
    reader: solanaReader,
    balance: async (network, address) => BigInt(await rpcOf(network)((connection) => connection.getBalance(new PublicKey(address), 'confirmed'))),
  }
}
