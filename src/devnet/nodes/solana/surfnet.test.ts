import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { deployer, solanaKeypair } from '../wallets.ts'
import { epochInfo, startSurfnet } from './surfnet.ts'

/** The node's channel of events is full after about this many blocks. */
const MORE_THAN_A_CHANNEL = 1_500
const DEADLINE_MS = 40_000

test('the node goes on after more blocks than its channel of events holds', async () => {
  const payer = solanaKeypair(deployer().solana)
  const surfnet = await startSurfnet({
    slotTimeMs: 5,
    payerSecretKey: payer.secretKey,
    payerLamports: 1e12,
  })
  try {
    const { absoluteSlot: first } = await epochInfo(surfnet)
    const until = Date.now() + DEADLINE_MS
    let slot = first
    while (slot < first + MORE_THAN_A_CHANNEL && Date.now() < until)
      slot = (await inTime(epochInfo(surfnet))).absoluteSlot
    expect(slot).toBeGreaterThanOrEqual(first + MORE_THAN_A_CHANNEL)
  } finally {
    surfnet.stop()
  }
})

/** A node that has stopped never answers at all. */
function inTime<T>(answer: Promise<T>): Promise<T> {
  return Promise.race([
    answer,
    new Promise<never>((_, reject) =>
      setTimeout(() => reject(new Error('The node does not answer any more.')), 5_000).unref(),
    ),
  ])
}

test('a process whose node does not start ends, although it is blocked', async () => {
  const module = new URL('surfnet.ts', import.meta.url)
  const program = `import { endProcessUnlessStarted } from '${module}'
    endProcessUnlessStarted(500)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program])
  let said = ''
  child.stderr.on('data', (text: Buffer) => (said += text.toString()))
  const [, signal] = (await once(child, 'close')) as [number | null, string | null]
  expect({ signal, said }).toEqual({
    signal: 'SIGKILL',
    said: 'The Solana node did not start within 500 ms. Its process ends.\n',
  })
})
