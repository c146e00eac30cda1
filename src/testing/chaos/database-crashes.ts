import pg from 'pg'
import * as v from 'valibot'
import { pause } from './command.ts'
import { untilDone, type FaultHarness } from './fault-harness.ts'
import type { SeededRng } from './rng.ts'

/** How a Postgres server fails its clients. After a killed process it ends all connections and recovers. */
export const CRASHES = [
  'immediate shutdown',
  'kill -9 of a process',
  'terminated connections',
] as const
export type Crash = (typeof CRASHES)[number]

const AWAY_MS = [200, 1_500] as const
/** A server that is just crashing may answer nothing. */
const PATIENCE_MS = 10_000
const Pids = v.array(v.object({ pid: v.number() }))
/** Crashes the server of a harness; it is there again, or recovering, when this resolves. */
export async function crashDatabase(
  harness: FaultHarness,
  crash: Crash,
  rng: SeededRng,
): Promise<void> {
  if (crash === 'immediate shutdown')
    return harness.restartDatabase(() => pause(rng.int(...AWAY_MS)))
  const pids = await untilDone(() => readBackends(harness))
  if (crash === 'kill -9 of a process') return void process.kill(rng.pick(pids), 'SIGKILL')
  await onDatabase(
    harness,
    'select pg_terminate_backend(pid) from pg_stat_activity where pid = any($1)',
    [pids],
  )
}

/** The server's processes that serve the service. */
async function readBackends(harness: FaultHarness): Promise<number[]> {
  const rows = await onDatabase(
    harness,
    `select pid from pg_stat_activity where application_name = 'paydesk-service' and pid <> pg_backend_pid()`,
  )
  const pids = v.parse(Pids, rows).map(({ pid }) => pid)
  if (pids.length === 0) throw new Error('The service has no connection.')
  return pids
}

/** On a separate connection, so that a crash does not end it in the middle of a pool. */
async function onDatabase(
  { env }: FaultHarness,
  statement: string,
  values: unknown[] = [],
): Promise<unknown[]> {
  const client = new pg.Client({
    connectionString: env.DATABASE_URL ?? '',
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
  })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(statement, values)).rows
  } finally {
    await client.end().catch(() => {})
  }
}
