import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import {
  createTestClient,
  createWalletClient,
  defineChain,
  http,
  publicActions,
  type Chain,
  type Hex,
  type HttpTransport,
  type PublicActions,
  type TestClient,
  type Transport,
  type WalletClient,
} from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { Supervised } from './child.ts'
import { DEVNET_MNEMONIC } from './wallets.ts'

export const EVM_CHAIN_ID = 31_337

const READY_POLL_MS = 20
const REQUEST_TIMEOUT_MS = 60_000
const ACCOUNTS = 20

export type EvmOptions = {
  dir: string
  port: number
  /** Seconds between blocks; anvil takes fractions. */
  blockTimeSeconds: number
  /** Unix seconds of the first block of a new chain; now otherwise. */
  genesisTime?: number
  print: (line: string) => void
}

export type EvmClient = TestClient<'anvil', Transport, Chain> & PublicActions<Transport, Chain>

/** A real EVM node (anvil) as a child process. What it knows is on the disk at most a second later. */
export class EvmNode implements AsyncDisposable {
  readonly rpcUrl: string
  readonly client: EvmClient
  /** Whether the chain was made by this start. */
  readonly fresh: boolean
  readonly #process: Supervised

  private constructor(node: Supervised, options: EvmOptions, fresh: boolean) {
    this.#process = node
    this.fresh = fresh
    this.rpcUrl = rpcUrl(options.port)
    this.client = connect(this.rpcUrl)
  }

  static async start(options: EvmOptions): Promise<EvmNode> {
    await mkdir(options.dir, { recursive: true })
    const state = join(options.dir, 'state.json')
    const fresh = !existsSync(state)
    // Anvil keeps old states under its home and forgets them there when it is killed.
    await rm(join(options.dir, '.foundry'), { recursive: true, force: true })
    const args = [
      '--host',
      '127.0.0.1',
      '--port',
      String(options.port),
      '--silent',
      '--hardfork',
      'osaka',
      '--chain-id',
      String(EVM_CHAIN_ID),
    ]
    args.push(
      '--mnemonic',
      DEVNET_MNEMONIC,
      '--accounts',
      String(ACCOUNTS),
      '--slots-in-an-epoch',
      '1',
      '--block-time',
      String(options.blockTimeSeconds),
    )
    args.push('--state', state, '--state-interval', '1')
    if (fresh && options.genesisTime !== undefined)
      args.push('--timestamp', String(options.genesisTime))
    const node = await Supervised.start(
      { name: 'EVM node', command: anvilPath(), args, env: { HOME: options.dir } },
      { ready: () => untilAnswers(rpcUrl(options.port)), print: options.print },
    )
    return new EvmNode(node, options, fresh)
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Sends from one of the node's own accounts. */
  wallet(privateKey: Hex): WalletClient<HttpTransport, Chain, PrivateKeyAccount> {
    return createWalletClient({
      account: privateKeyToAccount(privateKey),
      chain: this.client.chain,
      transport: http(this.rpcUrl, { timeout: REQUEST_TIMEOUT_MS }),
    })
  }

  kill(): Promise<void> {
    return this.#process.kill()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.stop()
  }
}

function rpcUrl(port: number): string {
  return `http://127.0.0.1:${port}`
}

function connect(url: string): EvmClient {
  const chain = defineChain({
    id: EVM_CHAIN_ID,
    name: 'Local EVM',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  return createTestClient({
    mode: 'anvil',
    chain,
    transport: http(url, { retryCount: 0, timeout: REQUEST_TIMEOUT_MS }),
    pollingInterval: 100,
    cacheTime: 0,
  }).extend(publicActions)
}

async function untilAnswers(url: string): Promise<void> {
  const client = connect(url)
  for (;;) {
    const id = await client.getChainId().catch(() => undefined)
    if (id === EVM_CHAIN_ID) return
    if (id !== undefined)
      throw new Error(`Port of ${url} answers with chain ${id}, expected ${EVM_CHAIN_ID}.`)
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS))
  }
}

/** The binary itself: the package's Node wrapper would cost half a second and swallow signals. */
function anvilPath(): string {
  try {
    return createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/bin/anvil')
  } catch (cause) {
    throw new Error(
      `There is no embedded EVM node for ${process.platform}-${process.arch}: the devnet needs Linux on x64 with glibc 2.35 or newer.`,
      { cause },
    )
  }
}
