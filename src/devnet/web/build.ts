import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
export const DIST = join(ROOT, 'dist')
export const DEMO_WALLET = join(ROOT, 'node_modules/.cache/paydesk/demo-wallet.js')

const APP_SOURCES = ['src/web', 'src/contract', 'src/chains', 'src/x402', 'public', 'index.html', 'vite.config.ts', 'package.json']
const WALLET_SOURCES = ['src/devnet/demo-wallet', 'src/devnet/web/vite.ts', 'src/chains', 'src/contract', 'package.json']

/** Builds the web app and the demo wallet where their sources are newer than what was built last. */
export async function ensureBuilt(say: (line: string) => void): Promise<void> {
  const targets: ('app' | 'wallet')[] = []
  if (await isStale(join(DIST, 'index.html'), APP_SOURCES)) targets.push('app')
  if (await isStale(DEMO_WALLET, WALLET_SOURCES)) targets.push('wallet')
  if (targets.length === 0) return
  if (targets.includes('app')) say('Building the web app: its sources are newer than dist.')
  // In a thread of its own: the build would keep the chains' clocks from being watched.
  const worker = new Worker(new URL('vite.ts', import.meta.url), { workerData: { targets, root: ROOT, dist: DIST, demoWallet: DEMO_WALLET } })
  await new Promise<void>((resolve, reject) => {
    worker.once('error', reject)
    worker.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`The build of the web app ended with exit code ${code}.`))))
  })
}

async function isStale(built: string, sources: readonly string[]): Promise<boolean> {
  if (!existsSync(built)) return true
  const { mtimeMs } = await stat(built)
  for (const source of sources) if ((await newest(join(ROOT, source))) > mtimeMs) return true
  return false
}

async function newest(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined)
  if (!found) return 0
  if (!found.isDirectory()) return /\.test\.tsx?$/.test(path) ? 0 : found.mtimeMs
  // A removed file shows in its folder's time.
  const inside = await Promise.all((await readdir(path)).map((name) => newest(join(path, name))))
  return Math.max(found.mtimeMs, ...inside)
}

