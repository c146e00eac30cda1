import { writeFile } from 'node:fs/promises'
import { BFF_SCHEMA } from '#bff/db/migrations-folder.ts'
import {
  type Asset,
  type Network,
  NATIVE_ETH,
  NATIVE_SOL,
  SOLANA_DEVNET,
} from '#contract/network.ts'
import { openDatabase } from '#postgres/open.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { COMPILE_CACHE, embeddedTemplate, Folder } from './folder.ts'
import { isComplete, prepareAccount, readKeys, writeKeys, type Keys } from './keys.ts'
import { EVM_CHAIN_ID, EvmNode } from './nodes/evm.ts'
import { GENESIS_HASH } from './nodes/solana/method-overrides.ts'
import { SolanaNode } from './nodes/solana/node.ts'
import { devnetWallets, seedPayers, type Wallets } from './nodes/wallets.ts'
import { freePort } from './options.ts'
import {
  type Program,
  type Setting,
  shopUrl,
  startBff,
  startSeller,
  startService,
  vaultKeyFile,
} from './programs.ts'
import { genesisTime, seedHistory } from './seed/seed.ts'
import { deployEvmTokens, EVM_TOKENS } from './tokens/evm.ts'
import { createSolanaAccounts, SOLANA_TOKENS } from './tokens/solana.ts'
import { ensureBuilt } from './web/build.ts'
import { WebServer } from './web/server.ts'

export type ChainFacts = {
  evm: { rpcUrl: string; blockTimeSeconds: number }
  solana: { rpcUrl: string; wsUrl: string; slotTimeMs: number }
}

const EVM_CONFIRMATIONS = 2

/** The two local chains, as every program is configured for them. */
function localNetworks({ evm, solana }: ChainFacts): Network[] {
  return [
    {
      network: `eip155:${EVM_CHAIN_ID}`,
      name: 'Local Ethereum',
      rpcUrls: [evm.rpcUrl],
      publicRpcUrls: [evm.rpcUrl],
      testnet: true,
      blockTimeMs: Math.max(1, Math.round(evm.blockTimeSeconds * 1000)),
      confirmations: EVM_CONFIRMATIONS,
      assets: [NATIVE_ETH, ...Object.values(EVM_TOKENS)],
    },
    {
      network: SOLANA_DEVNET,
      name: 'Local Solana',
      rpcUrls: [solana.rpcUrl],
      publicRpcUrls: [solana.rpcUrl],
      wsUrl: solana.wsUrl,
      testnet: true,
      blockTimeMs: solana.slotTimeMs,
      confirmations: 1,
      assets: [NATIVE_SOL, ...Object.values(SOLANA_TOKENS)],
      genesisHash: GENESIS_HASH,
    },
  ]
}

export type NodePorts = {
  web: number
  bff: number
  service: number
  seller: number
  evm: number
  solana: number
  solanaWs: number
}

export type DevnetOptions = {
  /** Kept and found again at the next start; a temporary folder otherwise. */
  dir?: string
  /** Forgets what `dir` holds. */
  reset?: boolean
  /** Free ones otherwise. */
  ports?: Partial<NodePorts>
  /** Which programs run; all by default. The bff and the seller need the service, the web the bff. The seller runs where the web does, unless it is named. */
  programs?: { service?: boolean; bff?: boolean; web?: boolean; seller?: boolean }
  /** Sixty days of history at the first start; true by default. */
  seed?: boolean
  evmBlockTimeSeconds?: number
  slotTimeMs?: number
  /** A Postgres server for service and bff; embedded ones otherwise. */
  databaseUrl?: string
  /** Offers wallets on other devices through this relay of WalletConnect (`ws://…`). */
  relayUrl?: string
  /** Sends emails through this server (`smtp://…`); none otherwise. */
  smtpUrl?: string
  /** Hears what happens, in sentences. */
  print?: (line: string) => void
}

type Chains = { evm: EvmNode; solana: SolanaNode }
type Started = {
  folder: Folder
  chains: Chains
  networks: Network[]
  keys: Keys
  service: Program | undefined
  bff: Program | undefined
  seller: Program | undefined
  web?: WebServer
}

/**
 * Everything on this machine: both chains with tokens, the service, the proxy and the web app, as they run in production but for their
 * environment. `await using net = await Devnet.create()` leaves nothing behind.
 */
