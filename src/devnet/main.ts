import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { importQuickly } from '#postgres/quick-imports.ts'
import type { Devnet as Network } from './network.ts'

importQuickly()
const [{ Devnet }, { readOptions, portProblems }] = await Promise.all([
  import('./network.ts'),
  import('./options.ts'),
])

/** `npm start`: everything on this machine, until Ctrl-C. */
const stopped = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
})
const print = (line: string) => console.log(line)

try {
  const options = readOptions(process.argv.slice(2), process.env)
  const problems = await portProblems(options.named)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  print('Starting Paydesk.')
  const starting = Devnet.create({ ...options, print })
  // Ctrl-C while it starts: what has started is ended as soon as the start is over, however it ends.
  const interrupted = await Promise.race([stopped.then(() => true), starting.then(() => false)])
  if (interrupted) print('Stopping as soon as the start allows it.')
  await using net = await starting
  if (!interrupted) {
    const path = await writeToolsFile(net)
    print(whatNow(net, path))
    await stopped
    print('\nStopping.')
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
}
process.exit(0)

function whatNow(net: Network, path: string): string {
  const { seller } = net.wallets
  const article = `${net.urls.seller}/articles/settlement-without-banks`
  return `
Paydesk is ready:  ${net.urls.web}

  Pay      open ${net.urls.web}/pay?to=${seller.evm.address}&amount=0.01
           or   ${net.urls.web}/pay?to=${seller.solana.address}&amount=0.1
           and connect "Demo wallet" as Buyer. No extension is needed.
  Shop     ${article}
           costs 0.01 ETH and asks for it by x402: curl -i it, or open ${net.urls.web}/explore
  Review   sign in as Seller with the same wallet: ${net.urls.web}/payments
  Build    API and reference: ${net.urls.service}/docs
           addresses, keys and tokens: ${path}

Ctrl-C ends everything; the next start has the same history. npm start -- --reset forgets it.`
}

/** `devnet.json`: where everything is, with keys, for tools and for importing an account into a wallet. Its shape is stable. */
async function writeToolsFile(net: Network): Promise<string> {
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
