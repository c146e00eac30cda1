import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import pg from 'pg'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { parseEther } from 'viem'
import type { Network } from '#contract/network.ts'
import { openDatabase, type Database } from '#postgres/open.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import { registerWallet } from '#service/wallets/ownership.ts'
import { createSigner } from '#signer/signer.ts'
import { openFileVault } from '#signer/vaults.ts'
import { ApiClient } from '#testing/api-client.ts'
import { openPremiumAccount, openTills, type Till } from '#testing/chaos/harness.ts'
import { startEvm, type EvmFixture } from '#testing/local-chains.ts'
import { createDatabase, startServer } from '#testing/postgres.ts'
import { startServiceProcess, type ServiceProcess } from '#testing/service-process.ts'
import type { ProofMakers } from '#testing/tenant-proofs.ts'
import { deployTokens, type EvmTokens } from '#testing/token-payers.ts'
import { assetOf, openSolana } from '#testing/two-tenants.ts'
import { startCountingProxy, type CountingProxy } from './counting-proxy.ts'

export type BenchFixture = AsyncDisposable & {
  evm: EvmFixture
  tokens: EvmTokens
  /** As the service is told of them: behind the counting proxies. */
  networks: readonly [evm: Network, solana: Network]
  rpc: { evm: CountingProxy; solana: CountingProxy }
  service: ServiceProcess
  api: ApiClient
  key: string
  env: Record<string, string>
  accountId: string
  tills: Till[]
  makers: ProofMakers
  /** Addresses of the account that may be paid. */
  payees: { evm: string; solana: string }
  mining: { paused: boolean }
  databaseUrl: string
  db: Database
  statements: StatementCounter
}

export type StatementCount = { statements: number; syncs: number; list: string }
export type StatementCounter = {
  /** Statements of the service and syncs of the write-ahead log since the last time. */
  take: () => Promise<StatementCount>
}

const BLOCK_MS = 1_000
const SLOT_MS = 400
/** Blocks are final twice as many later. */
const SLOTS_IN_EPOCH = 8

/**
 * What benches share: both chains behind counting proxies, Debian's Postgres with fsync on, a premium
 * account with wallets, and one service as an operator starts it.
 */
export async function openBenchFixture(): Promise<BenchFixture> {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-bench-'))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const evm = stack.use(await startEvm({ slotsInEpoch: SLOTS_IN_EPOCH }))
  await evm.mine()
  const feePayers = { evm: generatePrivateKey(), solana: Keypair.generate() }
  const solana = stack.use(await openSolana(feePayers.solana, SLOT_MS))
  const tokens = await deployTokens(evm)
  const databaseUrl = stack.use(await openPostgres()).url
  const { db } = stack.use(
    await openDatabase({ url: databaseUrl }, { ...SERVICE_SCHEMA, onWarning: () => {} }),
  )
  const vaultKeyFile = join(folder, 'vault.key')
  const signer = createSigner({ vault: openFileVault(vaultKeyFile), folder })
  const { accountId, key } = await openPremiumAccount(db)
  const { tills } = await openTills({ evm, solana }, { db, signer, accountId })
  const relayer = privateKeyToAccount(feePayers.evm)
  for (const [family, secret] of [
    ['evm', Buffer.from(feePayers.evm.slice(2), 'hex')],
    ['solana', Uint8Array.from(feePayers.solana.secretKey.subarray(0, 32))],
  ] as const)
    await createWallet(
      { db, signer, now: new Date() },
      { accountId, family, name: 'Settlements', secret },
    )
  await evm.client.setBalance({ address: relayer.address, value: parseEther('1000') })
  await solana.setAccount(feePayers.solana.publicKey.toBase58(), { lamports: 1_000_000_000_000n })
  const payees = {
    evm: privateKeyToAccount(generatePrivateKey()).address,
    solana: Keypair.generate().publicKey.toBase58(),
  }
  for (const address of Object.values(payees))
    await registerWallet(
      { db, now: new Date() },
      { accountId, address, network: null, proof: 'operator' },
    )

  const rpc = {
    evm: stack.use(await startCountingProxy(evm.rpcUrl)),
    solana: stack.use(
      await startCountingProxy(solana.network.rpcUrls[0] ?? '', { takesBatches: false }),
    ),
  }
  const networks: BenchFixture['networks'] = [
    { ...tokens.network, blockTimeMs: BLOCK_MS, rpcUrls: [rpc.evm.url] },
    { ...solana.network, rpcUrls: [rpc.solana.url] },
  ]
  const mining = { paused: false }
  const ticking = setInterval(() => {
    if (!mining.paused) evm.mine().catch(() => {})
  }, BLOCK_MS)
  stack.defer(() => clearInterval(ticking))
  const env = {
    DATABASE_URL: databaseUrl,
    NETWORKS: JSON.stringify(networks),
    VAULT_KEY_FILE: vaultKeyFile,
    FACILITATOR_WALLETS: [relayer.address, feePayers.solana.publicKey.toBase58()].join(','),
    LOG_LEVEL: 'info',
  }
  const service = stack.use(await startServiceProcess(env))
  const statements = stack.use(await countStatements(databaseUrl))
  const opened = stack.move()
  return {
    evm,
    tokens,
    networks,
    rpc,
    service,
    api: new ApiClient(service.url, key),
    key,
    env,
    accountId,
    tills,
    makers: {
      evm,
      solana,
      eth: assetOf(tokens.network, 'ETH'),
      usdc: tokens.usdc,
      feePayer: feePayers.solana.publicKey.toBase58(),
      async payer() {
        const account = await evm.wallet(parseEther('100'))
        await tokens.fund(account.address)
        return account
      },
    },
    payees,
    mining,
    databaseUrl,
    db,
    statements,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const DEBIAN = '/usr/lib/postgresql'

/** The distribution's Postgres: the npm package has no `pg_stat_statements`. */
export async function openPostgres(): Promise<AsyncDisposable & { url: string }> {
  const version = readdirSync(DEBIAN).toSorted().at(-1)
  if (version === undefined)
    throw new Error(`Expected a Postgres server below ${DEBIAN}: apt-get install postgresql.`)
  const server = await startServer({
    durable: true,
    bin: join(DEBIAN, version, 'bin'),
    settings: ['shared_preload_libraries=pg_stat_statements'],
  })
  const { target } = await createDatabase(server.folder)
  // The counters of the server are for its administrator.
  return {
    url: target.url.replace('paydesk_runtime@', 'postgres@'),
    [Symbol.asyncDispose]: () => server.stop(),
  }
}

type Statement = { query: string; calls: string }

async function countStatements(url: string): Promise<StatementCounter & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create extension pg_stat_statements')
  let synced = 0
  const readSyncs = async () => {
    const { rows } = await client.query<{ syncs: string }>(
      'select wal_sync::text as syncs from pg_stat_wal',
    )
    return Number(rows[0]?.syncs)
  }
  const reset = async () => {
    await client.query('select pg_stat_statements_reset()')
    synced = await readSyncs()
  }
  await reset()
  return {
    async take() {
      const { rows } = await client.query<Statement>(
        `select query, calls::text from pg_stat_statements
        where query not like '%pg_stat_%' order by pg_stat_statements.calls desc`,
      )
      const syncs = (await readSyncs()) - synced
      await reset()
      return {
        statements: rows.reduce((sum, { calls }) => sum + Number(calls), 0),
        syncs,
        list: rows
          .slice(0, 12)
          .map(({ query, calls }) => `${calls} × ${query.replaceAll(/\s+/g, ' ').slice(0, 70)}`)
          .join('\n'),
      }
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}
