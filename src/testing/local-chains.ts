import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { Connection, Keypair } from '@solana/web3.js'
import bs58 from 'bs58'
import * as v from 'valibot'
import {
  createTestClient,
  http,
  publicActions,
  type Hex,
  type HttpTransport,
  type PublicActions,
  type TestClient,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { NATIVE_ETH, NATIVE_SOL, SOLANA_DEVNET, type Network } from '#contract/network.ts'
import { startSurfnet } from '#devnet/nodes/solana/surfnet.ts'

/** Real nodes for the tests of the service, bare: an EVM node that mines when it is told to, a Solana node with slots as short as wanted. */

const ANVIL = createRequire(import.meta.url).resolve('@foundry-rs/anvil-linux-amd64/bin/anvil')

export type EvmFixture = AsyncDisposable & {
  rpcUrl: string
  client: TestClient<'anvil', HttpTransport> & PublicActions<HttpTransport>
  network: Network
  mine: (blocks?: number) => Promise<void>
  /** A new account that holds so much. */
  wallet: (wei: bigint) => Promise<PrivateKeyAccount>
  setCode: (address: string, bytecode: Hex) => Promise<void>
}
export type SolanaFixture = Awaited<ReturnType<typeof startSolana>>

/** Blocks are finalized `2 * slotsInEpoch` later. */
export async function startEvm(options: {
  slotsInEpoch: number
  chainId?: number
}): Promise<EvmFixture> {
  const { chainId = 31_337 } = options
  const args = [
    '--port',
    '0',
    '--no-mining',
    '--hardfork',
    'osaka',
    '--chain-id',
    String(chainId),
    '--accounts',
    '1',
    '--slots-in-an-epoch',
    String(options.slotsInEpoch),
  ]
  const child = spawn(ANVIL, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  // Ctrl-C in a terminal ends it before it is disposed of.
  const gone = new Promise((resolve) => child.once('exit', resolve))
  const port = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.once('exit', () => reject(new Error(`anvil ended: ${output}`)))
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const listening = /Listening on 127\.0\.0\.1:(\d+)/.exec(output)?.[1]
      if (listening) resolve(listening)
    })
  })
  const rpcUrl = `http://127.0.0.1:${port}`
  const client = createTestClient({
    mode: 'anvil',
    transport: http(rpcUrl, { timeout: 60_000 }),
    cacheTime: 0,
  }).extend(publicActions)
  await client.setAutomine(false)
  const network: Network = {
    network: `eip155:${chainId}`,
    name: 'Local EVM',
    rpcUrls: [rpcUrl],
    testnet: true,
    blockTimeMs: 400,
    confirmations: 2,
    assets: [NATIVE_ETH],
  }
  return {
    rpcUrl,
    client,
    network,
    mine: (blocks = 1) => client.mine({ blocks }),
    async wallet(wei: bigint) {
      const account = privateKeyToAccount(generatePrivateKey())
      await client.setBalance({ address: account.address, value: wei })
      return account
    },
    setCode: (address: string, bytecode: Hex) =>
      client.setCode({ address: address as Hex, bytecode }),
    async [Symbol.asyncDispose]() {
      child.kill()
      await gone
    },
  }
}

/** Signs what the service built, with another nonce where a wallet would choose its own. */
export function signBuilt(
  account: PrivateKeyAccount,
  transaction: string,
  nonce?: number,
): Promise<Hex> {
  const decoded = decodeTransaction(Buffer.from(transaction, 'base64'))
  if (!decoded.ok) throw new Error(decoded.problem.code)
  const { chainId, gas, maxFeePerGas, maxPriorityFeePerGas, to, valueAtomic, data } = decoded
  const fields = {
    chainId,
    gas,
    maxFeePerGas,
    maxPriorityFeePerGas,
    to: to as Hex,
    value: valueAtomic,
    data,
    nonce: nonce ?? decoded.nonce,
  }
  return account.signTransaction({ type: 'eip1559', ...fields })
}

export async function startSolana(options: { slotTimeMs: number }) {
  const payer = Keypair.generate()
  const surfnet = await startSurfnet({
    slotTimeMs: options.slotTimeMs,
    payerSecretKey: payer.secretKey,
    payerLamports: 1e12,
  })
  const connection = new Connection(surfnet.rpcUrl, {
    commitment: 'confirmed',
    wsEndpoint: surfnet.wsUrl,
  })
  const network: Network = {
    network: SOLANA_DEVNET,
    name: 'Local Solana',
    rpcUrls: [surfnet.rpcUrl],
    testnet: true,
    blockTimeMs: options.slotTimeMs,
    confirmations: 1,
    assets: [NATIVE_SOL],
  }
  async function setAccount(
    address: string,
    account: { lamports: bigint; owner?: string; data?: string; executable?: boolean },
  ): Promise<void> {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'surfnet_setAccount',
      params: [address, { ...account, lamports: Number(account.lamports) }],
    })
    const response = await fetch(surfnet.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const answer: unknown = await response.json()
    if (typeof answer !== 'object' || answer === null || 'error' in answer)
      throw new Error(`surfnet_setAccount: ${JSON.stringify(answer)}`)
  }
  return {
    rpcUrl: surfnet.rpcUrl,
    connection,
    network,
    setAccount,
    /** Time passes by so many slots at once. */
    async skipSlots(count: number): Promise<void> {
      surfnet.timeTravelToSlot((await connection.getSlot('processed')) + count)
    },
    /** A new account that holds so much. */
    async wallet(lamports: bigint) {
      const keypair = Keypair.generate()
      if (lamports > 0n) await setAccount(keypair.publicKey.toBase58(), { lamports })
      return keypair
    },
    [Symbol.asyncDispose]: async () => surfnet.stop(),
  }
}

