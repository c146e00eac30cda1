import { chmodSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import * as v from 'valibot'
import { parseAddress } from '#contract/address.ts'
import { openSigner } from './client.ts'
import { readSignerConfig, SignerConfigError, type SignerConfig } from './config.ts'
import { appendFreeze, readFreezes, type FreezeLine } from './freeze-log.ts'
import { giveToOwner, readFrozen, writeFrozen } from './policy.ts'
import {
  ANOTHER_RUNS,
  describeError,
  METHODS,
  readLines,
  Request,
  writeLine,
  type SignerReply,
  type Signer,
} from './protocol.ts'
import { createSigner } from './signer.ts'
import { openVault } from './vaults.ts'

const USAGE = `The process that holds the keys of managed wallets. It listens on a Unix socket and on nothing else.

npm run signer -- <command>

  run                          serves until SIGTERM
  freeze   [--wallet <address>]   signs nothing for this wallet, or for any, from the next request on
  unfreeze [--wallet <address>]   ends the freeze of this wallet, or all of them
  status                       what is frozen, since when, and by whom
  check                        whether a signer listens on SIGNER_SOCKET and can sign

It reads VAULT_KEY_FILE or VAULT_KMS_KEY, SIGNER_DIR, SIGNER_SOCKET and SIGNER_POLICY_FILE: see docs/OPERATIONS.md.
`

/** The first file descriptor that systemd passes on. */
const FIRST_PASSED = 3
/** One service has one connection. */
const MAX_CONNECTIONS = 64
/** Requests of one connection that are answered at a time. */
const MAX_REQUESTS = 256
const LOCK_WAIT_MS = 5_000
/** As long as this program runs: a lock that nothing refers to is released by the next garbage collection. */
let folderLock: DatabaseSync | undefined

try {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      wallet: { type: 'string' },
      'with-parent': { type: 'boolean' },
      help: { type: 'boolean' },
    },
  })
  const [command = ''] = positionals
  if (values.help || !['run', 'freeze', 'unfreeze', 'status', 'check'].includes(command))
    process.stdout.write(USAGE)
  else if (command === 'check') {
    await using signer = await openSigner({ socket: readSignerConfig(process.env).socket })
    await signer.check()
    process.stdout.write('The signer can sign.\n')
  } else {
    const config = readSignerConfig(process.env)
    if (command === 'run') mkdirSync(config.folder, { recursive: true, mode: 0o700 })
    requirePrivate('SIGNER_DIR', config.folder)
    if (command === 'run') await run(config, values['with-parent'] ?? false)
    else process.stdout.write(`${freeze(config, command, values.wallet)}\n`)
  }
} catch (error) {
  const known = error instanceof SignerConfigError
  const text = known ? error.message : error instanceof Error ? error.stack : String(error)
  process.stderr.write(`${text}\n`)
  process.exit(1)
}

/** @throws SignerConfigError when there is none, or others may enter it */
function requirePrivate(variable: string, folder: string): void {
  // A freeze of a folder that no signer has would freeze nothing.
  if (!existsSync(folder))
    throw new SignerConfigError(
      `${variable}: expected the folder of the signer, found none at ${resolve(folder)}. Set SIGNER_DIR or VAULT_KEY_FILE to those of the signer.`,
    )
  const { mode, uid } = statSync(folder)
  const user = process.getuid?.()
  // Root may freeze what another user signs.
  const own = uid === user || user === 0
  if ((mode & 0o077) !== 0 || !own)
    throw new SignerConfigError(
      `${variable}: expected a folder of the user of the signer that only its owner may enter (chmod 700 ${folder}).`,
    )
}

/** Undefined when another process has it. The operating system releases it, after a kill too. */
function lock(file: string, waitMs: number): DatabaseSync | undefined {
  const locked = new DatabaseSync(file)
  giveToOwner(dirname(file), file)
  try {
    locked.exec(`pragma busy_timeout = ${waitMs}; begin exclusive`)
    return locked
  } catch {
    return undefined
  }
}

async function run(config: SignerConfig, withParent: boolean): Promise<void> {
  // Two signers of one folder would not know what the other has spent.
  folderLock = lock(join(config.folder, 'lock'), 0)
  if (!folderLock) {
    process.stderr.write(`Another signer runs on ${config.folder}.\n`)
    process.exit(ANOTHER_RUNS)
  }
  const { vaultKey } = config
  const source = {
    place: 'file' in vaultKey ? resolve(vaultKey.file) : vaultKey.kmsKey,
    open: (make: boolean) => openVault(vaultKey, make),
  }
  // A file that cannot be used is told at the start.
  const vault = await source.open(false)
  const signer = createSigner({
    vault: source,
    folder: config.folder,
    policyFile: config.policyFile,
  })
  const server = createServer((socket) => serve(signer, socket))
  server.maxConnections = MAX_CONNECTIONS
  const { LISTEN_FDS, LISTEN_PID } = process.env
  const passed = LISTEN_FDS === '1' && LISTEN_PID === String(process.pid)
  if (!passed) {
    requirePrivate('SIGNER_SOCKET', dirname(config.socket))
    rmSync(config.socket, { force: true })
    // From its first moment on nobody else may connect.
    process.umask(0o177)
  }
  const stop = () => {
    // The folder is still locked, so the socket is that of this process.
    if (!passed) rmSync(config.socket, { force: true })
    folderLock?.close()
    process.exit(0)
  }
  // A parent that stops in order still signs what is in flight; the other end of this pipe closes when it ends, however it ends.
  if (withParent) process.stdin.resume().once('end', stop).once('close', stop)
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, withParent ? () => {} : stop)
  await new Promise<void>((ready, failed) => {
    server.once('error', failed)
    server.listen(passed ? { fd: FIRST_PASSED } : config.socket, ready)
  })
  if (!passed) {
    process.umask(0o077)
    chmodSync(config.socket, 0o600)
  }
  const facts = { vaultKeyId: vault?.keyId ?? null, policy: config.policyFile ?? null }
  process.stdout.write(logLine(facts, 'the signer listens'))
}

