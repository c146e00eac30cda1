import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { freePort, isFree } from './options.ts'

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))
const VARIABLES = [
  'PORT_WEB',
  'PORT_BFF',
  'PORT_SERVICE',
  'PORT_SELLER',
  'PORT_EVM',
  'PORT_SOLANA',
  'PORT_SOLANA_WS',
] as const

let dir: string
let env: Record<string, string>
const children: ChildProcess[] = []

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'paydesk-main-'))
  env = {}
  for (const name of VARIABLES) env[name] = String(await freePort())
})

// Where a test fails, what it started is still running.
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

afterAll(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }))

test(
  'npm start serves everything until Ctrl-C, and after kill -9 it starts again',
  { timeout: 240_000 },
  async () => {
    const first = start()
    await first.says(/Paydesk is ready/)
    const path = join(dir, '.paydesk/devnet.json')
    const tools = JSON.parse(await readFile(path, 'utf8'))
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(tools).toMatchObject({
      web: `http://localhost:${env.PORT_WEB}`,
      bff: `http://127.0.0.1:${env.PORT_BFF}`,
      service: `http://127.0.0.1:${env.PORT_SERVICE}`,
      seller: `http://127.0.0.1:${env.PORT_SELLER}`,
      evm: {
        rpcUrl: `http://127.0.0.1:${env.PORT_EVM}`,
        chainId: 31_337,
        tokens: { USDC: { decimals: 6 } },
      },
      solana: {
        rpcUrl: `http://127.0.0.1:${env.PORT_SOLANA}`,
        wsUrl: `ws://127.0.0.1:${env.PORT_SOLANA_WS}`,
        tokens: { USDC: { decimals: 6 } },
      },
      apiKeys: {
        operator: expect.stringMatching(/^pk_test_/),
        standard: expect.stringMatching(/^pk_test_/),
        readonly: expect.stringMatching(/^pk_test_/),
      },
    })
    expect(tools.wallets.managed).toEqual({
      evm: { address: expect.any(String) },
      solana: { address: expect.any(String) },
    })
    await expectWeb(tools.web)
    await expectShop(tools.seller)

    const second = start()
    expect(await second.ended).toEqual({ code: 1, signal: null })
    for (const variable of VARIABLES) expect(second.output()).toContain(`${variable}=`)

    first.child.kill('SIGKILL')
    await first.ended
    await untilPortsAreFree()

    const third = start()
    await third.says(/Paydesk is ready/)
    expect(third.output()).not.toContain('First start')
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(tools)
    const ready = await fetch(`${tools.service}/health/ready`)
    expect({ status: ready.status, body: await ready.json() }).toMatchObject({ status: 200 })
    third.child.kill('SIGINT')
    expect(await third.ended).toEqual({ code: 0, signal: null })
    await untilPortsAreFree()
  },
)

async function expectWeb(web: string): Promise<void> {
  const page = await fetch(`${web}/payments/pay_unknown`)
  expect(page.status).toBe(200)
  expect(await page.text()).toContain('<script src="/demo-wallet.js"></script>')
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("require-trusted-types-for 'script'")
  expect(policy).not.toContain('unsafe')
  // The page and its proxy have one host name, whichever the person typed: sessions are cookies of a host.
  expect(await (await fetch(`${web}/config.json`)).json()).toMatchObject({
    proxyUrl: `http://localhost:${env.PORT_BFF}`,
  })
  const other = web.replace('localhost', '127.0.0.1')
  expect(await (await fetch(`${other}/config.json`)).json()).toMatchObject({
    proxyUrl: `http://127.0.0.1:${env.PORT_BFF}`,
  })
  expect((await fetch(`${web}/demo-wallet.js`)).headers.get('content-type')).toContain('javascript')
  for (const missing of ['/assets/none.js', '/..%2fpackage.json', '/%2e%2e/package.json'])
    expect((await fetch(`${web}${missing}`)).status).toBe(404)
}

async function expectShop(seller: string): Promise<void> {
  const { resources } = await (await fetch(seller)).json()
  expect(resources.length).toBeGreaterThan(2)
  for (const { url } of resources) {
    const bill = await fetch(url)
    expect(bill.status).toBe(402)
    expect(bill.headers.get('payment-required')).not.toBeNull()
  }
}

type Running = {
  child: ChildProcess
  output: () => string
  says: (pattern: RegExp) => Promise<void>
  ended: Promise<{ code: number | null; signal: string | null }>
}

function start(): Running {
  const child = spawn(process.execPath, [MAIN], { cwd: dir, env })
  children.push(child)
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  )
  const says = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const look = () => pattern.test(output) && resolve()
      child.stdout.on('data', look)
      look()
      void ended.then(() => reject(new Error(`It ended before it said ${pattern}:\n${output}`)))
    })
  return { child, output: () => output, says, ended }
}

async function untilPortsAreFree(): Promise<void> {
  const deadline = Date.now() + 15_000
  for (const port of Object.values(env)) {
    while (!(await isFree(Number(port)))) {
      if (Date.now() > deadline) throw new Error(`Port ${port} is still taken.`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
