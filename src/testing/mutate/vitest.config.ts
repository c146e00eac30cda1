import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { MUTATED_MODULES } from './modules.ts'

/** The tests that Stryker runs for one module; its name is in the variable. */
const module = MUTATED_MODULES.find(({ name }) => name === process.env['PAYDESK_MUTATED_MODULE'])

export default defineConfig({
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  test: {
    environment: 'node',
    setupFiles: ['src/testing/setup.ts'],
    include: [...(module?.tests ?? [])],
    testTimeout: 60_000,
    hookTimeout: 90_000,
    retry: 0,
  },
})
