import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Devnet } from './network.ts'

/** `devnet.json`: where everything is, with keys, for tools and for importing an account into a wallet. Its shape is stable. */
export async function writeToolsFile(net: Devnet): Promise<string> {
  const { wallets, urls, evm, solana, apiKeys } = net
  const content = {
    ...urls,
    evm: { rpcUrl: evm.rpcUrl, chainId: evm.chainId, tokens: evm.tokens },
    solana: { rpcUrl: solana.rpcUrl, wsUrl: solana.wsUrl, tokens: solana.tokens },
    apiKeys,
    wallets: {
      buyer: wallets.buyer,
      seller: wallets.seller,
      managed: {
        evm: { address: wallets.managed.evm.address },
        solana: { address: wallets.managed.solana.address },
      },
    },
  }
  const path = join(net.dir, 'devnet.json')
  await writeFile(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  // The mode above counts for a new file only.
  await chmod(path, 0o600)
  return path
}
