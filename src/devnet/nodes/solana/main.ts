import { setTimeout as pause } from 'node:timers/promises'
import bs58 from 'bs58'
import * as v from 'valibot'
import { deployer } from '../wallets.ts'
import { SolanaHistory } from './history.ts'
import { RpcProxy } from './rpc-proxy.ts'
import { SlotJournal, type Heights } from './journal.ts'
import { epochInfo, startSurfnet } from './surfnet.ts'

/**
 * The local Solana chain: an embedded node behind a front end that makes it look like a cluster.
 * The node forgets everything when it ends and has random ports; the front end keeps the history
 * and the addresses.
 */

const number = v.pipe(v.string(), v.transform(Number), v.integer(), v.minValue(0))
const env = v.parse(
  v.object({ DIR: v.string(), PORT: number, WS_PORT: number, SLOT_TIME_MS: number }),
  process.env,
)

/** A thousand SOL for the account that funds the node's own airdrops. */
const PAYER_LAMPORTS = 1e12

/** Longer than a blockhash lives: a transaction built before a restart is expired after it. */
const RESTART_GAP = 200

const HEIGHTS_EVERY_MS = 1_000

const { journal, lines, heights } = await SlotJournal.open(env.DIR)
const surfnet = await startSurfnet({
  slotTimeMs: env.SLOT_TIME_MS,
  payerSecretKey: bs58.decode(deployer().solana.secretKey),
  payerLamports: PAYER_LAMPORTS,
})
const heightOffset = heights ? heights.blockHeight + RESTART_GAP : 0
if (heights) surfnet.timeTravelToSlot(heights.slot + RESTART_GAP)
const archive = new SolanaHistory(surfnet, journal, env.SLOT_TIME_MS)
await archive.restore(lines)
await journal.saveHeights(await now())
const front = await RpcProxy.listen(
  { surfnet, archive, heightOffset },
  { http: env.PORT, ws: env.WS_PORT },
)

const stop = new AbortController()
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
  process.once(signal, () => stop.abort())
console.log(JSON.stringify({ msg: 'listening', port: front.port, wsPort: front.wsPort }))

let heightsSaved = Date.now()
while (!stop.signal.aborted) {
  await archive.catchUp()
  if (Date.now() - heightsSaved >= HEIGHTS_EVERY_MS) {
    await journal.saveHeights(await now())
    heightsSaved = Date.now()
  }
  await pause(archive.watching ? Math.min(50, env.SLOT_TIME_MS / 2) : 100, undefined, {
    signal: stop.signal,
  }).catch(() => undefined)
}

await front[Symbol.asyncDispose]()
await archive.catchUp()
await journal.saveHeights(await now())
surfnet.stop()
process.exit(0)

async function now(): Promise<Heights> {
  const { absoluteSlot, blockHeight } = await epochInfo(surfnet)
  return { slot: absoluteSlot, blockHeight: blockHeight + heightOffset }
}
