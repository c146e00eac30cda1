import { existsSync } from 'node:fs'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { FolderLockedError, lockFolder } from '#postgres/folder-lock.ts'
import type { BuildOrder } from './vite.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
export const DIST = join(ROOT, 'dist')
const CACHE = join(ROOT, 'node_modules/.cache/paydesk')
export const DEMO_WALLET = join(CACHE, 'demo-wallet.js')

const LOCK_POLL_MS = 200

const APP_SOURCES = [
  'src/web',
  'src/contract',
  'src/chains',
  'src/x402',
  'public',
  'index.html',
  'vite.config.ts',
  'package.json',
]
const WALLET_SOURCES = [
  'src/devnet/demo-wallet',
  'src/devnet/web/vite.ts',
  'src/chains',
  'src/contract',
  'package.json',
]

/**
 * Builds the web app and the demo wallet if their sources are newer than the last build. One
 * builder at a time, across all processes.
 */
export async function ensureBuilt(print: (line: string) => void): Promise<void> {
  const unlock = await lockBuild()
  try {
    if (await isStale(join(DIST, 'index.html'), APP_SOURCES)) {
      print('Building the web app: its sources are newer than dist.')
      const draft = join(CACHE, 'app')
      await runBuild({ target: 'app', root: ROOT, out: draft })
      await rm(DIST, { recursive: true, force: true })
      await rename(draft, DIST)
    }
    if (await isStale(DEMO_WALLET, WALLET_SOURCES))
      await runBuild({ target: 'wallet', root: ROOT, out: DEMO_WALLET })
  } finally {
    unlock()
  }
}

async function lockBuild(): Promise<() => void> {
  for (;;) {
    try {
      return lockFolder(CACHE)
    } catch (error) {
      if (!(error instanceof FolderLockedError)) throw error
      await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS))
    }
  }
}

/** In a separate thread: a build would block everything else in this process. */
async function runBuild(workerData: BuildOrder): Promise<void> {
  const worker = new Worker(new URL('vite.ts', import.meta.url), { workerData })
  await new Promise<void>((resolve, reject) => {
    worker.once('error', reject)
    worker.once('exit', (code) =>
      code === 0
        ? resolve()
        : reject(new Error(`The build of the web app ended with exit code ${code}.`)),
    )
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
  // Removing a file changes its folder's time.
  const inside = await Promise.all((await readdir(path)).map((name) => newest(join(path, name))))
  return Math.max(found.mtimeMs, ...inside)
}
