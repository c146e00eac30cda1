import { importQuickly } from '#postgres/quick-imports.ts'

const keepCompiled = importQuickly()
const [
  { readDatabase, readEnv, toConfig },
  { explainFailure },
  { createService, migrateDatabase },
] = await Promise.all([
  import('./context/config.ts'),
  import('./context/explain-failure.ts'),
  import('./service.ts'),
])

const GIVE_UP_MS = 10_000

async function start(): Promise<void> {
  const config = toConfig(readEnv(process.env))
  const service = await createService(config)
  service.context.log.info(
    {
      port: service.port,
      internalPort: service.internalPort,
      url: service.url,
      engine: 'url' in config.database ? 'postgres' : 'pglite',
    },
    'listening',
  )

  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) return
    stopping = true
    service.context.log.info({ signal }, 'stopping')
    setTimeout(() => process.exit(1), GIVE_UP_MS).unref()
    await service[Symbol.asyncDispose]()
    service.context.log.info('stopped')
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  keepCompiled()
}

/** Migrates the service's database and sets the rights of its runtime role, with the argument `migrate`. */
async function migrate(): Promise<void> {
  await migrateDatabase(readDatabase(process.env))
  process.stdout.write('The database of the service is migrated.\n')
}

try {
  await (process.argv[2] === 'migrate' ? migrate() : start())
} catch (error) {
  process.stderr.write(`${explainFailure(error)}\n`)
  process.exit(1)
}
