import { parseEther } from 'viem'
import { devnetWallets } from '#devnet/nodes/wallets.ts'
import { freePort } from '#devnet/options.ts'
import { ensureBuilt } from '#devnet/web/build.ts'
import { WebServer } from '#devnet/web/server.ts'
import { openFaultHarness } from '../chaos/fault-harness.ts'
import { createRng } from '../chaos/rng.ts'
import { databaseVariables } from '../postgres.ts'
import { startProxyProcess, startServiceProcess } from '../service-process.ts'
import { NODES, startCluster } from './cluster.ts'

/** `npm run demo:cluster`: the cluster with both chains, two services, two proxies and the dashboard, until Ctrl-C. */
const stopped = new Promise<'stopped'>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => resolve('stopped'))
})
const SOL = 1_000_000_000n

try {
  console.log('Starting three Postgres servers under Patroni, and what needs them.')
  const starting = start()
  // Ctrl-C while it starts: what has started is ended as soon as the start is over, however it ends.
  const first = await Promise.race([stopped, starting])
  if (first === 'stopped') console.log('Stopping as soon as the start allows it.')
  await using demo = await starting
  if (first !== 'stopped') {
    console.log(demo.text)
    await stopped
    console.log('\nStopping.')
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
}
process.exit(0)

async function start(): Promise<AsyncDisposable & { text: string }> {
  await using stack = new AsyncDisposableStack()
  const building = ensureBuilt((line) => console.log(line))
  building.catch(() => undefined)
  const cluster = stack.use(await startCluster({ synchronous: true }))
  const harness = stack.use(
    await openFaultHarness({
      rng: createRng(1),
      database: { target: cluster.target, restart: () => Promise.reject(new Error('Not here.')) },
    }),
  )
  const { buyer, seller } = devnetWallets()
  const { evm, solana } = harness.makers
  for (const { evm: account, solana: holder } of [buyer, seller]) {
    await evm.client.setBalance({ address: account.address, value: parseEther('100') })
    await solana.setAccount(holder.address, { lamports: 100n * SOL })
  }
  // Browsers ask the chains themselves.
  const networks = [evm.network, solana.network].map((network) => ({
    ...network,
    publicRpcUrls: network.rpcUrls,
  }))
  const common = {
    ...databaseVariables(cluster.target),
    NETWORKS: JSON.stringify(networks),
    TRUSTED_PROXY_HOPS: '1',
  }
  const sellers = [seller.evm.address, seller.solana.address]
  for (const PORT of cluster.portsOf('service').map(String)) {
    const service = await startServiceProcess({
      ...harness.env,
      ...common,
      PORT,
      PUBLIC_SERVICE_URL: cluster.urls.service,
      PAYOUT_WALLETS: sellers.map((wallet) => `${harness.accountId}:${wallet}`).join(),
    })
    stack.use(service)
  }
  await building
  const port = await freePort()
  const bffPort = Number(new URL(cluster.urls.proxy).port)
  const web = stack.use(
    await WebServer.start({ port, bffPort, shops: [], networks, wallets: devnetWallets() }),
  )
  for (const PORT of cluster.portsOf('proxy').map(String)) {
    const proxy = await startProxyProcess({
      ...common,
      PORT,
      SERVICE_URL: cluster.urls.service,
      SERVICE_API_KEY: harness.key,
      ALLOWED_ORIGINS: `http://localhost:${port},http://127.0.0.1:${port}`,
      SELLER_WALLETS: sellers.join(),
      OPERATOR_WALLETS: sellers.join(),
      PUBLIC_SERVICE_URL: cluster.urls.service,
    })
    stack.use(proxy)
  }
  const { leader } = await cluster.untilWhole()
  const text = `
The cluster runs; ${leader} is the leader.

  Dashboard  ${web.url}  (sign in with "Demo wallet" as Seller)
  Service    ${cluster.urls.service}  (two of them behind haproxy; API: /docs)
  API key    ${harness.key}
  Proxy      ${cluster.urls.proxy}  (two of them behind haproxy)
  Postgres   ${cluster.target.url}  (haproxy leads to the leader)
  Patroni    ${NODES.map((node) => `${node} ${cluster.urls.patroni[node]}/cluster`).join('\n             ')}
  haproxy    ${cluster.urls.stats}
  Files      ${cluster.folder}  (settings and logs of Patroni, etcd and haproxy)

To see a failover, kill Postgres of the leader and look at Patroni:
  kill -9 $(head -1 ${cluster.folder}/${leader}/data/postmaster.pid)

Ctrl-C ends everything.`
  const opened = stack.move()
  return { text, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
