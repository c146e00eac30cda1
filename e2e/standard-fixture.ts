import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Devnet } from '#devnet/network.ts'
import { freePort } from '#devnet/options.ts'
import { Program } from '#devnet/programs.ts'
import { WebServer } from '#devnet/web/server.ts'
import { randomUuid } from './random.ts'

export type StandardFixture = { web: string; bff: string; [Symbol.asyncDispose](): Promise<void> }

/**
 * Another dashboard in front of the same service and chains, with a key of the standard plan: 100
 * requests a minute.
 */
export async function startStandardFixture(net: Devnet): Promise<StandardFixture> {
  await using stack = new AsyncDisposableStack()
  const [webPort, bffPort] = [await freePort(), await freePort()]
  const dir = await mkdtemp(join(tmpdir(), 'paydesk-standard-'))
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const { evm, solana } = net.wallets.seller
  const env = {
    DATA_DIR: join(dir, 'bff'),
    SERVICE_URL: net.urls.service,
    SERVICE_API_KEY: net.apiKeys.standard,
    NETWORKS_FILE: join(net.dir, 'networks.json'),
    ALLOWED_ORIGINS: `http://localhost:${webPort}`,
    SELLER_WALLETS: `${evm.address},${solana.address}`,
  }
  const bff = stack.use(
    await Program.start({
      name: 'bff',
      port: bffPort,
      env,
      logDir: join(dir, 'logs'),
      print: () => undefined,
    }),
  )
  const web = stack.use(
    await WebServer.start({
      port: webPort,
      bffPort,
      shops: [],
      networks: net.networks,
      wallets: net.wallets,
    }),
  )
  const moved = stack.move()
  return { web: web.url, bff: bff.url, [Symbol.asyncDispose]: () => moved.disposeAsync() }
}

/**
 * Another page at the same address uses up what it may do in a minute, and keeps using any
 * allowance that refills until it is stopped: with real requests, which the service refuses because
 * nobody pays themselves.
 * @returns once a request was refused for asking too often
 */
export async function useUpActions(
  fixture: StandardFixture,
  net: Devnet,
): Promise<{ stop: () => Promise<void> }> {
  let going = true
  let refused = () => undefined as void
  const usedUp = new Promise<void>((resolve) => (refused = resolve))
  const { address } = net.wallets.seller.evm
  const network = `eip155:${net.evm.chainId}`
  const body = JSON.stringify({
    walletAddress: address,
    recipientAddress: address,
    amount: 0.01,
    network,
  })
  const headers = {
    'content-type': 'application/json',
    origin: fixture.web,
    'x-requested-by': 'paydesk',
  }
  const taking = (async () => {
    while (going) {
      const response = await fetch(`${fixture.bff}/api/transaction/send`, {
        method: 'POST',
        headers: { ...headers, 'idempotency-key': randomUuid() },
        body,
      })
      await response.arrayBuffer()
      if (response.status === 429) refused()
    }
  })()
  await Promise.race([usedUp, taking])
  return {
    stop: async () => {
      going = false
      await taking
    },
  }
}
