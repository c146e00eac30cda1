import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../service/main.ts', import.meta.url))

export type ServiceProcess = AsyncDisposable & {
  url: string
  /** The signal it ended by. */
  ended: Promise<NodeJS.Signals | null>
  /** As a power cut would; resolves when it is gone. */
  kill(): Promise<void>
}

/** The payment service as an operator starts it, on a port of its own choice; resolves when it listens. It gets this environment and no other. */
export async function startServiceProcess(env: Record<string, string>): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [MAIN], { env: { ...env, PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  const port = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.once('exit', () => reject(new Error(`the service ended: ${said}`)))
    child.stdout.on('data', (text: Buffer) => {
      said = `${said}${text}`.slice(-4_000)
      const found = /"port":(\d+).*"msg":"listening"/.exec(said)?.[1]
      if (found) resolve(found)
    })
  })
  return { url: `http://127.0.0.1:${port}`, ended, kill, [Symbol.asyncDispose]: kill }
}
