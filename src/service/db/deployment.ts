import { keccak256, stringToBytes, type Hex } from 'viem'
import type { Database } from '#postgres/open.ts'
import { deployment } from './schema/deployment.ts'

const known = new WeakMap<Database, Promise<Hex>>()

/** 32 bytes that name this deployment in what payers sign; the same for every process on its database. */
export function readDeployment(db: Database): Promise<Hex> {
  const read = known.get(db) ?? readName(db)
  known.set(db, read)
  read.catch(() => known.delete(db))
  return read
}

async function readName(db: Database): Promise<Hex> {
  const [row] = await db.select().from(deployment)
  if (!row) throw new Error('The database has no deployment: its migrations have not run.')
  return keccak256(stringToBytes(row.id))
}
