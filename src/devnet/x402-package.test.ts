import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { address, createSolanaRpc } from '@solana/kit'
import { createPublicClient, http } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDevnetDatabase } from '#testing/postgres.ts'
import { Devnet } from './network.ts'
import { freePort } from './options.ts'

/** The package as its reader gets it: packed, installed in an empty folder beside the official packages, with the programs of its README as they are. */

const run = promisify(execFile)
const PACKAGE = fileURLToPath(new URL('../../packages/x402/', import.meta.url))
const NEEDED = [
  '@hono/node-server',
  '@solana/kit',
  '@types/node',
  '@x402/core',
  '@x402/evm',
  '@x402/fetch',
  '@x402/hono',
  '@x402/svm',
  'hono',
  'viem',
]

const stack = new AsyncDisposableStack()
let folder: string
let net: Devnet
let shop: string
let env: Record<string, string>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paydesk-package-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const { url: databaseUrl } = stack.use(await createDevnetDatabase())
  const [devnet] = await Promise.all([
    Devnet.create({
      databaseUrl,
      programs: { service: true, bff: false, web: false, seller: false },
      seed: false,
      evmBlockTimeSeconds: 0.5,
      slotTimeMs: 100,
    }),
    install(),
  ])
  net = stack.use(devnet)
  const [evm, solana] = net.networks
  const { buyer, seller } = net.wallets
  env = {
    PATH: '/usr/bin:/bin',
    EVM_NETWORK: evm?.network ?? '',
    SOLANA_NETWORK: solana?.network ?? '',
    EVM_RPC: net.evm.rpcUrl,
    SOLANA_RPC: net.solana.rpcUrl,
    EVM_KEY: buyer.evm.privateKey,
    SOLANA_KEY: buyer.solana.secretKey,
    EVM_PAY_TO: seller.evm.address,
    SOLANA_PAY_TO: seller.solana.address,
    PAYDESK_URL: net.urls.service,
    PAYDESK_KEY: net.apiKeys.operator,
  }
  shop = await openShop()
})

afterAll(() => stack.disposeAsync())

/** Versions are those of the repository, so that the test is the same tomorrow. */
async function install(): Promise<void> {
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: PACKAGE,
  })
  const versions = await Promise.all(
    NEEDED.map(async (name) => {
      const { version } = JSON.parse(
        await readFile(join(PACKAGE, '../../node_modules', name, 'package.json'), 'utf8'),
      )
      return `${name}@${version}`
    }),
  )
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  await run(
    'npm',
    [
      'install',
      '--prefer-offline',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      join(folder, stdout.trim()),
      ...versions,
    ],
    { cwd: folder },
  )
  const readme = await readFile(join(folder, 'node_modules/@paydesk/x402/README.md'), 'utf8')
  for (const [, name = '', code = ''] of readme.matchAll(/`(\w+\.ts)`[^\n]*\n\n```ts\n([^]*?)```/g))
    await writeFile(join(folder, name), code)
}

