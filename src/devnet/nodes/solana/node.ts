import { fileURLToPath } from 'node:url'
import { Connection } from '@solana/web3.js'
import { nodeCommand, Supervised, untilListening } from '../child.ts'

export type SolanaOptions = {
  dir: string
  port: number
  wsPort: number
  slotTimeMs: number
  /** Further variables of its process. */
  env?: Record<string, string>
  print: (line: string) => void
}

/** The node itself is native code: only its front end has objects. */
const NEW_OBJECTS_MB = 4

/** A real Solana node in a child process: native code that panics must not take the devnet along. */
export class SolanaNode implements AsyncDisposable {
  readonly rpcUrl: string
  readonly wsUrl: string
  /** For calls over HTTP alone: a subscription would go on dialling after the node has ended. */
  readonly connection: Connection
  readonly #process: Supervised

  private constructor(node: Supervised, options: SolanaOptions) {
    this.#process = node
    this.rpcUrl = `http://127.0.0.1:${options.port}`
    this.wsUrl = `ws://127.0.0.1:${options.wsPort}`
    this.connection = new Connection(this.rpcUrl, {
      commitment: 'confirmed',
      wsEndpoint: this.wsUrl,
      disableRetryOnRateLimit: true,
    })
  }

  static async start(options: SolanaOptions): Promise<SolanaNode> {
    const main = fileURLToPath(new URL('main.ts', import.meta.url))
    const env = {
      DIR: options.dir,
      PORT: String(options.port),
      WS_PORT: String(options.wsPort),
      SLOT_TIME_MS: String(options.slotTimeMs),
      ...options.env,
    }
    const node = await Supervised.start(
      nodeCommand({ name: 'Solana node', main, newObjectsMb: NEW_OBJECTS_MB, env }),
      {
        ready: untilListening,
        print: options.print,
      },
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
