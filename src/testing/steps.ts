import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ABORT_LOG } from './abort-transactions.ts'

export type TestStep = {
  name: string
  command: readonly [program: string, ...args: string[]]
  /** After how many minutes the step is ended and counts as failed; twice what it takes on two busy processors. */
  limitMinutes?: number
  /** Variables beside those of this process. */
  env?: Readonly<Record<string, string>>
  /** Whether it runs only where it is named. */
  onlyNamed?: true
  /** Whether it reads nothing but the sources: such steps run at the same time. */
  readsSources?: true
  /** Where the step's own tests are counted; a step without one counts as one test. */
  report?: string
}

const vitest = (project: string, ...more: string[]): TestStep => ({
  name: project,
  command: ['vitest', 'run', '-c', 'src/testing/vitest.config.ts', '--project', project, ...more],
  report: `test-results/${project}.json`,
})

/** Its tests wait for blocks and timers about half of their time: twice as many at once as there are processors. */
const integration: TestStep = { ...vitest('integration', '--maxWorkers=4'), limitMinutes: 35 }

const ABORTS = 'test-results/aborts.log'
const ABORTER = fileURLToPath(new URL('abort-transactions.ts', import.meta.url))

/** Everything `npm test` runs, cheapest first, and what is run by its name only. */
export const steps: readonly TestStep[] = [
  { name: 'fmt', command: ['oxfmt', '--check'], readsSources: true },
  {
    name: 'lint',
    command: ['oxlint', '--deny-warnings', 'src', 'packages', 'e2e', 'bench', 'vite.config.ts'],
    readsSources: true,
  },
  // Each checker works out the types of the packages again: one takes half of the processor time of four.
  { name: 'types', command: ['tsc', '-b', '--checkers', '1'], readsSources: true },
  { name: 'knip', command: ['knip'], readsSources: true },
  {
    name: 'build',
    command: ['vite', 'build', '--logLevel', 'warn'],
    readsSources: true,
  },
  { ...vitest('unit'), readsSources: true },
  { name: 'size', command: ['node', 'src/testing/size.ts'] },
  integration,
  // The same while the databases abort every fifth transaction.
  {
    ...integration,
    name: 'aborts',
    limitMinutes: 60,
    env: { NODE_OPTIONS: `--import=${ABORTER}`, [ABORT_LOG]: resolve(ABORTS) },
    onlyNamed: true,
  },
  // The short forms of all commands `npm run chaos:…`.
  {
    name: 'chaos',
    command: ['node', 'src/testing/chaos/short.ts'],
    limitMinutes: 15,
    report: 'test-results/chaos.json',
  },
  {
    name: 'e2e',
    command: ['playwright', 'test', '-c', 'e2e/playwright.config.ts'],
    limitMinutes: 35,
    report: 'test-results/e2e.json',
  },
]

/** The fast part, for every change. */
export const verifySteps = ['fmt', 'lint', 'types', 'knip', 'unit']
