import { describeForLog } from '#contract/redact.ts'
import { DataFolderError, FolderLockedError } from '#postgres/folder-lock.ts'
import { FailoverError, openDatabase } from '#postgres/open.ts'
import { PoolerError } from '#postgres/runtime-role.ts'
import { SchemaVersionError } from '#postgres/schema-version.ts'
import { SignerConfigError } from '#signer/config.ts'
import { createBff, rebuildLinks } from './bff.ts'
import { ProxyConfigError, readDatabase, readEnv, toConfig } from './config/config.ts'
import { BFF_SCHEMA } from './db/migrations-folder.ts'
import { OperatorError } from './upstream/problem.ts'

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

function explain(error: unknown): string {
  const { message, stack } = describeForLog(error)
  if (error instanceof OperatorError) return String(error.facts.details?.['operator'] ?? message)
  return error instanceof ProxyConfigError ||
    error instanceof SignerConfigError ||
    error instanceof FailoverError ||
    error instanceof SchemaVersionError ||
    error instanceof PoolerError ||
    error instanceof DataFolderError ||
    error instanceof FolderLockedError
    ? error.message
    : (stack ?? message)
}

try {
  await (COMMANDS.get(process.argv[2] ?? '') ?? main)()
} catch (error) {
  process.stderr.write(`${explain(error)}\n`)
  process.exitCode = 1
}
