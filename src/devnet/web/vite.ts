import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { workerData } from 'node:worker_threads'
import * as v from 'valibot'
import { build } from 'vite'

const DEMO_WALLET_ENTRY = fileURLToPath(new URL('../demo-wallet/main.ts', import.meta.url))

const BuildOrder = v.object({
  target: v.picklist(['app', 'wallet']),
  root: v.string(),
  out: v.string(),
})

/** `out`: a folder for the app, a file for the wallet. */
export type BuildOrder = v.InferOutput<typeof BuildOrder>

const { target, root, out } = v.parse(BuildOrder, workerData)

if (target === 'app')
  await build({ root, logLevel: 'error', build: { outDir: out, emptyOutDir: true } })
else {
  // One classic script: it has to announce itself before the page's modules run.
  const lib = {
    entry: DEMO_WALLET_ENTRY,
    formats: ['iife' as const],
    name: 'paydeskDemoWallet',
    fileName: () => basename(out),
  }
  await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: 'error',
    build: { outDir: dirname(out), emptyOutDir: false, lib },
  })
}
