import { env } from 'node:process'
import { SHARED_SERVER, startServer, type Server } from './postgres.ts'

/** One Postgres server for all test files of a run, with separate databases for each file. */

let server: Server | undefined

export async function setup(): Promise<void> {
  server = await startServer()
  env[SHARED_SERVER] = server.folder
}

export async function teardown(): Promise<void> {
  await server?.stop()
}
