import { Stryker } from '@stryker-mutator/core'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { SHARED_SERVER, shareMigrated, startServer, type Server } from '../postgres.ts'
import { MUTATED_MODULES, type MutatedModule } from './modules.ts'
import { isUndetected, readProgress, strykerPlugins } from './reporter.ts'

/**
 * Mutation testing of the modules through which money moves, with Stryker: it changes one expression at a time and runs the tests that reach it. Prints
 * each change that no test notices, and the score of each module: `npm run mutate -- amounts egress`, or all of them. `--minutes N` (60 otherwise) limits
 * each module. Ends with 1 when a module is below its bar or was not finished.
 */

const WORKERS = 2
const DETECTED = new Set(['Killed', 'Timeout'])

const words = process.argv.slice(2)
const at = words.indexOf('--minutes')
const minutes = at === -1 ? 60 : Number(words[at + 1])
if (!Number.isFinite(minutes) || minutes <= 0)
  throw new Error('Expected a number after --minutes, for example --minutes 60.')
const names = at === -1 ? words : words.toSpliced(at, 2)
const unknown = names.filter((name) => !MUTATED_MODULES.some((module) => module.name === name))
if (unknown.length > 0)
  throw new Error(
    `No module is called ${unknown.join(', ')}. Modules: ${MUTATED_MODULES.map(({ name }) => name).join(', ')}.`,
  )

let missed = 0
for (const module of MUTATED_MODULES.filter(
  ({ name }) => names.length === 0 || names.includes(name),
))
  if (!(await mutate(module))) missed++
process.exit(missed > 0 ? 1 : 0)

async function mutate({ name, mutate: files, bar, database }: MutatedModule): Promise<boolean> {
  process.env['PAYDESK_MUTATED_MODULE'] = name
  const server = database ? await startShared() : undefined
  const startedAt = Date.now()
  const limit = setTimeout(() => {
    const { planned, tested, undetected } = readProgress()
    console.log(
      `${name}: not finished within ${minutes} min, ${tested} of ${planned} mutants tested, ${undetected} of them not detected (bar ${bar} %) MISSED`,
    )
    process.exit(1)
  }, minutes * 60_000)
  const results = await new Stryker({
    mutate: [...files],
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner', new URL('reporter.ts', import.meta.url).href],
    vitest: { configFile: 'src/testing/mutate/vitest.config.ts', related: false },
    coverageAnalysis: 'perTest',
    concurrency: WORKERS,
    // The types of the whole repository are checked apart, and a mutant need not satisfy them.
    checkers: [],
    // Stryker would rewrite it with the compiler's old interface, which TypeScript 7 has not; Vite reads no types.
    tsconfigFile: 'none',
    disableTypeChecks: false,
    mutator: { excludedMutations: ['StringLiteral'] },
    ignoreStatic: false,
    tempDirName: `test-results/stryker-${name}`,
    ignorePatterns: ['/dist', '/test-results'],
    reporters: strykerPlugins.map(({ name: reporter }) => reporter),
    timeoutMS: 20_000,
    allowConsoleColors: false,
  }).runMutationTest()
  clearTimeout(limit)
  await server?.stop()
  const detected = results.filter(({ status }) => DETECTED.has(status)).length
  const late = results.filter(({ status }) => status === 'Timeout').length
  const survivors = results.filter(isUndetected)
  const all = detected + survivors.length
  const score = all === 0 ? 0 : (100 * detected) / all
  const ok = score >= bar
  console.log(
    `${name}: ${score.toFixed(1)} % of ${all} mutants detected, ${late} of them by a timeout, in ${Math.round((Date.now() - startedAt) / 1000)} s (bar ${bar} %)${ok ? '' : ' MISSED'}`,
  )
  return ok
}

/**
 * A Postgres server for the tests of all mutants: Stryker kills a process whose tests hang, and a server of that process would stay. Its databases are
 * copies of one that is migrated.
 */
async function startShared(): Promise<Server> {
  const server = await startServer()
  process.env[SHARED_SERVER] = server.folder
  await shareMigrated(server.folder, 'service', SERVICE_SCHEMA)
  return server
}