export class Devnet implements AsyncDisposable {
  readonly evm: {
    rpcUrl: string
    chainId: number
    tokens: Readonly<Record<string, Asset>>
    kill: () => Promise<void>
  }
  readonly solana: {
    rpcUrl: string
    wsUrl: string
    tokens: Readonly<Record<string, Asset>>
    kill: () => Promise<void>
  }
  readonly networks: Network[]
  readonly wallets: Wallets
  readonly apiKeys: { operator: string; standard: string; readonly: string }
  readonly urls: { web: string; bff: string; service: string; seller: string }
  readonly #started: Started
  readonly #stack: AsyncDisposableStack

  private constructor(started: Started, stack: AsyncDisposableStack) {
    const { chains, networks, keys, service, bff, seller, web } = started
    this.evm = {
      rpcUrl: chains.evm.rpcUrl,
      chainId: EVM_CHAIN_ID,
      tokens: EVM_TOKENS,
      kill: () => chains.evm.kill(),
    }
    this.solana = {
      rpcUrl: chains.solana.rpcUrl,
      wsUrl: chains.solana.wsUrl,
      tokens: SOLANA_TOKENS,
      kill: () => chains.solana.kill(),
    }
    this.networks = networks
    this.wallets = devnetWallets()
    this.apiKeys = { operator: keys.operator, standard: keys.standard, readonly: keys.readonly }
    this.urls = {
      web: web?.url ?? '',
      bff: bff?.url ?? '',
      service: service?.url ?? '',
      seller: seller?.url ?? '',
    }
    this.#started = started
    this.#stack = stack
  }

  static async create(options: DevnetOptions = {}): Promise<Devnet> {
    const print = options.print ?? (() => undefined)
    await using stack = new AsyncDisposableStack()
    const folder = stack.use(await Folder.open(options.dir, options.reset ?? false))
    const ports = await choosePorts(options.ports)
    const programs = {
      service: true,
      bff: true,
      web: true,
      seller: options.programs?.web ?? true,
      ...options.programs,
    }
    const building = programs.web ? ensureBuilt(print) : Promise.resolve()
    // Awaited below; a failure must not count as unhandled until then.
    building.catch(() => undefined)

    const chains = await startChains(stack, folder, { ...options, ports, print })
    const networks = localNetworks({
      evm: { rpcUrl: chains.evm.rpcUrl, blockTimeSeconds: blockTime(options) },
      solana: {
        ...chains.solana,
        rpcUrl: chains.solana.rpcUrl,
        wsUrl: chains.solana.wsUrl,
        slotTimeMs: slotTime(options),
      },
    })
    await writeFile(folder.in('networks.json'), JSON.stringify(networks))
    const keys = folder.complete
      ? await laterStart(folder, options)
      : await firstStart(folder, chains, { ...options, bff: programs.bff, print })
    const setting = {
      folder,
      ports,
      keys,
      databaseUrl: options.databaseUrl,
      relayUrl: options.relayUrl,
      smtpUrl: options.smtpUrl,
      shop: programs.seller,
      print,
    }
    const started: Started = {
      ...(await startPrograms(stack, setting, programs)),
      folder,
      chains,
      networks,
      keys,
    }
    await building
    if (programs.web) {
      started.web = stack.use(
        await WebServer.start({
          port: ports.web,
          bffPort: ports.bff,
          shops: [
            ...(programs.seller ? [shopUrl(ports)] : []),
            ...(options.relayUrl ? [options.relayUrl] : []),
          ],
          networks,
          wallets: devnetWallets(),
        }),
      )
      print(`web      ${started.web.url}`)
    }
    return new Devnet(started, stack.move())
  }

