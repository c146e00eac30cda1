import { existsSync, rmSync, statSync } from 'node:fs'
import { env } from 'node:process'
import { BFF_SCHEMA } from '#bff/db/migrations-folder.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { ABORT_LOG } from './abort-transactions.ts'
import {
  migratedTemplate,
  SHARED_SERVER,
  shareMigrated,
  startServer,
  type Server,
} from './postgres.ts'

/** One Postgres server for all test files of a run, with separate databases for each file. */

let server: Server | undefined

export async function setup(): Promise<void> {
  const { [ABORT_LOG]: log } = env
  if (log !== undefined) rmSync(log, { force: true })
  server = await startServer()
  env[SHARED_SERVER] = server.folder
  await shareMigrated(server.folder, 'service', SERVICE_SCHEMA)
  await shareMigrated(server.folder, 'bff', BFF_SCHEMA)
  // Once, not in each worker.
  for (const schema of ['service', 'bff'] as const) await migratedTemplate(schema)
}

export async function teardown(): Promise<void> {
  await server?.stop()
  const { [ABORT_LOG]: log } = env
  if (log !== undefined && existsSync(log))
    console.log(`${statSync(log).size} transactions and single statements were aborted.`)
}
