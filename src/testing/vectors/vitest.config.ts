import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Test cases that are read from checkouts: `VECTORS=<folder> npm run vectors`. See README.md. */
export default defineConfig({
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  test: {
    environment: 'node',
    setupFiles: ['src/testing/setup.ts'],
    include: ['src/testing/vectors/*.vectors.ts'],
    provide: { vectors: process.env['VECTORS'] ?? '' },
    retry: 0,
    passWithNoTests: false,
  },
})