async function openShop(service = net.urls.service): Promise<string> {
  const port = String(await freePort())
  const child = spawn(process.execPath, ['sell.ts'], {
    cwd: folder,
    env: { ...env, PAYDESK_URL: service, PORT: port },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  stack.defer(async () => {
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill()
    await gone
  })
  for await (const line of createInterface(child.stdout)) if (line === 'ready') break
  return `http://127.0.0.1:${port}`
}

const buy = (url: string, program = 'buy.ts', earlier: { PAID?: string; HASH?: string } = {}) =>
  run(process.execPath, [program], { cwd: folder, env: { ...env, ...earlier, URL_TO_BUY: url } })

/** Writes a variant of the program that buys, with other limits. */
async function edit(program: string, text: string, other: string): Promise<string> {
  const code = await readFile(join(folder, 'buy.ts'), 'utf8')
  expect(code).toContain(text)
  await writeFile(join(folder, program), code.replace(text, other))
  return program
}

/** Transactions of the buyer on EVM that blocks hold. */
const sent = () =>
  createPublicClient({ transport: http(net.evm.rpcUrl) }).getTransactionCount({
    address: net.wallets.buyer.evm.address,
  })

/** The connection of a shop to the service. The first `breaks` settlements get no answer. */
async function openLink(breaks: number): Promise<string> {
  const link = createServer((incoming, outgoing) => {
    const { url, method, headers } = incoming
    if (url === '/facilitator/settle' && breaks-- > 0) return void outgoing.destroy()
    const asked = request(`${net.urls.service}${url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    asked.on('error', () => outgoing.destroy())
    incoming.pipe(asked)
  })
  const port = await freePort()
  link.listen(port, '127.0.0.1')
  await once(link, 'listening')
  stack.defer(() => void link.close())
  return `http://127.0.0.1:${port}`
}

describe('the packed package in an empty folder', () => {
  test.each(['/eth', '/sol'])(
    'buys %s with the official fetch package from the official server',
    async (path) => {
      const { stdout, stderr } = await buy(`${shop}${path}`)
      expect(stdout).toBe(`200 Served ${path}.\n`)
      expect(stderr.includes('paying')).toBe(path === '/eth')
    },
  )

  test('declares the types that its README uses', async () => {
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          module: 'nodenext',
          target: 'es2024',
          lib: ['es2024', 'dom', 'dom.iterable', 'esnext.disposable'],
          strict: true,
          skipLibCheck: false,
          noEmit: true,
          types: ['node'],
        },
        files: ['buy.ts', 'sell.ts'],
      }),
    )
    const { stdout } = await run(join(PACKAGE, '../../node_modules/.bin/tsc'), [
      '-p',
      folder,
    ]).catch((error: { stdout: string }) => error)
    const ours = stdout.split('\n').filter((line) => /^(buy|sell)\.ts|@paydesk/.test(line))
    expect(ours).toEqual([])
  })

  test('holds its code, its declarations, its README and its licence, and nothing else', async () => {
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: PACKAGE,
    })
    const [{ files }] = JSON.parse(stdout)
    const names = (files as { path: string }[]).map(({ path }) => path)
    expect(names).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json']))
    const others = names.filter((name) => !/^dist\/([\w-]+\.js|types\/.*\.d\.ts)$/.test(name))
    expect(others.toSorted()).toEqual(['LICENSE', 'README.md', 'package.json'])
  })

  test('a payment that the server refuses once is presented again, and nothing is paid twice', async () => {
    const before = await sent()
    const refusing = await openShop(await openLink(1))
    const { stdout, stderr } = await buy(`${refusing}/eth`)
    expect(stdout).toBe('200 Served /eth.\n')
    expect(await sent()).toBe(before + 1)
    // Run again with what it printed, it pays nothing, and the payment buys nothing else.
    const [, paid] = /^PAID='(.*)'$/m.exec(stderr) ?? []
    const again = await edit('again.ts', 'again < 20', 'again < 1')
    expect((await buy(`${refusing}/eth`, again, { PAID: paid ?? '' })).stdout).toMatch(/^402 /)
    expect(await sent()).toBe(before + 1)
  })

  test('a payment that lands after the program gave it up is presented by its hash, and not paid again', async () => {
    const before = await sent()
    const late = await edit('late.ts', 'rpcUrl: EVM_RPC,', 'rpcUrl: EVM_RPC, confirmedWithinMs: 0,')
    const { stderr } = await buy(`${shop}/eth`, late).catch((error: { stderr: string }) => error)
    const [, hash = ''] =
      /The payment (0x[0-9a-f]{64}) was sent and is not confirmed/.exec(stderr) ?? []
    expect(stderr).toContain(`paying ${shop}/eth with HASH=${hash}`)
    expect((await buy(`${shop}/eth`, 'buy.ts', { HASH: hash })).stdout).toBe('200 Served /eth.\n')
    expect(await sent()).toBe(before + 1)
    // It was delivered, so it buys nothing more.
    const once = await edit('once.ts', 'again < 20', 'again < 1')
    expect((await buy(`${shop}/eth`, once, { HASH: hash })).stdout).toMatch(/^402 /)
    expect(await sent()).toBe(before + 1)
  })

  test('with the hash of an earlier payment no SOL is paid, and what is no hash is named', async () => {
    const lamports = async () => {
      const rpc = createSolanaRpc(net.solana.rpcUrl)
      return (await rpc.getBalance(address(net.wallets.buyer.solana.address)).send()).value
    }
    const before = [await sent(), await lamports()]
    const hash = `0x${'1'.repeat(64)}`
    await expect(buy(`${shop}/sol`, 'buy.ts', { HASH: hash })).rejects.toMatchObject({
      stderr: expect.stringContaining('No network/scheme registered'),
    })
    await expect(buy(`${shop}/eth`, 'buy.ts', { HASH: '0x1' })).rejects.toMatchObject({
      stderr: expect.stringContaining('HASH: expected 0x and 64 hex digits: 0x1'),
    })
    expect([await sent(), await lamports()]).toEqual(before)
  })

  test('more than the buyer allows for one payment is refused, and nothing is paid', async () => {
    const before = await sent()
    const frugal = await edit('frugal.ts', "'10000000000000000'", "'9999999999999999'")
    await expect(buy(`${shop}/eth`, frugal)).rejects.toMatchObject({
      stderr: expect.stringMatching(/allowedAssets|spend/i),
    })
    expect(await sent()).toBe(before)
  })
})
