import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { workerData } from 'node:worker_threads'
import * as v from 'valibot'
import { build } from 'vite'

const DEMO_WALLET_ENTRY = fileURLToPath(new URL('../demo-wallet/main.ts', import.meta.url))

const { targets, root, dist, demoWallet } = v.parse(
  v.object({ targets: v.array(v.picklist(['app', 'wallet'])), root: v.string(), dist: v.string(), demoWallet: v.string() }),
  workerData,
)

if (targets.includes('app')) await build({ root, logLevel: 'error', build: { outDir: dist, emptyOutDir: true } })

if (targets.includes('wallet')) {
  await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: 'error',
    build: {
      outDir: dirname(demoWallet),
      emptyOutDir: false,
      // One classic script: it has to announce itself before the page's modules run.
      lib: { entry: DEMO_WALLET_ENTRY, formats: ['iife'], name: 'paydeskDemoWallet', fileName: () => basename(demoWallet) },
    },
  })
}
