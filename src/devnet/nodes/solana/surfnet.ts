import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import * as v from 'valibot'

/** The part we use of the node's native module, which comes without types. */
export type Surfnet = {
  rpcUrl: string
  wsUrl: string
  stop(): void
  timeTravelToSlot(slot: number): unknown
}

type NativeSurfnet = Surfnet & { drainEvents(): unknown }
type SurfnetModule = {
  Surfnet: { startWithConfig(config: Record<string, unknown>): NativeSurfnet }
}

const Answer = v.object({ result: v.optional(v.unknown()), error: v.optional(v.unknown()) })

export type RpcResponse = { result?: unknown; error?: unknown }

export type SurfnetOptions = {
  slotTimeMs: number
  payerSecretKey: Uint8Array
  payerLamports: number
}

const SETTLE_POLL_MS = 10
export const RESPONSE_TIMEOUT_MS = 10_000
/**
 * Its event channel holds about a thousand events, some minutes of blocks. When full, it blocks
 * every block and every answer permanently.
 */
const DRAIN_EVERY_MS = 50

const START_WITHIN_MS = 60_000

/**
 * Ends this process when the returned function is not called in time. The native start waits without end for a
 * node that failed, and blocks the process meanwhile, so that no timer of it runs: a thread counts.
 */
export function endProcessUnlessStarted(withinMs: number): () => void {
  const state = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const thread = new Worker(
    `const { workerData } = require('node:worker_threads')
    if (Atomics.wait(workerData, 0, 0, ${withinMs}) === 'timed-out') {
      require('node:fs').writeSync(2, 'The Solana node did not start within ${withinMs} ms. Its process ends.\\n')
      process.kill(process.pid, 'SIGKILL')
    }`,
    { eval: true, execArgv: [], workerData: state },
  )
  thread.unref()
  return () => {
    Atomics.store(state, 0, 1)
    Atomics.notify(state, 0)
  }
}

function startNative({ slotTimeMs, payerSecretKey, payerLamports }: SurfnetOptions): NativeSurfnet {
  const noteAnswer = endProcessUnlessStarted(START_WITHIN_MS)
  try {
    return load().Surfnet.startWithConfig({
      offline: true,
      // The default mode makes blocks only for transactions; nothing would ever expire.
      blockProductionMode: 'clock',
      slotTimeMs,
      payerSecretKey: [...payerSecretKey],
      airdropSol: payerLamports,
    })
  } finally {
    // A start that throws has answered too.
    noteAnswer()
  }
}

/** Starts a Solana node in this process, without any connection to the outside. */
export async function startSurfnet(options: SurfnetOptions): Promise<Surfnet> {
  const native = startNative(options)
  const draining = setInterval(() => native.drainEvents(), DRAIN_EVERY_MS)
  draining.unref()
  const surfnet: Surfnet = {
    rpcUrl: native.rpcUrl,
    wsUrl: native.wsUrl,
    timeTravelToSlot: (slot) => native.timeTravelToSlot(slot),
    stop: () => {
      clearInterval(draining)
      native.stop()
    },
  }
  // Before its first block it reports height 31, and then 0: nobody may see the height go back.
  while ((await epochInfo(surfnet)).transactionCount === null)
    await new Promise((resolve) => setTimeout(resolve, SETTLE_POLL_MS))
  return surfnet
}

const EpochInfo = v.object({
  absoluteSlot: v.number(),
  blockHeight: v.number(),
  transactionCount: v.nullable(v.number()),
})

export async function epochInfo(surfnet: Surfnet): Promise<v.InferOutput<typeof EpochInfo>> {
  const { result } = await rpc(surfnet, 'getEpochInfo', [{ commitment: 'processed' }])
  return v.parse(EpochInfo, result)
}

export async function rpc(surfnet: Surfnet, method: string, params: unknown): Promise<RpcResponse> {
  const response = await fetch(surfnet.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    // A node that has stopped never answers: this process then fails, and the devnet starts another
    // one.
    signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
  })
  return v.parse(Answer, await response.json())
}

/** A call that the node cannot refuse unless something is broken. */
export async function mustRpc(surfnet: Surfnet, method: string, params: unknown): Promise<unknown> {
  const { result, error } = await rpc(surfnet, method, params)
  if (error !== undefined)
    throw new Error(`The Solana node refused ${method}: ${JSON.stringify(error)}`)
  return result
}

function load(): SurfnetModule {
  try {
    return createRequire(import.meta.url)('@solana/surfpool-linux-x64-gnu')
  } catch (cause) {
    throw new Error(
      `There is no embedded Solana node for ${process.platform}-${process.arch}: the devnet needs Linux on x64 with glibc 2.34 or newer.`,
      {
        cause,
      },
    )
  }
}
