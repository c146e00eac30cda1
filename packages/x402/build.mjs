import { execFileSync } from 'node:child_process'
import { copyFile, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

/** Writes `dist`: JavaScript in one file per entry, and the declarations as the compiler writes them. */
const path = (name) => fileURLToPath(new URL(name, import.meta.url))

await rm(path('dist'), { recursive: true, force: true })
await build({
  configFile: false,
  root: path('.'),
  logLevel: 'warn',
  build: {
    target: 'node20',
    minify: false,
    emptyOutDir: false,
    lib: {
      entry: {
        evm: path('src/evm.ts'),
        solana: path('src/solana.ts'),
        server: path('src/server.ts'),
      },
      formats: ['es'],
    },
    rolldownOptions: { external: /^(node:|[@\w])(?!:\\)/ },
  },
})
execFileSync(path('../../node_modules/.bin/tsc'), ['-p', path('tsconfig.package.json')], {
  stdio: 'inherit',
})
await copyFile(path('../../LICENSE'), path('LICENSE'))