function logLine(facts: object, msg: string): string {
  return `${JSON.stringify({ level: 30, time: Date.now(), pid: process.pid, ...facts, msg })}\n`
}

/** Who asks faster than it reads, or than the signer signs, is not read from until it has caught up. */
function serve(signer: Signer, socket: Socket): void {
  let requests = 0
  const goOn = () => {
    if (requests < MAX_REQUESTS && !socket.writableNeedDrain) socket.resume()
    else socket.pause()
  }
  socket.on('error', () => {})
  socket.on('drain', goOn)
  readLines(socket, (line) => {
    requests++
    goOn()
    void answer(signer, line).then((reply) => {
      requests--
      if (!reply) socket.destroy()
      else if (socket.writable) socket.write(writeLine(reply))
      goOn()
    })
  })
}

/** Undefined for a line that is no request. */
async function answer(signer: Signer, line: string): Promise<SignerReply | undefined> {
  const request = v.safeParse(v.pipe(v.string(), v.parseJson(), Request), line)
  if (!request.success) return undefined
  const { id, method, params } = request.output
  try {
    return { id, result: (await call(signer, method, params)) ?? null }
  } catch (error) {
    return { id, ...describeError(error) }
  }
}

/** @throws Error that names the field alone: what was received may be a key */
function parse<T extends v.GenericSchema>(schema: T, params: unknown): v.InferOutput<T> {
  const result = v.safeParse(schema, params)
  if (result.success) return result.output
  throw new Error(`The request has no valid ${v.getDotPath(result.issues[0]) ?? 'parameters'}.`)
}

function call(
  signer: Signer,
  method: v.InferOutput<typeof Request>['method'],
  params: unknown,
): Promise<unknown> {
  switch (method) {
    case 'check':
      return signer.check()
    case 'vaultKey':
      return signer.vaultKey(parse(METHODS.vaultKey.params, params))
    case 'seal':
      return signer.seal(parse(METHODS.seal.params, params))
    case 'open':
      return signer.open(parse(METHODS.open.params, params))
    case 'sign':
      return signer.sign(parse(METHODS.sign.params, params))
    case 'sealKey':
      return signer.sealKey(parse(METHODS.sealKey.params, params))
    case 'mac':
      return signer.mac(parse(METHODS.mac.params, params))
  }
}

function freeze({ folder }: SignerConfig, command: string, wallet: string | undefined): string {
  const parsed = wallet === undefined ? undefined : parseAddress(wallet)
  if (parsed && !parsed.ok)
    throw new SignerConfigError(
      `--wallet: expected an address, received ${JSON.stringify(wallet)}.`,
    )
  if (command !== 'freeze' && command !== 'unfreeze') return describeFrozen(folder)
  // Of two commands at once neither forgets what the other has frozen.
  using locked = lock(join(folder, 'frozen.lock'), LOCK_WAIT_MS)
  if (!locked) throw new SignerConfigError('Another command freezes or unfreezes. Try again.')
  const { all, wallets } = readFrozen(folder)
  const others = wallets.filter((other) => other !== parsed?.address)
  if (command === 'freeze')
    writeFrozen(
      folder,
      parsed ? { all, wallets: [...others, parsed.address] } : { all: true, wallets },
    )
  if (command === 'unfreeze')
    writeFrozen(folder, parsed ? { all, wallets: others } : { all: false, wallets: [] })
  // After the freeze: a line that cannot be written must not let a stolen key sign on.
  const { SUDO_USER: sudoUser } = process.env
  const line = appendFreeze(folder, { command, wallet: parsed?.address ?? null, sudoUser })
  process.stderr.write(logLine(line, `the operator has asked for ${command}`))
  return describeFrozen(folder)
}

function describeFrozen(folder: string): string {
  const { all, wallets } = readFrozen(folder)
  const began = readFreezes(folder)
  if (all)
    return `All wallets are frozen${describeBegin(began.get(null))}: the signer signs nothing.`
  return wallets.length > 0
    ? `Frozen: ${wallets.map((wallet) => `${wallet}${describeBegin(began.get(wallet))}`).join(', ')}. The signer signs for all others.`
    : 'Nothing is frozen.'
}

/** Empty for a freeze of an earlier version, which wrote no line. */
function describeBegin(line: FreezeLine | undefined): string {
  if (!line) return ''
  const { at, user, sudoUser } = line
  return ` since ${at} by ${sudoUser === undefined ? user : `${user} (sudo of ${sudoUser})`}`
}
