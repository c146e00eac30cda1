import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { hexToBytes, serializeTransaction } from 'viem'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { reasonCodeOf } from '#contract/reasons.ts'
import { openSigner } from './client.ts'
import { readFrozen } from './policy.ts'
import { ANOTHER_RUNS, type SealedWallet, type Signer } from './protocol.ts'

/** The signer as it runs: its own process, reached over its socket. Starts cost the most here, so one signer serves all tests that need no new one. */

const ETH = 10n ** 18n
const run = promisify(execFile)
const MAIN = join(import.meta.dirname, 'main.ts')

type AtEnd = (end: () => void | PromiseLike<void>) => void

function openFolder(atEnd: AtEnd = onTestFinished) {
  const folder = mkdtempSync(join(tmpdir(), 'pd-sg-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  const policyFile = join(folder, 'policy.json')
  const env: { VAULT_KEY_FILE: string; SIGNER_POLICY_FILE: string; SUDO_USER?: string } = {
    VAULT_KEY_FILE: join(folder, 'vault.key'),
    SIGNER_POLICY_FILE: policyFile,
  }
  const setPolicy = (rule: object) =>
    writeFileSync(policyFile, JSON.stringify({ rules: [{ wallet: '*', ...rule }] }), {
      mode: 0o600,
    })
  setPolicy({})
  const open = async (): Promise<Signer> => {
    const signer = await openSigner({ env })
    atEnd(() => signer[Symbol.asyncDispose]())
    return signer
  }
  const command = async (...args: string[]) =>
    (await run(process.execPath, [MAIN, ...args], { env })).stdout.trim()
  /** What is answered to these pieces, each written by itself. */
  const request = async (pieces: readonly string[]): Promise<string[]> => {
    const socket = connect(join(folder, 'signer', 'signer.sock'))
    for (const piece of pieces) await new Promise((written) => socket.write(piece, written))
    const [answer] = await once(socket, 'data')
    socket.destroy()
    return String(answer).trim().split('\n')
  }
  return { folder: join(folder, 'signer'), env, open, setPolicy, command, request }
}

async function newWallet(signer: Signer) {
  await signer.vaultKey({ make: true })
  return signer.seal({ id: 'wal_1', accountId: 'acc_1', family: 'evm' })
}

function pay(signer: Signer, wallet: SealedWallet, nonce = 0) {
  const fields = { chainId: 1, nonce, gas: 21_000n, value: ETH, maxFeePerGas: 10n ** 9n } as const
  const to = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  const unsigned = serializeTransaction({ type: 'eip1559', to, ...fields })
  return signer.sign({ wallet, transaction: hexToBytes(unsigned) })
}

/** The process that has the socket of this folder open. */
async function pidOf(folder: string): Promise<number> {
  const lines = readFileSync('/proc/net/unix', 'utf8').split('\n')
  const inodes = lines
    .filter((line) => line.endsWith(` ${join(folder, 'signer.sock')}`))
    .map((line) => line.trim().split(/\s+/)[6])
  const owners = readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && socketsOf(pid).some((inode) => inodes.includes(inode)),
  )
  expect(owners).toHaveLength(1)
  return Number(owners[0])
}

/** The descriptor of this process that listens on a path. */
function descriptorOf(path: string): number {
  const line = readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .find((text) => text.endsWith(` ${path}`))
  const inode = line?.trim().split(/\s+/)[6]
  const found = readdirSync('/proc/self/fd').find((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === `socket:[${inode}]`
    } catch {
      return false
    }
  })
  if (inode === undefined || found === undefined) throw new Error(`Nobody listens on ${path}.`)
  return Number(found)
}

/** Inodes of the sockets that a process has open. */
function socketsOf(pid: number | string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]
      return inode === undefined ? [] : [inode]
    })
  } catch {
    return []
  }
}

async function kill(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL')
  await expect.poll(() => socketsOf(pid)).toEqual([])
}

const signed = async (signing: Promise<unknown>) =>
  signing.then(
    () => 'signed',
    (error: { code?: string; facts?: { details?: Record<string, unknown> } }) =>
      reasonCodeOf(error.facts?.details) ?? error.code ?? error,
  )

const stack = new AsyncDisposableStack()
let shared: ReturnType<typeof openFolder> & { signer: Signer }

