import { defineConfig } from '@playwright/test'
import { findBrowser } from '../src/testing/browser.ts'

const executablePath = await findBrowser(process.env)
// Chosen by the first process; the workers inherit its environment.
const seed = (process.env.E2E_SEED ||= crypto.randomUUID().slice(0, 8))
if (process.argv.includes('test') && process.env.TEST_WORKER_INDEX === undefined)
  console.log(`Random values of the stories: E2E_SEED=${seed}`)

export default defineConfig({
  testDir: '.',
  testMatch: '*.e2e.ts',
  metadata: { seed },
  outputDir: '../test-results/e2e',
  // Each has a separate devnet and browser, which mostly wait: for blocks, and for a page to show
  // them.
  workers: 3,
  retries: 0,
  forbidOnly: true,
  // axe checks pages during a story, which is slow when other processes compete for the processor.
  reportSlowTests: null,
  timeout: 240_000,
  expect: { timeout: 30_000 },
  reporter: [['list'], ['json', { outputFile: '../test-results/e2e.json' }]],
  use: {
    browserName: 'chromium',
    viewport: { width: 1280, height: 900 },
    locale: 'en-US',
    timezoneId: 'UTC',
    // A spinner that turns takes a tenth of a processor while a page waits for blocks.
    contextOptions: { reducedMotion: 'reduce' },
    // Recording takes a fifth of the processor's time; `--trace on` records a story.
    trace: 'off',
    screenshot: 'only-on-failure',
    actionTimeout: 30_000,
    launchOptions: {
      executablePath,
      args: [
        // Chromium refuses to run its sandbox as root; the pages here are our own.
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-domain-reliability',
        '--disable-sync',
        '--no-first-run',
      ],
    },
  },
})
