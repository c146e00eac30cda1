import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { NATIVE_ETH, type Network } from '#contract/network.ts'
import { createTestDatabase, databaseVariables, ENGINES, type Engine } from '#testing/postgres.ts'
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
  return databaseVariables(database.target)
}

/** A program of the service as an operator starts it. */
function run(program: string, args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [program, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { out: '', err: '' }
  child.stdout.on('data', (text: Buffer) => (said.out += String(text)))
  child.stderr.on('data', (text: Buffer) => (said.err += String(text)))
  const exited = new Promise<number | null>((resolve) =>
    child.once('exit', (code) => resolve(code)),
  )
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return { child, said, exited }
}

test.each(ENGINES)(
  '%s: the program starts, says where it listens, tells what is not ready, and ends with 0 when asked',
  async (engine) => {
    const service = run(MAIN, [], {
      PORT: '0',
      INTERNAL_PORT: '0',
      NETWORKS: JSON.stringify([{ ...AWAY, blockTimeMs: 12_000, confirmations: 12 }]),
      ...(await databaseEnv(engine)),
    })
    await expect
      .poll(() => service.said.out + service.said.err, { timeout: 90_000 })
      .toContain('"msg":"listening"')
    expect(service.said.out).toContain('Official x402 clients give up after 90 s')
    const ready = service.said.out.split('\n').find((line) => line.includes('"listening"')) ?? ''
    const { port, internalPort } = JSON.parse(ready)
    const told = await fetch(`http://127.0.0.1:${port}/health/ready`)
    expect([told.status, await told.json()]).toEqual([503, { status: 'unavailable' }])
    const answer = await fetch(`http://127.0.0.1:${internalPort}/health/ready`)
    expect([answer.status, await answer.json()]).toEqual([
      503,
      {
        status: 'unavailable',
        checks: [
          { name: 'database', ok: true },
          { name: 'disk', ok: true },
          { name: 'clock', ok: true },
          { name: 'signer', ok: true },
          { name: 'eip155:31337', ok: false },
        ],
        stoppedWallets: 0,
        recovery: 'libsecp256k1',
      },
    ])
    expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(200)
    service.child.kill('SIGTERM')
    expect(await service.exited).toBe(0)
    expect(service.said.err).toBe('')
  },
)

test('a configuration that is not valid ends the program with sentences, not with a stack', async () => {
  const service = run(MAIN, [], { PORT: 'x' })
  expect(await service.exited).toBe(1)
  expect(service.said.err).toMatch(
    /^The configuration is not valid\.\nPORT: expected a port.*\nNETWORKS: expected/,
  )
  expect(service.said.err).not.toContain('    at ')
})

test('a taken port and a database that is away end the program with a sentence', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void taken.close())
  const { port } = taken.address() as AddressInfo
  const NETWORKS = JSON.stringify([AWAY])
  const second = run(MAIN, [], {
    PORT: String(port),
    NETWORKS,
    LOG_LEVEL: 'silent',
    ...(await databaseEnv('postgres')),
  })
  expect(await second.exited).toBe(1)
  expect(second.said.err).toMatch(
    new RegExp(`^The address is taken by another program .*:${port}\\)\\. Choose another PORT`),
  )
  const alone = run(MAIN, [], {
    PORT: '0',
    NETWORKS,
    DATABASE_URL: 'postgres://app:hunter2@127.0.0.1:1/paydesk',
  })
  expect(await alone.exited).toBe(1)
  expect(alone.said.err).toMatch(/^The database cannot be reached \(.*\)\. Check DATABASE_URL/)
  expect(alone.said.err).not.toMatch(/hunter2|    at /)
})

test('the admin program answers on stdout, and tells a wrong line on stderr with 1', async () => {
  const env = await databaseEnv('postgres')
  const made = run(
    ADMIN,
    ['account', 'create', '--name', 'Shop', '--plan', 'standard', '--json'],
    env,
  )
  expect(await made.exited).toBe(0)
  expect(JSON.parse(made.said.out)).toMatchObject({
    id: expect.stringMatching(/^acc_/),
    name: 'Shop',
    plan: 'standard',
  })
  const wrong = run(ADMIN, ['key', 'forge'], env)
  expect(await wrong.exited).toBe(1)
  expect(wrong.said).toEqual({
    out: '',
    err: expect.stringMatching(
      /^There is no command "key forge"\. Expected one of: .*\nSee npm run admin -- --help\.\n$/,
    ),
  })
})

test('a stop lets the request in flight finish and accepts no other', async () => {
  const database = await createTestDatabase('pglite', 'service')
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

test('the program refuses to start, in a sentence, with a release folder that has not the vault key of its database', async () => {
  const [old, release] = [temporaryFolder(), temporaryFolder()]
  const env = { PORT: '0', NETWORKS: JSON.stringify([AWAY]), ...(await databaseEnv('postgres')) }
  const admin = async (...args: string[]) => {
    const { said, exited } = run(ADMIN, [...args, '--json'], { ...env, DATA_DIR: old })
    expect([await exited, said.err]).toEqual([0, ''])
    return JSON.parse(said.out) as { id: string }
  }
  const { id } = await admin('account', 'create', '--name', 'A', '--plan', 'premium')
  await admin('wallet', 'create', '--account', id, '--family', 'evm', '--name', 'W')
  const service = run(MAIN, [], { ...env, DATA_DIR: release })
  expect(await service.exited).toBe(1)
  expect(service.said.err).toMatch(
    /^VAULT_KEY_FILE: expected the key [0-9a-f]{16}, .*found no key at .*vault\.key\. Set VAULT_KEY_FILE/,
  )
  expect(existsSync(join(release, 'vault.key'))).toBe(false)
  const again = run(MAIN, [], { ...env, DATA_DIR: old })
  await expect.poll(() => again.said.out, { timeout: 90_000 }).toContain('"msg":"listening"')
})
