import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env, execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { CACHE } from '#devnet/folder.ts'
import { freePort } from '#devnet/options.ts'
import { DEMO_WALLET, DIST } from '#devnet/web/build.ts'
import { pause } from '#testing/chaos/command.ts'
import { QUICK, runBench } from './bench.ts'

/**
 * `npm run bench:start`: how long `npm start` takes until it says that everything is ready, with nothing built and no history, and once more; and what
 * its programs keep in memory when nobody asks anything. The packages are installed and checked before.
 */

const MAIN = fileURLToPath(new URL('../src/devnet/main.ts', import.meta.url))
const IDLE_MS = QUICK ? 15_000 : 60_000
const READY = /Paydesk is ready: +(http\S+)/
const PORTS = ['WEB', 'BFF', 'SERVICE', 'SELLER', 'EVM', 'SOLANA', 'SOLANA_WS']
/** A program by what its command line holds; the first that fits. */
const PROGRAMS = [
  ['service', 'src/service/main.ts'],
  ['signer', 'src/signer/main.ts'],
  ['proxy', 'src/bff/main.ts'],
  ['demo shop', 'src/devnet/seller/main.ts'],
  ['EVM node', 'anvil'],
  ['Solana node', 'src/devnet/nodes/solana/main.ts'],
] as const
const KILOBYTES = 1024

const folder = mkdtempSync(join(tmpdir(), 'paydesk-bench-'))
const ports = await Promise.all(
  PORTS.map(async (name) => [`PORT_${name}`, String(await freePort())] as const),
)

await runBench('start', async (bench) => {
  for (const built of [DIST, DEMO_WALLET, CACHE]) rmSync(built, { recursive: true, force: true })
  const cold = await start()
  bench.add({ ...seconds('cold: nothing is built, no history', cold.ms), most: 12 })
  await stop(cold.child)
  const warm = await start()
  bench.add({ ...seconds('warm: the same history', warm.ms), most: 6 })
  await pause(IDLE_MS)
  const memory = readMemory(warm.child.pid ?? 0)
  for (const [name, megabytes] of memory)
    bench.add({ name: `idle memory, ${name}`, ours: megabytes, value: megabytes, unit: 'MB' })
  const sum = [...memory.values()].reduce((total, megabytes) => total + megabytes, 0)
  bench.add({ name: 'idle memory, all', ours: sum, value: sum, unit: 'MB', most: 900 })
  await stop(warm.child)
})
rmSync(folder, { recursive: true, force: true, maxRetries: 5 })

function seconds(name: string, ms: number) {
  return { name, ours: ms / 1_000, value: ms / 1_000, unit: 's' }
}

async function start(): Promise<{ child: ChildProcess; ms: number }> {
  const from = performance.now()
  const child = spawn(execPath, [MAIN], {
    cwd: folder,
    env: { ...env, ...Object.fromEntries(ports) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`npm start ended: ${said}`)))
    child.stdout.on('data', (text: Buffer) => {
      said += String(text)
      const [, found] = READY.exec(said) ?? []
      if (found) resolve(found)
    })
  })
  const page = await fetch(url)
  await page.text()
  if (!page.ok) throw new Error(`The dashboard answered ${page.status}.`)
  return { child, ms: performance.now() - from }
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGINT')
  await ended
}

/** Megabytes by program: pages that several of them share count once in all. */
function readMemory(root: number): Map<string, number> {
  const memory = new Map<string, number>()
  for (const pid of familyOf(root)) {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    const [name] = PROGRAMS.find(([, part]) => command.includes(part)) ?? ['npm start']
    const [, kilobytes = '0'] =
      /^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
    memory.set(name, (memory.get(name) ?? 0) + (Number(kilobytes) * KILOBYTES) / 1e6)
  }
  return memory
}

function familyOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return [pid, ...children.split(' ').filter(Boolean).map(Number).flatMap(familyOf)]
}
