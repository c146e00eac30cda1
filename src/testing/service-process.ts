import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { COMPILE_CACHE } from '#devnet/folder.ts'
import { abortVariables } from './abort-transactions.ts'
import type { CrashPoint } from '#service/context/context.ts'

const SERVICE = fileURLToPath(new URL('../service/main.ts', import.meta.url))
const CRASHING_SERVICE = fileURLToPath(new URL('chaos/crashing-service.ts', import.meta.url))
const PROXY = fileURLToPath(new URL('../bff/main.ts', import.meta.url))

export type ServiceProcess = AsyncDisposable & {
  url: string
  /** Of metrics and readiness. */
  internalUrl: string
  port: number
  pid: number
  /** The signal that ended it. */
  ended: Promise<NodeJS.Signals | null>
  /** Kills it, as a power cut would; resolves when it is gone. */
  kill(): Promise<void>
}

/**
 * The payment service as an operator starts it, on any free port or the one in its environment; resolves
 * when it listens. It gets this environment and no other.
 */
export function startServiceProcess(env: Record<string, string>): Promise<ServiceProcess> {
  return startProcess(SERVICE, env)
}

/** The same service, which kills itself with SIGKILL at this step. */
export function startCrashingService(
  env: Record<string, string>,
  point: CrashPoint,
): Promise<ServiceProcess> {
  return startProcess(CRASHING_SERVICE, env, [point])
}

/** The proxy, started in the same way. */
export function startProxyProcess(env: Record<string, string>): Promise<ServiceProcess> {
  return startProcess(PROXY, env)
}

/** Long enough for a machine that does other work; a start waits for nothing else. */
const LISTENING_WITHIN_MS = 90_000

async function startProcess(
  main: string,
  env: Record<string, string>,
  args: readonly string[] = [],
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...abortVariables(), PORT: '0', INTERNAL_PORT: '0', ...env, ...COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once('exit', (_code, signal) => resolve(signal)),
  )
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  const [port, internalPort] = await new Promise<[string, string]>((resolve, reject) => {
    let said = ''
    const late = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`the program does not listen after 90 s: ${said}`))
    }, LISTENING_WITHIN_MS)
    child.once('exit', () => {
      clearTimeout(late)
      reject(new Error(`the program ended: ${said}`))
    })
    child.stdout.on('data', (text: Buffer) => {
      said += text
      const [, found, internal] =
        /"port":(\d+),"internalPort":(\d+).*"msg":"listening"/.exec(said) ?? []
      // What one chunk holds may be longer; a line that began before it is not.
      said = said.slice(-4_000)
      if (!found || !internal) return
      clearTimeout(late)
      resolve([found, internal])
    })
  })
  return {
    url: `http://127.0.0.1:${port}`,
    internalUrl: `http://127.0.0.1:${internalPort}`,
    port: Number(port),
    pid: child.pid ?? 0,
    ended,
    kill,
    [Symbol.asyncDispose]: kill,
  }
}
