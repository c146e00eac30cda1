import { importQuickly } from '#postgres/quick-imports.ts'

const keepCompiled = importQuickly()
const [
  { openDatabase },
  { createBff, rebuildLinks },
  { readDatabase, readEnv, toConfig },
  { BFF_SCHEMA },
  { explainFailure },
] = await Promise.all([
  import('#postgres/open.ts'),
  import('./bff.ts'),
  import('./config/config.ts'),
  import('./db/migrations-folder.ts'),
  import('./explain-failure.ts'),
])

const GIVE_UP_MS = 10_000

/** Starts the proxy from the environment; SIGTERM and SIGINT end it in order, within 10 seconds. */
async function main(): Promise<void> {
  const bff = await createBff(toConfig(readEnv(process.env)))
  let stopping = false
  const stop = (): void => {
    if (stopping) return
    stopping = true
    setTimeout(() => process.exit(1), GIVE_UP_MS).unref()
    bff[Symbol.asyncDispose]().then(
      () => process.exit(0),
      (error: unknown) => {
        bff.context.log.error({ err: error }, 'the stop failed')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  keepCompiled()
}

/** Migrates the proxy's database and sets the rights of its runtime role, with the argument `migrate`. */
async function migrate(): Promise<void> {
  await using _ = await openDatabase(readDatabase(process.env), BFF_SCHEMA)
  process.stdout.write('The database of the proxy is migrated.\n')
}

/** With the argument `rebuild-links`, after a restore of the proxy's database. */
async function rebuild(): Promise<void> {
  const missing = await rebuildLinks(toConfig(readEnv(process.env)))
  process.stdout.write(`${missing} payments of links were missing, and are there again.\n`)
}

const COMMANDS = new Map([
  ['migrate', migrate],
  ['rebuild-links', rebuild],
])

try {
  await (COMMANDS.get(process.argv[2] ?? '') ?? main)()
} catch (error) {
  process.stderr.write(`${explainFailure(error)}\n`)
  process.exitCode = 1
}