/** A way to an RPC that can be cut, refuse one method, say of one method that it knows nothing, be slow, or answer what it likes: `lie` is given question and answer, `instead` the question alone, which then reaches the target only where it has no answer. */
export async function startGate(target: string) {
  type Lie = (asked: string, answer: string) => string | { status: number }
  type Gate = {
    open: boolean
    requests: number
    refuse: string | undefined
    forget: string | undefined
    lie: Lie | undefined
    instead: ((asked: string) => string | undefined) | undefined
    delayMs: number
  }
  const gate: Gate = {
    open: true,
    requests: 0,
    refuse: undefined,
    forget: undefined,
    lie: undefined,
    instead: undefined,
    delayMs: 0,
  }
  async function post(body: string): Promise<{ status: number; text: string }> {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(target, { method: 'POST', headers, body })
    return { status: response.status, text: await response.text() }
  }
  /** Nothing: the connection ends. */
  async function answer(asked: string): Promise<{ status: number; text?: string } | undefined> {
    if (gate.refuse && asked.includes(`"${gate.refuse}"`)) return undefined
    if (gate.forget && asked.includes(`"${gate.forget}"`)) {
      const id = /"id":\s*([0-9]+)/.exec(asked)?.[1] ?? '1'
      return { status: 200, text: `{"jsonrpc":"2.0","id":${id},"result":null}` }
    }
    const instead = gate.instead?.(asked)
    const answered = instead === undefined ? await post(asked) : { status: 200, text: instead }
    if (gate.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, gate.delayMs))
    const said = gate.lie ? gate.lie(asked, answered.text) : answered.text
    return typeof said === 'string' ? { status: answered.status, text: said } : said
  }
  /** Each request of a batch is asked by itself: Surfpool takes none. */
  async function answerAll(asked: string): Promise<{ status: number; text?: string } | undefined> {
    const parsed: unknown = JSON.parse(asked)
    if (!Array.isArray(parsed)) return answer(asked)
    const all = await Promise.all(parsed.map((each) => answer(JSON.stringify(each))))
    if (all.includes(undefined)) return undefined
    return (
      all.find((each) => each?.status !== 200) ?? {
        status: 200,
        text: `[${all.map((each) => each?.text).join()}]`,
      }
    )
  }
  const server = createServer((request, response) => {
    gate.requests++
    if (!gate.open) return void request.socket.destroy()
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const said = await answerAll(Buffer.concat(chunks).toString())
      if (!said) return void request.socket.destroy()
      const json = { 'content-type': 'application/json' }
      response.writeHead(said.status, said.text === undefined ? {} : json).end(said.text)
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(gate, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  })
}

const LISTING = v.object({
  id: v.unknown(),
  params: v.tuple([
    v.string(),
    v.object({ limit: v.optional(v.number(), 1_000), before: v.optional(v.string()) }),
  ]),
})

/** A page of transactions that a node is asked for. */
export type ListedPage = { address: string; limit: number; before: string | undefined }

/** What a node answers that knows `count` transactions of each account in `of` at a slot, newer than all that the node behind it knows; of all accounts by default. */
export function listsNewer({
  slot,
  count,
  of,
  onPage = () => {},
}: {
  slot: number
  count: number
  of?: readonly string[]
  onPage?: (page: ListedPage) => void
}) {
  const names = Array.from({ length: count }, (_, index) => {
    const bytes = Buffer.alloc(64, 1)
    bytes.writeUInt32BE(index + 1)
    return bs58.encode(bytes)
  })
  const older = new Map<string, unknown[]>()
  return (asked: string, answer: string): string => {
    if (!asked.includes('"getSignaturesForAddress"')) return answer
    const { id, params } = v.parse(LISTING, JSON.parse(asked))
    const [address, { limit, before }] = params
    onPage({ address, limit, before })
    if (of && !of.includes(address)) return answer
    const { result } = v.parse(v.object({ result: v.array(v.unknown()) }), JSON.parse(answer))
    const start = before === undefined ? 0 : names.indexOf(before) + 1
    const page = names
      .slice(start, start + limit)
      .map((name) => ({ signature: name, slot, err: null, memo: null, blockTime: null }))
    // What the node itself lists is older than all of these; after a name that it does not know it lists nothing.
    if (before === undefined) older.set(address, result)
    const all = page.length < limit ? [...page, ...(older.get(address) ?? [])] : page
    return JSON.stringify({ jsonrpc: '2.0', id, result: all })
  }
}

/** What a node answers for a transaction of a newer version than it is asked for. The embedded node answers with another code. */
export function hidesNewer(signature: string) {
  return (asked: string, answer: string): string => {
    if (!asked.includes('"getTransaction"') || !asked.includes(signature)) return answer
    const id = /"id":\s*("[^"]*"|[0-9]+)/.exec(asked)?.[1] ?? '1'
    const message = 'Transaction version (2) is not supported by the requesting client.'
    return `{"jsonrpc":"2.0","id":${id},"error":{"code":-32015,"message":"${message}"}}`
  }
}
