import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { NATIVE_ETH, type Network } from '#contract/network.ts'
import { createTestDatabase, ENGINES, type Engine } from '#testing/postgres.ts'
import { createTestKey, exampleRoutes, startTestApp } from '#testing/service-app.ts'

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))
const ADMIN = fileURLToPath(new URL('admin/main.ts', import.meta.url))

/** Nothing listens there: a service must start, and tell, while its chain is away. */
const AWAY: Network = {
  network: 'eip155:31337',
  name: 'Away',
  rpcUrls: ['http://127.0.0.1:1'],
  testnet: true,
  blockTimeMs: 1000,
  confirmations: 1,
  assets: [NATIVE_ETH],
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'paydesk-main-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function databaseEnv(engine: Engine): Promise<Record<string, string>> {
  if (engine === 'pglite') return { DATA_DIR: temporaryFolder() }
  const database = await createTestDatabase(engine)
  onTestFinished(() => database[Symbol.asyncDispose]())
  return 'url' in database.target ? { DATABASE_URL: database.target.url } : {}
}

/** A program of the service as an operator starts it. */
function run(program: string, args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { out: '', err: '' }
  child.stdout.on('data', (text: Buffer) => (said.out += String(text)))
  child.stderr.on('data', (text: Buffer) => (said.err += String(text)))
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return { child, said, exited }
}

test.each(ENGINES)('%s: the program starts, says where it listens, tells what is not ready, and ends with 0 when asked', async (engine) => {
  const service = run(MAIN, [], { PORT: '0', NETWORKS: JSON.stringify([AWAY]), ...(await databaseEnv(engine)) })
  await expect.poll(() => service.said.out + service.said.err, { timeout: 30_000 }).toContain('"msg":"listening"')
  const ready = service.said.out.split('\n').find((line) => line.includes('"listening"')) ?? ''
  const { port } = JSON.parse(ready)
  const answer = await fetch(`http://127.0.0.1:${port}/health/ready`)
  expect([answer.status, await answer.json()]).toEqual([
    503,
    {
      status: 'unavailable',
      checks: [
        { name: 'database', ok: true },
        { name: 'eip155:31337', ok: false },
      ],
    },
  ])
  expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(200)
  service.child.kill('SIGTERM')
  expect(await service.exited).toBe(0)
  expect(service.said.err).toBe('')
})

test('a configuration that is not valid ends the program with sentences, not with a stack', async () => {
  const service = run(MAIN, [], { PORT: 'x' })
  expect(await service.exited).toBe(1)
  expect(service.said.err).toMatch(/^The configuration is not valid\.\nPORT: expected a port.*\nNETWORKS: expected/)
  expect(service.said.err).not.toContain('    at ')
})

test('a taken port and a database that is away end the program with a sentence', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void taken.close())
  const { port } = taken.address() as AddressInfo
  const NETWORKS = JSON.stringify([AWAY])
  const second = run(MAIN, [], { PORT: String(port), NETWORKS, LOG_LEVEL: 'silent', ...(await databaseEnv('postgres')) })
  expect(await second.exited).toBe(1)
  expect(second.said.err).toMatch(new RegExp(`^The address is taken by another program .*:${port}\\)\\. Choose another PORT`))
  const alone = run(MAIN, [], { PORT: '0', NETWORKS, DATABASE_URL: 'postgres://app:hunter2@127.0.0.1:1/paydesk' })
  expect(await alone.exited).toBe(1)
  expect(alone.said.err).toMatch(/^The database cannot be reached \(.*\)\. Check DATABASE_URL/)
  expect(alone.said.err).not.toMatch(/hunter2|    at /)
})

test('the operator makes, lists and revokes keys from the command line', async () => {
  const env = await databaseEnv('postgres')
  async function admin(...args: string[]) {
    const { said, exited } = run(ADMIN, args, env)
    return { code: await exited, ...said }
  }
  const account = JSON.parse((await admin('account', 'create', '--name', 'Shop', '--plan', 'standard', '--json')).out)
  const made = await admin('key', 'create', '--account', account.id, '--name', 'till', '--scopes', 'payment:read,transaction:build', '--json')
  const key = JSON.parse(made.out)
  expect(key).toMatchObject({
    id: expect.stringMatching(/^key_/),
    key: expect.stringMatching(/^pk_live_/),
    plan: 'standard',
    scopes: ['payment:read', 'transaction:build'],
  })
  expect(await admin('key', 'create', '--account', account.id, '--name', 'x', '--scopes', 'all', '--plan', 'premium')).toMatchObject({
    code: 1,
    err: expect.stringContaining("at most the account's plan standard"),
  })
  expect(await admin('key', 'revoke', '--key', key.id)).toMatchObject({ code: 0 })
  const list = await admin('key', 'list', '--json')
  expect(JSON.parse(list.out)).toEqual([expect.objectContaining({ id: key.id, revokedAt: expect.any(String), hint: expect.stringContaining('…') })])
  expect(list.out).not.toContain(key.key)
  expect(await admin('key', 'create', '--scopes', 'payment:steal', '--account', account.id, '--name', 'x')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^--scopes: expected scopes with commas/),
  })
  expect(await admin('key', 'forge')).toMatchObject({ code: 1, err: expect.stringContaining('There is no command "key forge".') })
  expect(await admin('--help')).toMatchObject({ code: 0, out: expect.stringContaining('account create') })
})

test('a stop lets the request in flight finish and accepts no other', async () => {
  const database = await createTestDatabase('pglite')
  const started = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const app = await startTestApp({
    target: database.target,
    routes: {
      async paymentList(call) {
        started.resolve()
        await gate.promise
        return await exampleRoutes.paymentList(call)
      },
    },
  })
  const { key } = await createTestKey(app.context.db)
  const inFlight = fetch(`${app.url}/payments`, { headers: { authorization: `Bearer ${key}` } })
  await started.promise
  const stopped = app[Symbol.asyncDispose]()
  await expect
    .poll(() =>
      fetch(`${app.url}/health/live`).then(
        () => 'accepted',
        () => 'refused',
      ),
    )
    .toBe('refused')
  gate.resolve()
  expect((await inFlight).status).toBe(200)
  await stopped
})