  /** The running service: `kill` and `restart` resolve when it serves again. */
  get service(): Program {
    return present(this.#started.service, 'service')
  }

  get bff(): Program {
    return present(this.#started.bff, 'bff')
  }

  /** The demo shop. */
  get seller(): Program {
    return present(this.#started.seller, 'seller')
  }

  /** Where everything lies. */
  get dir(): string {
    return this.#started.folder.path
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }
}

const blockTime = (options: DevnetOptions) => options.evmBlockTimeSeconds ?? 1
const slotTime = (options: DevnetOptions) => options.slotTimeMs ?? 400

async function choosePorts(chosen: Partial<NodePorts> = {}): Promise<NodePorts> {
  const free = {
    web: await freePort(),
    bff: await freePort(),
    service: await freePort(),
    seller: await freePort(),
    evm: await freePort(),
    solana: await freePort(),
    solanaWs: await freePort(),
  }
  return { ...free, ...chosen }
}

type Starting = DevnetOptions & { print: (line: string) => void }

async function startChains(
  stack: AsyncDisposableStack,
  folder: Folder,
  options: Starting & { ports: NodePorts },
): Promise<Chains> {
  const { ports, print, seed = true } = options
  const starting = Promise.allSettled([
    EvmNode.start({
      dir: folder.in('evm'),
      port: ports.evm,
      blockTimeSeconds: blockTime(options),
      genesisTime: seed ? genesisTime(Date.now()) : undefined,
      print,
    }),
    SolanaNode.start({
      dir: folder.in('solana'),
      port: ports.solana,
      wsPort: ports.solanaWs,
      slotTimeMs: slotTime(options),
      env: COMPILE_CACHE,
      print,
    }),
  ])
  const [evm, solana] = await starting
  if (evm.status === 'fulfilled') stack.use(evm.value)
  if (solana.status === 'fulfilled') stack.use(solana.value)
  if (evm.status === 'rejected') throw evm.reason
  if (solana.status === 'rejected') throw solana.reason
  print(`EVM      ${evm.value.rpcUrl}`)
  print(`Solana   ${solana.value.rpcUrl} and ${solana.value.wsUrl}`)
  return { evm: evm.value, solana: solana.value }
}

/** All at once: none needs another one to begin with. */
async function startPrograms(
  stack: AsyncDisposableStack,
  setting: Setting,
  named: { service: boolean; bff: boolean; seller: boolean },
): Promise<Pick<Started, 'service' | 'bff' | 'seller'>> {
  const results = await Promise.allSettled([
    named.service ? startService(setting) : undefined,
    named.bff ? startBff(setting) : undefined,
    named.seller ? startSeller(setting) : undefined,
  ])
  const [service, bff, seller] = results.map((result) =>
    result.status === 'fulfilled' && result.value ? stack.use(result.value) : undefined,
  )
  for (const result of results) if (result.status === 'rejected') throw result.reason
  for (const [name, program] of Object.entries({ service, bff, seller }))
    if (program) setting.print(`${name.padEnd(8)} ${program.url}`)
  return { service, bff, seller }
}

/** Tokens, account, keys and history: once for each folder, before the service takes its database. */
async function firstStart(
  folder: Folder,
  chains: Chains,
  options: Starting & { bff: boolean },
): Promise<Keys> {
  const { databaseUrl, seed = true, print } = options
  print('First start: preparing the database and the tokens.')
  const holders = [...Object.values(devnetWallets()), ...seedPayers()]
  // First, and alone: the embedded database blocks this thread while it sets itself up, and requests to the chains would time out.
  const template = databaseUrl ? undefined : await embeddedTemplate()
  if (template && options.bff)
    await (
      await openDatabase({ dataDir: folder.in('bff'), template }, BFF_SCHEMA)
    )[Symbol.asyncDispose]()
  await using opened = await openDatabase(
    databaseUrl ? { url: databaseUrl } : { dataDir: folder.in('service'), template },
    SERVICE_SCHEMA,
  )
  await Promise.all([
    deployEvmTokens(
      chains.evm,
      holders.map(({ evm }) => evm.address),
    ),
    createSolanaAccounts(
      chains.solana.connection,
      holders.map(({ solana }) => solana.address),
    ),
  ])
  const keys = await prepareAccount({ db: opened.db, vaultKeyFile: vaultKeyFile(folder) })
  if (seed) {
    const count = await seedHistory(chains, opened.db, keys.accountId)
    print(`Wrote ${count} payments of the last sixty days.`)
  }
  await writeKeys(folder.path, keys)
  await folder.markComplete()
  return keys
}

/** What an earlier version of the devnet did not make yet is made now. */
async function laterStart(folder: Folder, { databaseUrl }: DevnetOptions): Promise<Keys> {
  const known = await readKeys(folder.path)
  if (isComplete(known)) return known
  await using opened = await openDatabase(
    databaseUrl ? { url: databaseUrl } : { dataDir: folder.in('service') },
    SERVICE_SCHEMA,
  )
  const keys = await prepareAccount({ db: opened.db, vaultKeyFile: vaultKeyFile(folder), known })
  await writeKeys(folder.path, keys)
  return keys
}

function present(program: Program | undefined, name: string): Program {
  if (!program) throw new Error(`This devnet was made without the ${name}.`)
  return program
}
