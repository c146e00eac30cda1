import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Supervised } from './nodes/child.ts'
import { untilListening } from './nodes/listening.ts'

const MAINS = {
  service: '../service/main.ts',
  bff: '../bff/main.ts',
  seller: 'seller/main.ts',
} as const

export type ProgramOptions = {
  name: keyof typeof MAINS
  port: number
  env: Record<string, string>
  /** Its log goes to `<name>.log` in here. */
  logDir: string
  say: (line: string) => void
}

/** One of our programs as it runs in production: its own process, configured by its environment alone. */
export class Program implements AsyncDisposable {
  readonly url: string
  readonly #process: Supervised
  readonly #log: WriteStream

  private constructor(child: Supervised, log: WriteStream, url: string) {
    this.#process = child
    this.#log = log
    this.url = url
  }

  static async start({ name, port, env, logDir, say }: ProgramOptions): Promise<Program> {
    await mkdir(logDir, { recursive: true })
    const log = createWriteStream(join(logDir, `${name}.log`), { flags: 'a', mode: 0o600 })
    const main = fileURLToPath(new URL(MAINS[name], import.meta.url))
    const child = await Supervised.start(
      {
        name,
        command: process.execPath,
        args: [main],
        env: { ...env, HOST: '127.0.0.1', PORT: String(port) },
      },
      { ready: untilListening, onLine: (line) => log.write(`${line}\n`), say },
    ).catch((error: unknown) => {
      log.end()
      throw error
    })
    return new Program(child, log, `http://127.0.0.1:${port}`)
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Ends the process with SIGKILL; resolves when it was started again and serves. */
  kill(): Promise<void> {
    return this.#process.kill()
  }

  /** Ends the process in order and starts it again, after `whileAway`. */
  restart(whileAway?: () => Promise<void>): Promise<void> {
    return this.#process.restart(whileAway)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.stop()
    await new Promise<void>((resolve) => this.#log.end(() => resolve()))
  }
}