beforeAll(async () => {
  const opened = openFolder((end) => stack.defer(end))
  shared = { ...opened, signer: await opened.open() }
})
afterAll(() => stack.disposeAsync())

test('it runs alone in its memory, under permissions, on a socket for its owner, and without any other one', async () => {
  const { folder, signer } = shared
  await pay(signer, await newWallet(signer))
  expect((statSync(folder).mode & 0o777).toString(8)).toBe('700')
  expect((statSync(join(folder, 'signer.sock')).mode & 0o777).toString(8)).toBe('600')
  const pid = await pidOf(folder)
  expect(pid).not.toBe(process.pid)
  const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  expect(args).toContain('--permission')
  expect(
    args.filter((arg) => arg.startsWith('--allow-') && !arg.startsWith('--allow-fs-')),
  ).toEqual([])
  const own = socketsOf(pid)
  expect(own.length).toBeGreaterThan(0)
  for (const table of ['tcp', 'tcp6', 'udp', 'udp6', 'raw', 'raw6'])
    for (const line of readFileSync(`/proc/net/${table}`, 'utf8').split('\n').slice(1))
      expect(own).not.toContain(line.trim().split(/\s+/)[9])
})

test('a kill forgets nothing that was signed: the cap of a day holds in the next process', async () => {
  const { folder, open, setPolicy } = openFolder()
  setPolicy({ maxPerDay: '2.5' })
  const signer = await open()
  const wallet = await newWallet(signer)
  const outcomes: unknown[] = []
  for (const nonce of [0, 1]) {
    outcomes.push(await signed(pay(signer, wallet, nonce)))
    await kill(await pidOf(folder))
    await expect.poll(() => signed(signer.check())).toBe('signed')
  }
  outcomes.push(await signed(pay(signer, wallet, 2)))
  expect(outcomes).toEqual(['signed', 'signed', 'over_day'])
  // The last signature that left is a payment that may be signed again.
  expect(await signed(pay(signer, wallet, 1))).toBe('signed')
})

test('while it is away a call fails at once with SERVICE_UNAVAILABLE and Retry-After, and it is started again', async () => {
  const { folder, signer } = shared
  const wallet = await newWallet(signer)
  await kill(await pidOf(folder))
  await expect(pay(signer, wallet)).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    facts: { retryAfter: expect.any(Number) },
  })
  await expect.poll(() => signed(pay(signer, wallet))).toBe('signed')
})

