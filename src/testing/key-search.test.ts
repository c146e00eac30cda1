import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair, PublicKey } from '@solana/web3.js'
import bs58 from 'bs58'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '#postgres/open.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { createWallet } from '#service/wallets/create-wallet.ts'
import { createSigner } from '#signer/signer.ts'
import { openFileVault } from '#signer/vaults.ts'
import { startEvm, startSolana } from './local-chains.ts'
import { createTestDatabase, databaseVariables } from './postgres.ts'
import { createTestKey } from './service-app.ts'
import { startProxyProcess, startServiceProcess, type ServiceProcess } from './service-process.ts'

/**
 * Searches the heap snapshots of the service and the proxy, and their memory byte by byte, for what only the signer may hold, after hosted sends on both
 * chains. A snapshot shows strings and not the bytes of buffers; the memory shows those.
 */

const stack = new AsyncDisposableStack()
const folder = mkdtempSync(join(tmpdir(), 'pd-keys-'))
const secrets = { evm: Buffer.alloc(32, 0), solana: Buffer.alloc(32, 0) }
let vaultKey: Buffer
let apiKey: string
let service: ServiceProcess
let proxy: ServiceProcess

beforeAll(async () => {
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const evm = stack.use(await startEvm({ slotsInEpoch: 2 }))
  await evm.mine()
  const solana = stack.use(await startSolana({ slotTimeMs: 100 }))
  const database = stack.use(await createTestDatabase('postgres', 'service'))
  if (!('url' in database.target)) throw new Error('Expected a server.')
  const { db } = stack.use(await openDatabase(database.target, SERVICE_SCHEMA))
  const file = join(folder, 'vault.key')
  const signer = createSigner({ vault: openFileVault(file), folder })
  vaultKey = Buffer.from(readFileSync(file, 'utf8').trim(), 'hex')
  const { key, accountId } = await createTestKey(db, { plan: 'premium' })
  apiKey = key
  const wallets: string[] = []
  for (const family of ['evm', 'solana'] as const) {
    crypto.getRandomValues(secrets[family])
    const secret = Uint8Array.from(secrets[family])
    const made = await createWallet(
      { db, signer, now: new Date() },
      { accountId, family, name: 'till', secret },
    )
    wallets.push(made.address)
  }
  const [from = '', fromSolana = ''] = wallets
  await evm.client.setBalance({ address: from as `0x${string}`, value: 10n ** 19n })
  await solana.setAccount(new PublicKey(fromSolana).toBase58(), { lamports: 10n ** 10n })
  const networks = JSON.stringify([evm.network, solana.network])
  const env = {
    ...databaseVariables(database.target),
    NETWORKS: networks,
    NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder}`,
  }
  service = stack.use(await startServiceProcess({ ...env, VAULT_KEY_FILE: file }))
  proxy = stack.use(
    await startProxyProcess({
      ...env,
      SERVICE_URL: service.url,
      SERVICE_API_KEY: key,
      ALLOWED_ORIGINS: 'http://localhost:4000',
      SELLER_WALLETS: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    }),
  )
  for (const [walletAddress, recipientAddress] of [
    [from, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
    [fromSolana, Keypair.generate().publicKey.toBase58()],
  ])
    for (let count = 0; count < 3; count++) {
      const answer = await fetch(`${service.url}/payment/send`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          prefer: 'respond-async',
          connection: 'close',
        },
        body: JSON.stringify({ walletAddress, recipientAddress, amount: 0.01 }),
      })
      expect([answer.status, await answer.json()]).toMatchObject([202, { success: true }])
    }
  expect((await fetch(`${proxy.url}/health/ready`)).status).toBe(200)
})
afterAll(() => stack.disposeAsync())

/** What V8 writes on the signal, after a collection. */
async function snapshotOf({ pid }: ServiceProcess): Promise<string> {
  process.kill(pid, 'SIGUSR2')
  const find = () => readdirSync(folder).find((name) => name.includes(`.${pid}.`))
  await expect.poll(find).toBeDefined()
  const path = join(folder, find() ?? '')
  await expect
    .poll(() => readFileSync(path, 'latin1').trimEnd().endsWith(']}'), { timeout: 60_000 })
    .toBe(true)
  return readFileSync(path, 'latin1')
}

/** Which of these are in the writable memory of a process, in one pass. */
function findInMemory(pid: number, wanted: ReadonlyMap<string, Buffer>): string[] {
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  const maps = readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')
  const found = new Set<string>()
  for (const line of maps) {
    const [, start = '', end = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? []
    if (start === '') continue
    const until = Number.parseInt(end, 16)
    for (let at = Number.parseInt(start, 16); at < until; at += PIECE) {
      const piece = readPiece(memory, at, Math.min(PIECE + OVERLAP, until - at))
      for (const [name, bytes] of wanted) if (piece.includes(bytes)) found.add(name)
    }
  }
  closeSync(memory)
  return [...found]
}

/** Longer than what is searched for. */
const OVERLAP = 256
const PIECE = 16 * 1024 * 1024

/** Empty where the system lets nobody read, such as a mapped device. */
function readPiece(memory: number, at: number, length: number): Buffer {
  const piece = Buffer.alloc(length)
  try {
    return piece.subarray(0, readSync(memory, piece, 0, length, at))
  } catch {
    return Buffer.alloc(0)
  }
}

/** A secret as text, in every form a program may spell it. */
function textsOf(secret: Buffer): string[] {
  const hex = secret.toString('hex')
  const pair = Keypair.fromSeed(secret).secretKey
  return [
    hex,
    hex.toUpperCase(),
    BigInt(`0x${hex}`).toString(),
    secret.toString('base64').slice(0, 42),
    secret.toString('base64url').slice(0, 42),
    bs58.encode(secret),
    bs58.encode(pair),
    [...secret].join(','),
  ]
}

const held = () => ({ vault: vaultKey, evm: secrets.evm, solana: secrets.solana })

/** The signer, a child of the service. */
function signerPid(): number {
  const children = readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8')
  return Number(children.trim().split(' ')[0])
}

/** As bytes, and as text in every form. */
function wantedInMemory(secrets: Record<string, Buffer> = held()): Map<string, Buffer> {
  return new Map(
    Object.entries(secrets).flatMap(([name, secret]) => [
      [name, secret] as const,
      ...textsOf(secret).map(
        (text, index) => [`${name}, text ${index}`, Buffer.from(text)] as const,
      ),
    ]),
  )
}

test('the search finds every form of a key that is planted in a process', async () => {
  const wanted = wantedInMemory({ planted: randomBytes(32) })
  const kept = 'process.stdin.on("data", (bytes) => { globalThis.kept = bytes; console.log() })'
  const child = spawn(process.execPath, ['-e', kept], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.write(Buffer.concat([...wanted.values()]))
  await once(child.stdout, 'data')
  const found = findInMemory(child.pid ?? 0, wanted)
  child.kill()
  expect(found.toSorted()).toEqual([...wanted.keys()].toSorted())
})

test('the search finds what is there: the vault key in the memory of the signer', () => {
  expect(findInMemory(signerPid(), wantedInMemory())).toContain('vault')
}, 240_000)

test.each(['service', 'proxy'] as const)(
  'neither the vault key nor a private key is in the memory of the %s, as bytes or as text',
  (name) => {
    expect(findInMemory({ service, proxy }[name].pid, wantedInMemory())).toEqual([])
  },
  240_000,
)

test.each(['service', 'proxy'] as const)(
  'no key is in a heap snapshot of the %s, and in that of the service no API key either',
  async (name) => {
    const snapshot = await snapshotOf({ service, proxy }[name])
    expect(snapshot.length).toBeGreaterThan(1_000_000)
    for (const [what, secret] of Object.entries(held()))
      for (const text of textsOf(secret)) expect(snapshot.includes(text), what).toBe(false)
    // The proxy holds its own key, and shows that the search finds strings.
    expect(snapshot.includes(apiKey)).toBe(name === 'proxy')
  },
)
