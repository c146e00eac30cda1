import { sql } from 'drizzle-orm'
import { openDatabase, type Database, type DatabaseTarget } from '#postgres/open.ts'
import { SERVICE_SCHEMA } from '#service/db/migrations-folder.ts'
import { asOwner } from './postgres.ts'

/** A database of the service; on a server its owner copies, because no program may. */
type Copied = { target: DatabaseTarget; db: Database }

/** The rows of the service's schema as of one moment, beside it in the same database, on either engine. */
export async function backUp(copied: Copied): Promise<void> {
  await using owner = await openOwner(copied)
  await owner.db.transaction(
    async (tx) => {
      await tx.execute(sql`drop schema if exists backup cascade`)
      await tx.execute(sql`create schema backup`)
      for (const table of await tablesOf(tx))
        await tx.execute(
          sql`create table backup.${sql.identifier(table)} as table service.${sql.identifier(table)}`,
        )
    },
    { isolationLevel: 'repeatable read' },
  )
}

/** Puts the rows back, as a restore of that backup does. */
export async function putBack(copied: Copied): Promise<void> {
  await using owner = await openOwner(copied)
  const tables = await tablesOf(owner.db)
  await owner.db.transaction(async (tx) => {
    await tx.execute(sql`set local session_replication_role = replica`)
    for (const table of tables) await tx.execute(sql`delete from service.${sql.identifier(table)}`)
    for (const table of tables)
      await tx.execute(
        sql`insert into service.${sql.identifier(table)} overriding system value select * from backup.${sql.identifier(table)}`,
      )
  })
}

async function openOwner({ target, db }: Copied): Promise<AsyncDisposable & { db: Database }> {
  if ('url' in target) return openDatabase(asOwner(target), SERVICE_SCHEMA)
  return { db, [Symbol.asyncDispose]: async () => {} }
}

async function tablesOf(db: Database): Promise<string[]> {
  const { rows } = await db.execute<{ name: string }>(
    sql`select tablename as name from pg_tables where schemaname = 'service' order by tablename`,
  )
  return rows.map(({ name }) => name)
}