test('freeze and unfreeze take effect at the next request, without a restart; each is on record with its time and its user, and the status says since when it holds', async () => {
  const { folder, env, command, signer } = shared
  const [one, two] = [await newWallet(signer), await newWallet(signer)]
  const pid = await pidOf(folder)
  const lines = () =>
    readFileSync(join(folder, 'freezes.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  const user = userInfo().username
  const { address } = one
  const before = Date.now()
  expect(await command('freeze', '--wallet', address)).toContain(address)
  expect([await signed(pay(signer, one)), await signed(pay(signer, two))]).toEqual([
    'frozen',
    'signed',
  ])
  expect(await signed(signer.open(one))).toBe('frozen')
  expect(lines()).toEqual([{ at: expect.any(String), command: 'freeze', wallet: address, user }])
  const { at } = lines()[0]
  expect(Date.parse(at)).toBeGreaterThanOrEqual(before)
  // A command that died while it wrote leaves half a line; a second freeze changes no beginning.
  appendFileSync(join(folder, 'freezes.jsonl'), '{"at":')
  env.SUDO_USER = 'alice'
  onTestFinished(() => void delete env.SUDO_USER)
  const { stderr } = await run(process.execPath, [MAIN, 'freeze', '--wallet', address], { env })
  expect(JSON.parse(stderr)).toMatchObject({
    command: 'freeze',
    wallet: address,
    sudoUser: 'alice',
  })
  expect(await command('status')).toBe(
    `Frozen: ${address} since ${at} by ${user}. The signer signs for all others.`,
  )
  expect(await command('freeze')).toBe(
    `All wallets are frozen since ${lines()[2].at} by ${user} (sudo of alice): the signer signs nothing.`,
  )
  expect(await signed(pay(signer, two, 1))).toBe('frozen')
  expect(await command('unfreeze')).toBe('Nothing is frozen.')
  expect(lines()[3]).toMatchObject({ command: 'unfreeze', wallet: null, user, sudoUser: 'alice' })
  expect([await signed(pay(signer, one)), await signed(pay(signer, two, 1))]).toEqual([
    'signed',
    'signed',
  ])
  // A freeze that has ended says nothing of the next one.
  const frozen = await command('freeze', '--wallet', address)
  expect(frozen).toContain(`${address} since ${lines()[4].at} by`)
  expect(await pidOf(folder)).toBe(pid)
})

test('in a folder that no signer has a freeze is refused, and makes no folder; the command check finds none', async () => {
  const { folder, command } = openFolder()
  await expect(command('freeze')).rejects.toMatchObject({
    stderr: expect.stringContaining(`found none at ${folder}`),
  })
  expect(existsSync(folder)).toBe(false)
  await expect(command('check')).rejects.toThrow(/expected the socket of a signer that runs/)
})

test('services of one machine share one signer, the other goes on when its parent ends, and the last stop leaves no process and no socket', async () => {
  const { folder, open, setPolicy } = openFolder()
  setPolicy({ maxPerDay: '1.5' })
  const first = await open()
  const second = await open()
  const wallet = await newWallet(first)
  expect(await signed(pay(second, wallet, 0))).toBe('signed')
  expect(await signed(pay(first, wallet, 1))).toBe('over_day')
  const pid = await pidOf(folder)
  await first[Symbol.asyncDispose]()
  await expect.poll(() => signed(second.check())).toBe('signed')
  expect(await pidOf(folder)).not.toBe(pid)
  expect(await signed(pay(second, wallet, 1))).toBe('over_day')
  const last = await pidOf(folder)
  await second[Symbol.asyncDispose]()
  expect([socketsOf(last), existsSync(join(folder, 'signer.sock'))]).toEqual([[], false])
})

test('what is no request ends the connection, and the signer goes on', async () => {
  const { folder, signer } = shared
  for (const line of [
    'nonsense\n',
    '\u0000\n',
    '{"id":1,"method":"export","params":{}}\n',
    'x'.repeat(1_100_000),
  ]) {
    const socket = connect(join(folder, 'signer.sock'))
    socket.on('error', () => {})
    const closed = new Promise<boolean>((resolve) => socket.once('close', () => resolve(true)))
    socket.write(line)
    expect(await closed).toBe(true)
  }
  const socket = connect(join(folder, 'signer.sock'))
  socket.write('{"id":7,"method":"sign","params":{"wallet":{}}}\n')
  const [reply] = await new Promise<Buffer[]>((resolve) =>
    socket.once('data', (chunk: Buffer) => resolve([chunk])),
  )
  socket.destroy()
  expect(JSON.parse(String(reply))).toMatchObject({ id: 7, failure: expect.any(String) })
  await signer.check()
})

test('a request with a wrong field is answered with the name of the field, and never with what was received', async () => {
  const { request } = shared
  const secret = 'not base64 of a key'
  for (const [method, params, field] of [
    ['seal', { id: 'wal_1', accountId: 'acc_1', family: 'evm', secret }, 'secret'],
    ['seal', { id: 'wal_1\nacc_1', accountId: 'acc_1', family: 'evm' }, 'id'],
    ['seal', { id: 'wal_1', accountId: 'acc_1', family: 'btc' }, 'family'],
    ['sign', { wallet: {} }, 'wallet.id'],
    ['open', null, 'parameters'],
  ] as const) {
    const [reply] = await request([JSON.stringify({ id: 7, method, params }), '\n'])
    expect(reply).toBe(`{"id":7,"failure":"The request has no valid ${field}."}`)
  }
})

test('a request that arrives byte by byte is answered, and half of one keeps nobody waiting', async () => {
  const { folder, request, signer } = shared
  const half = connect(join(folder, 'signer.sock'))
  onTestFinished(() => void half.destroy())
  half.write('{"id":1,"method":"che')
  const line = `{"id":1,"method":"check","params":"${'x'.repeat(3_000)}"}\n`
  expect(await request([...line])).toEqual(['{"id":1,"result":null}'])
  await signer.check()
})

test('a client that reads no answers is not read from, until it reads them', async () => {
  const { folder, signer } = shared
  const socket = connect(join(folder, 'signer.sock'))
  onTestFinished(() => void socket.destroy())
  const [PIECES, LINES] = [100, 200]
  const line = `{"id":1234567890,"method":"check","params":"${'x'.repeat(200)}"}\n`
  let taken = 0
  const write = () => {
    if (taken < PIECES) socket.write(line.repeat(LINES), () => (taken++, write()))
  }
  write()
  let before = -1
  const stands = async () => {
    await signer.check()
    const last = before
    before = taken
    return last === taken
  }
  await expect.poll(stands, { interval: 500, timeout: 20_000 }).toBe(true)
  expect(taken).toBeLessThan(PIECES / 2)
  let answers = 0
  socket.on('data', (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 10) answers++
  })
  await expect.poll(() => answers).toBe(PIECES * LINES)
})

test('it serves a limited number of connections', async () => {
  const { folder, signer } = shared
  const pid = await pidOf(folder)
  // Its listener, its connection with this process, and the three streams of a child.
  const untilAlone = async () => {
    await expect.poll(() => socketsOf(pid)).toHaveLength(5)
  }
  await untilAlone()
  let closed = 0
  const sockets: Socket[] = []
  for (let count = 0; count < 70; count++) {
    const socket = connect(join(folder, 'signer.sock'))
    sockets.push(socket)
    socket.on('error', () => {})
    socket.on('close', () => closed++)
  }
  await expect.poll(() => closed).toBe(7)
  await signer.check()
  for (const socket of sockets) socket.destroy()
  await untilAlone()
})

test('the signal of the debugger opens no port', async () => {
  const { folder } = shared
  const pid = await pidOf(folder)
  const said = await readFile(`/proc/${pid}/cmdline`, 'utf8')
  expect(said.split('\0')).toContain('--disable-sigusr1')
  const before = socketsOf(pid)
  process.kill(pid, 'SIGUSR1')
  // Either it goes on without the debugger, or the signal has ended it.
  await expect.poll(() => socketsOf(pid).filter((inode) => !before.includes(inode))).toEqual([])
})

test('one folder has one signer, after each garbage collection too, and SIGTERM ends it', async () => {
  const { folder, env } = openFolder()
  const collect =
    "let n = 0; setInterval(() => { gc(); if (++n === 5) process.stderr.write('collected') }, 20)"
  const first = spawn(
    process.execPath,
    ['--expose-gc', '--import', `data:text/javascript,${collect}`, MAIN, 'run'],
    { env, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  onTestFinished(() => void first.kill('SIGKILL'))
  await Promise.all([first.stdout, first.stderr].map((stream) => once(stream, 'data')))
  const second = spawn(process.execPath, [MAIN, 'run'], { env, stdio: 'ignore' })
  onTestFinished(() => void second.kill('SIGKILL'))
  expect(await once(second, 'exit')).toEqual([ANOTHER_RUNS, null])
  await endsBy('SIGTERM', first, folder)
})

/** A signal ends a signer in order, without its socket. */
async function endsBy(signal: NodeJS.Signals, child: ChildProcess, folder: string): Promise<void> {
  expect(existsSync(join(folder, 'signer.sock'))).toBe(true)
  child.kill(signal)
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(existsSync(join(folder, 'signer.sock'))).toBe(false)
}

test('it takes the socket that systemd passes to it, and no other descriptor; SIGINT ends it', async () => {
  const { folder, env } = openFolder()
  const path = join(dirname(folder), 'passed.sock')
  const start = (main: string, passed: number | 'ignore') => {
    const child = spawn('sh', ['-c', main, process.execPath, MAIN, 'run'], {
      env: { ...env, LISTEN_FDS: '1' },
      stdio: ['ignore', 'pipe', 'inherit', passed],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    if (!child.stdout) throw new Error('Expected a pipe.')
    return once(child.stdout, 'data').then(() => child)
  }
  const listener = createServer().listen(path)
  await once(listener, 'listening')
  chmodSync(path, 0o600)
  const child = await start('export LISTEN_PID=$$; exec "$0" "$@"', descriptorOf(path))
  listener.close()
  expect(existsSync(join(folder, 'signer.sock'))).toBe(false)
  child.kill('SIGTERM')
  await once(child, 'exit')
  const other = await start('export LISTEN_PID=1; exec "$0" "$@"', 'ignore')
  const signer = await openSigner({ socket: join(folder, 'signer.sock') })
  await signer.check()
  await signer[Symbol.asyncDispose]()
  await endsBy('SIGINT', other, folder)
})

test('freezes at the same moment all count, and are readable only by the owner', async () => {
  const { folder, command } = shared
  const wallets = ['1', '2'].map((digit) => `0x${digit.repeat(40)}`)
  await Promise.all(wallets.map((wallet) => command('freeze', '--wallet', wallet)))
  expect(readFrozen(folder).wallets).toEqual(expect.arrayContaining(wallets))
  expect((statSync(join(folder, 'frozen.json')).mode & 0o777).toString(8)).toBe('600')
})

test('the command check tells whether the signer can sign', async () => {
  const { command, setPolicy, env } = shared
  onTestFinished(() => setPolicy({}))
  expect(await command('check')).toBe('The signer can sign.')
  writeFileSync(env.SIGNER_POLICY_FILE, '{"rules": [')
  await expect(command('check')).rejects.toThrow(/The signing policy cannot be read/)
})

test.each<[string, (file: string) => void]>([
  ['its group', (file) => chmodSync(file, 0o620)],
  ['anybody', (file) => chmodSync(file, 0o602)],
  // Only root may give a file away: anybody else sees the group's case again.
  [
    'its other owner',
    (file) => (process.getuid?.() === 0 ? chownSync(file, 65_534, 65_534) : chmodSync(file, 0o622)),
  ],
])('a policy that %s may change stops signing', async (_, change) => {
  const { env, setPolicy, signer } = shared
  onTestFinished(() => {
    // Another file: this one is no longer ours.
    rmSync(env.SIGNER_POLICY_FILE)
    setPolicy({})
  })
  const wallet = await newWallet(signer)
  change(env.SIGNER_POLICY_FILE)
  await expect(pay(signer, wallet)).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    facts: {
      details: {
        operator: expect.stringContaining('expected a file that belongs to root or to the user'),
      },
    },
  })
})

test.each<[string, Record<string, string>, RegExp]>([
  [
    'a KMS alias',
    { VAULT_KMS_KEY: 'arn:aws:kms:eu-central-1:111122223333:alias/x' },
    /VAULT_KMS_KEY: expected the ARN of a key/,
  ],
  [
    'two vault keys',
    { VAULT_KMS_KEY: 'arn:aws:kms:eu-central-1:111122223333:key/1234', VAULT_KEY_FILE: '/x' },
    /expected one of the two, received both/,
  ],
  [
    'a long path',
    { SIGNER_DIR: `/tmp/${'x'.repeat(120)}` },
    /SIGNER_SOCKET: expected the path of a Unix socket, at most 100 bytes/,
  ],
  [
    'a policy that is not there',
    {
      VAULT_KEY_FILE: join(tmpdir(), `pd-none-${process.pid}`, 'key'),
      SIGNER_POLICY_FILE: '/none/policy.json',
    },
    /SIGNER_POLICY_FILE: expected a file that can be read/,
  ],
])('it does not start with %s, and says why', async (_, env, message) => {
  onTestFinished(() =>
    rmSync(join(tmpdir(), `pd-none-${process.pid}`), { recursive: true, force: true }),
  )
  await expect(openSigner({ env })).rejects.toThrow(message)
})

test('a socket that others may open is no signer: it could be anybody', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'pd-sg-')), 'signer.sock')
  onTestFinished(() => rmSync(dirname(path), { recursive: true, force: true }))
  let requests = 0
  const listener = createServer((socket) => socket.on('data', () => requests++)).listen(path)
  onTestFinished(() => void listener.close())
  await once(listener, 'listening')
  for (const mode of [0o666, 0o660]) {
    chmodSync(path, mode)
    await expect(openSigner({ socket: path })).rejects.toThrow(
      'SIGNER_SOCKET: expected a socket that belongs to this user or to root',
    )
  }
  if (process.getuid?.() === 0) {
    chmodSync(path, 0o600)
    chownSync(path, 65_534, 65_534)
    await expect(openSigner({ socket: path })).rejects.toThrow(/belongs to this user/)
  }
  expect(requests).toBe(0)
})

test('a service that is told of another signer starts none', async () => {
  await expect(openSigner({ socket: '/tmp/pd-nobody.sock' })).rejects.toThrow(
    'SIGNER_SOCKET: expected the socket of a signer that runs, received "/tmp/pd-nobody.sock".',
  )
})
