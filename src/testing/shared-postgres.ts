import { existsSync, rmSync, statSync } from 'node:fs'
import { env } from 'node:process'
import { ABORT_LOG } from './abort-transactions.ts'
import { SHARED_SERVER, startServer, type Server } from './postgres.ts'

/** One Postgres server for all test files of a run, with separate databases for each file. */

let server: Server | undefined

export async function setup(): Promise<void> {
  const { [ABORT_LOG]: log } = env
  if (log !== undefined) rmSync(log, { force: true })
  server = await startServer()
  env[SHARED_SERVER] = server.folder
}

export async function teardown(): Promise<void> {
  await server?.stop()
  const { [ABORT_LOG]: log } = env
  if (log !== undefined && existsSync(log))
    console.log(`${statSync(log).size} transactions and single statements were aborted.`)
}
