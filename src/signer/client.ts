import { spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, realpathSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import * as v from 'valibot'
import { ProblemError } from '#contract/problem.ts'
import { readSignerConfig, SignerConfigError, type SignerConfig, type SignerEnv } from './config.ts'
import {
  ANOTHER_RUNS,
  errorOf,
  METHODS,
  readLines,
  readReply,
  writeLine,
  type Method,
  type SignerReply,
  type Signer,
} from './protocol.ts'

/** Where the signer is: a process that another user runs, or one that is started with this environment. */
export type SignerPlace = { socket: string } | { env: SignerEnv }

const ROOT = resolve(import.meta.dirname, '../..')
const RETRY_AFTER_S = 2
const ANSWER_WITHIN_MS = 20_000
const START_WITHIN_MS = 30_000
const PAUSE_MS = 50
const MAX_TRIES = 20
const MAX_PAUSE_MS = 1_000

type Waiting = {
  method: Method
  resolve: (result: unknown) => void
  reject: (error: Error) => void
}

/** A signature that was under way has not arrived, so nothing can have been sent. */
function unavailable(cause?: unknown): ProblemError {
  const message = 'The signer cannot be reached. Nothing was sent.'
  return new ProblemError('SERVICE_UNAVAILABLE', { message, retryAfter: RETRY_AFTER_S }, { cause })
}

/**
 * Reaches the signer, and starts one where none runs and none is said to. From then on it is reached again, or started again, whenever it is lost; until
 * then every call fails at once with `SERVICE_UNAVAILABLE`.
 * @throws SignerConfigError when it does not start, with what it said
 */
export async function openSigner(
  place: SignerPlace,
  onWarning: (error: Error) => void = () => {},
): Promise<Signer> {
  const source =
    'socket' in place ? { socket: place.socket } : new ChildSource(place.env, onWarning)
  const client = new SocketSigner(source, onWarning)
  try {
    await client.start()
    return client
  } catch (error) {
    await client[Symbol.asyncDispose]()
    throw error
  }
}

type Source = {
  readonly socket: string
  /** @returns for how many milliseconds its socket may be expected; 0 when it listens */
  readonly start?: () => Promise<number>
  stop?: () => Promise<void>
}

/** The signer as a child process, in its own memory and under Node's permission model. It ends with this process. */
class ChildSource implements Source {
  readonly socket: string
  readonly #config: SignerConfig
  readonly #env: SignerEnv
  readonly #onWarning: (error: Error) => void
  #child: ChildProcess | undefined
  #stopped = false

  constructor(env: SignerEnv, onWarning: (error: Error) => void) {
    this.#env = env
    this.#onWarning = onWarning
    this.#config = readSignerConfig(env)
    this.socket = this.#config.socket
  }

  /**
   * Resolves when this child listens, or when another service on this machine has a signer.
   * @returns for how long the other one may still be starting: as long as this child took, twice
   * @throws SignerConfigError
   */
  async start(): Promise<number> {
    if (this.#child) return 0
    const startedAt = performance.now()
    const { folder, vaultKey } = this.#config
    for (const made of [folder, ...('file' in vaultKey ? [dirname(vaultKey.file)] : [])])
      mkdirSync(made, { recursive: true, mode: 0o700 })
    const child = spawn(
      process.execPath,
      [
        ...permissions(this.#config, this.#env['HOME']),
        join(import.meta.dirname, 'main.ts'),
        'run',
        '--with-parent',
      ],
      { env: { ...this.#env }, stdio: ['pipe', 'pipe', 'pipe'] },
    )
    this.#child = child
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => (said = `${said}${chunk}`.slice(-4_000)))
    // Its end, not ours, says that it is gone.
    child.stdin.on('error', () => {})
    return new Promise<number>((ready, failed) => {
      const late = setTimeout(() => child.kill('SIGKILL'), START_WITHIN_MS)
      let listens = false
      child.stdout.once('data', () => {
        listens = true
        clearTimeout(late)
        // From now on a program that has nothing else to do may end, and the signer with it.
        child.unref()
        ready(0)
      })
      child.once('error', failed)
      child.once('exit', (code, signal) => {
        clearTimeout(late)
        if (this.#child === child) this.#child = undefined
        if (listens && !this.#stopped)
          this.#onWarning(new Error(`The signer ended with ${signal ?? code}. ${said.trim()}`))
        if (code === ANOTHER_RUNS) ready(2 * (performance.now() - startedAt))
        else failed(new SignerConfigError(`The signer does not run. ${said.trim()}`))
      })
    })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    const child = this.#child
    if (!child) return
    const ended = new Promise<void>((done) => child.once('exit', () => done()))
    // This wait is something to do.
    child.ref()
    child.stdin?.end()
    await ended
  }
}

/** Its own code to read, its folder and the vault's key to write, and nothing else. Node 24 has no permission for the network. */
function permissions(
  { folder, vaultKey, policyFile, socket }: SignerConfig,
  home: string | undefined,
): string[] {
  const key = 'file' in vaultKey ? [`${resolve(vaultKey.file)}*`] : []
  const read = [
    join(ROOT, 'src'),
    join(ROOT, 'package.json'),
    realpathSync(join(ROOT, 'node_modules')),
    join(ROOT, 'node_modules'),
    ...key,
    ...('kmsKey' in vaultKey && home !== undefined ? [join(home, '.aws')] : []),
    ...(policyFile === undefined ? [] : [resolve(policyFile)]),
  ]
  const own = [resolve(folder), dirname(resolve(socket))]
  const write = [...own, ...key]
  return [
    '--permission',
    // The signal of the debugger: it would open a port that reads all memory.
    '--disable-sigusr1',
    ...[...own, ...read].map((path) => `--allow-fs-read=${path}`),
    ...write.map((path) => `--allow-fs-write=${path}`),
  ]
}

class SocketSigner implements Signer {
  readonly #source: Source
  readonly #onWarning: (error: Error) => void
  readonly #waiting = new Map<number, Waiting>()
  #socket: Socket | undefined
  #stopped = false
  #count = 0
  #reconnecting: Promise<void> | undefined

  constructor(source: Source, onWarning: (error: Error) => void) {
    this.#source = source
    this.#onWarning = onWarning
  }

  check = async () => void (await this.#call('check', null))
  vaultKey = (request: Parameters<Signer['vaultKey']>[0]) => this.#call('vaultKey', request)
  open = async (wallet: Parameters<Signer['open']>[0]) => void (await this.#call('open', wallet))
  sign = (request: Parameters<Signer['sign']>[0]) => this.#call('sign', request)
  mac = (request: Parameters<Signer['mac']>[0]) => this.#call('mac', request)
  async sealKey(request: Parameters<Signer['sealKey']>[0]) {
    try {
      return await this.#call('sealKey', request)
    } finally {
      request.secret.fill(0)
    }
  }
  async seal(request: Parameters<Signer['seal']>[0]) {
    try {
      return await this.#call('seal', request)
    } finally {
      request.secret?.fill(0)
    }
  }

  /** The first time: what prevents it is told. */
  async start(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#open()
      } catch (error) {
        if (error instanceof SignerConfigError) throw error
        const { socket, start } = this.#source
        if (!start)
          throw new SignerConfigError(
            `SIGNER_SOCKET: expected the socket of a signer that runs, received ${JSON.stringify(socket)}.`,
            { cause: error },
          )
        if (tries === MAX_TRIES)
          throw new SignerConfigError(
            `The signer does not listen on ${socket}. Another process may hold the lock of its folder.`,
            { cause: error },
          )
      }
    }
  }

  /** Connects; where none listens and one may be started, starts one first, or waits for one that another service starts. */
  async #open(): Promise<void> {
    try {
      return await this.#connect()
    } catch (error) {
      if (!this.#source.start || error instanceof SignerConfigError) throw error
    }
    const until = performance.now() + (await this.#source.start())
    for (;;) {
      await pause(PAUSE_MS)
      try {
        return await this.#connect()
      } catch (error) {
        if (error instanceof SignerConfigError || performance.now() > until || this.#stopped)
          throw error
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true
    this.#socket?.destroy()
    await this.#reconnecting
    // It may have been reached in the meantime.
    this.#socket?.destroy()
    await this.#source.stop?.()
  }

  async #call<M extends Method>(
    method: M,
    params: unknown,
  ): Promise<v.InferOutput<(typeof METHODS)[M]['result']>> {
    const socket = this.#socket
    if (!socket) throw unavailable()
    const id = ++this.#count
    let late: NodeJS.Timeout | undefined
    const result = await new Promise<unknown>((resolveWith, reject) => {
      this.#waiting.set(id, { method, resolve: resolveWith, reject })
      late = setTimeout(() => reject(unavailable()), ANSWER_WITHIN_MS)
      socket.write(writeLine({ id, method, params }))
    }).finally(() => {
      clearTimeout(late)
      this.#waiting.delete(id)
    })
    return v.parse(METHODS[method].result, result)
  }

  async #connect(): Promise<void> {
    requireOwnSocket(this.#source.socket)
    const socket = connect(this.#source.socket)
    await new Promise<void>((ready, failed) => {
      socket.once('connect', ready)
      socket.once('error', failed)
    })
    // Ended means lost here too; 'close' follows.
    socket.on('error', () => {})
    socket.once('close', () => this.#lost(socket))
    readLines(socket, (line) => this.#onLine(socket, line))
    this.#socket = socket
  }

  #onLine(socket: Socket, line: string): void {
    let reply: SignerReply
    try {
      reply = readReply(line)
    } catch {
      socket.destroy()
      return
    }
    const waiting = this.#waiting.get(reply.id)
    if (!waiting) return
    if (reply.problem || reply.failure !== undefined) waiting.reject(errorOf(reply))
    else waiting.resolve(reply.result)
  }

  #lost(socket: Socket): void {
    if (this.#socket !== socket) return
    this.#socket = undefined
    for (const { reject } of this.#waiting.values()) reject(unavailable())
    this.#reconnecting ??= this.#reconnect().finally(() => (this.#reconnecting = undefined))
  }

  /** Until it is there again. */
  async #reconnect(): Promise<void> {
    for (let wait = PAUSE_MS; !this.#stopped; wait = Math.min(wait * 2, MAX_PAUSE_MS)) {
      try {
        return await this.#open()
      } catch (error) {
        if (error instanceof SignerConfigError) this.#onWarning(error)
      }
      await pause(wait)
    }
  }
}

/**
 * A socket that another user made could be a false signer, which hands out wallets of its keys.
 * @throws SignerConfigError; Error when it is not there
 */
function requireOwnSocket(path: string): void {
  const { mode, uid } = statSync(path)
  if ((mode & 0o022) === 0 && (uid === 0 || uid === process.getuid?.())) return
  throw new SignerConfigError(
    `SIGNER_SOCKET: expected a socket that belongs to this user or to root, and that nobody else may write (mode 600), received ${JSON.stringify(path)}.`,
  )
}

function pause(ms: number): Promise<void> {
  return new Promise((resolveLater) => setTimeout(resolveLater, ms))
}
