import type { StandardWalletAdapter } from '@solana/wallet-standard-wallet-adapter-base'
import { PublicKey, type Connection } from '@solana/web3.js'
import bs58 from 'bs58'
import { decodeTransaction } from '#chains/solana/decode.ts'
import { TOKEN_PROGRAMS } from '#chains/solana/programs.ts'
import { associatedTokenAccount, readTokenAccount } from '#chains/solana/token-account.ts'
import type { Network } from '#contract/network.ts'
import type { TransactionReader } from '../../payment-intent/ports.ts'
import { setAccount } from '../state/accounts.ts'
import { bounded } from '../state/bounded.ts'
import { ChosenAccount } from '../state/chosen.ts'
import { safeIcon } from '../state/discover.ts'
import { walletProblem, WalletError } from '../state/errors.ts'
import { firstDifference, toPaymentIntent } from '../state/intent.ts'
import { rememberedWallet, rememberWallet } from '../state/remembered.ts'
import type { WalletAdapter, AssetBalance } from '../state/wallet-adapter.ts'
import { adapterNamed, mountAdapterRoot, selectAdapter } from './adapter-root.tsx'
import { solanaChain } from './chain.ts'
import { connectRpc, type Rpc } from './connections.ts'
import { readingOf } from './operations.ts'
import { signWithWallet, standardSigner } from './pay.ts'

/** The most accounts a node tells of in one answer. */
const ACCOUNTS = 100

/**
 * What a wallet holds of each of the network's assets, in their order. Tokens are those of the associated accounts, under whichever of the two
 * programs the mint belongs to: payments are made out of these alone.
 */
export async function readBalances(
  connection: Connection,
  network: Network,
  owner: string,
): Promise<AssetBalance[]> {
  const addressesOf = (mint: string) =>
    TOKEN_PROGRAMS.map((program) => associatedTokenAccount({ owner, mint, program }).address)
  const addresses = [
    owner,
    ...network.assets
      .filter(({ native }) => !native)
      .flatMap(({ address }) => addressesOf(address)),
  ]
  const accounts = new Map<
    string,
    { lamports: number; owner: PublicKey; data: Uint8Array } | null
  >()
  for (let start = 0; start < addresses.length; start += ACCOUNTS) {
    const page = addresses.slice(start, start + ACCOUNTS)
    const infos = await connection.getMultipleAccountsInfo(
      page.map((address) => new PublicKey(address)),
      'confirmed',
    )
    for (const [index, address] of page.entries()) accounts.set(address, infos[index] ?? null)
  }
  const balanceIn = (address: string, mint: string): bigint => {
    const account = accounts.get(address)
    const token =
      account && readTokenAccount({ owner: account.owner.toBase58(), data: account.data })
    return token && token.owner === owner && token.mint === mint ? token.amountAtomic : 0n
  }
  return network.assets.map((asset) => ({
    asset,
    atomic: asset.native
      ? BigInt(accounts.get(owner)?.lamports ?? 0)
      : addressesOf(asset.address).reduce(
          (sum, address) => sum + balanceIn(address, asset.address),
          0n,
        ),
  }))
}

/** Reads Solana transactions from their bytes. */
export const solanaReader: TransactionReader = {
  match: (order, attempt, bytes) => {
    const { chainKnown } = attempt
    return readingOf(order).match(
      toPaymentIntent(order, attempt),
      bytes,
      chainKnown === null ? {} : { blockhashKnown: chainKnown },
    )
  },
  describe: (order, _attempt, bytes) => {
    const decoded = decodeTransaction(bytes, [order.asset])
    return decoded.ok ? decoded.steps : []
  },
  nonce: () => null,
  compareSigned: (order, built, signed) => {
    const match = readingOf(order).signed(toPaymentIntent(order, built), built.bytes, signed)
    const decoded = decodeTransaction(signed)
    if (!match.ok || match.digest !== built.digest || !decoded.ok)
      return { ok: false, difference: firstDifference(match.rows) }
    // What a fee payer has yet to sign has no name on the chain; until then it goes by the payer's signature.
    const own = decoded.signatures[decoded.signers.indexOf(order.sender)]
    const signature = order.feePayer === undefined ? decoded.signature : own && bs58.encode(own)
    return signature
      ? { ok: true, signature }
      : { ok: false, difference: firstDifference(match.rows) }
  },
}

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
