import { env } from 'node:process'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { translations } from '../web/locales/macros.ts'
import { ABORT_LOG } from './abort-transactions.ts'
import { LongestFirst } from './longest-first.ts'
import { VitestReport } from './vitest-report.ts'

/** They read files and start nothing. */
const REPOSITORY = [
  'repository',
  'documents',
  'dependencies',
  'names',
  'stories',
  'import-rules',
  'wording',
  'threats',
  'supply-chain',
].map((name) => `src/testing/${name}.test.ts`)
const VECTORS = 'src/testing/vectors/*.test.ts'
/** What is aborted is done again: everything takes up to twice as long. */
const LIMIT_MS = env[ABORT_LOG] === undefined ? 180_000 : 360_000
/** Modules are loaded once for each worker, not once for each file: loading them was a third of the time. */
const shared = { environment: 'node', setupFiles: ['src/testing/setup.ts'], isolate: false }

/**
 * Two projects. `unit`: what needs no process and no database, the vocabularies, the browser's own code, the tests of the repository,
 * and test cases of others.
 * `integration`: programs, chains and databases, all real, hence the longer limits.
 */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    projects: [
      {
        plugins: [translations()],
        test: {
          ...shared,
          name: 'unit',
          setupFiles: [...shared.setupFiles, 'src/testing/unit-setup.ts'],
          include: ['src/{contract,x402,chains,web}/**/*.test.{ts,tsx}', ...REPOSITORY, VECTORS],
          testTimeout: 20_000,
        },
      },
      {
        plugins: [translations()],
        test: {
          ...shared,
          name: 'integration',
          include: [
            'src/{egress,http,postgres,signer,service,bff,devnet}/**/*.test.ts',
            'src/testing/{,attacks/,chaos/}*.test.ts',
          ],
          // The model has another kind of database, in which nothing is aborted.
          exclude: [...REPOSITORY, ...(env[ABORT_LOG] ? ['src/testing/model.test.ts'] : [])],
          globalSetup: [fileURLToPath(new URL('shared-postgres.ts', import.meta.url))],
          // They end what hangs. On a machine that others keep busy everything takes three times as long.
          testTimeout: LIMIT_MS,
          hookTimeout: LIMIT_MS,
          expect: { poll: { timeout: 90_000 } },
        },
      },
    ],
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    teardownTimeout: 20_000,
    reporters: ['default', new VitestReport()],
    retry: 0,
    passWithNoTests: false,
    dangerouslyIgnoreUnhandledErrors: false,
  },
})
