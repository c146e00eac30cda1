import { fileURLToPath } from 'node:url'
import { Connection } from '@solana/web3.js'
import * as v from 'valibot'
import { Supervised } from '../child.ts'

export type SolanaOptions = {
  dir: string
  port: number
  wsPort: number
  slotTimeMs: number
  say: (line: string) => void
}

const Listening = v.object({ msg: v.literal('listening'), port: v.number(), wsPort: v.number() })

/** A real Solana node in a child process: native code that panics must not take the devnet along. */
export class SolanaNode implements AsyncDisposable {
  readonly rpcUrl: string
  readonly wsUrl: string
  readonly connection: Connection
  readonly #process: Supervised

  private constructor(node: Supervised, options: SolanaOptions) {
    this.#process = node
    this.rpcUrl = `http://127.0.0.1:${options.port}`
    this.wsUrl = `ws://127.0.0.1:${options.wsPort}`
    this.connection = new Connection(this.rpcUrl, { commitment: 'confirmed', wsEndpoint: this.wsUrl, disableRetryOnRateLimit: true })
  }

  static async start(options: SolanaOptions): Promise<SolanaNode> {
    const main = fileURLToPath(new URL('main.ts', import.meta.url))
    const env = { DIR: options.dir, PORT: String(options.port), WS_PORT: String(options.wsPort), SLOT_TIME_MS: String(options.slotTimeMs) }
    const node = await Supervised.start(
      { name: 'Solana node', command: process.execPath, args: [main], env },
      { ready: (run) => run.line((line) => (isListening(line) ? true : undefined)).then(() => undefined), say: options.say },
    )
    return new SolanaNode(node, options)
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  kill(): Promise<void> {
    return this.#process.kill()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.stop()
  }
}

function isListening(line: string): boolean {
  try {
    return v.is(Listening, JSON.parse(line))
  } catch {
    return false
  }
}
