import type { Client } from 'pg'
import type { OpenOptions } from './open.ts'

/** What the runtime role may do with a table beside reading it. `update` names the columns, or is `all`. */
export type TableRights = {
  insert?: true
  update?: 'all' | readonly string[]
  delete?: true
}

/** The tables of a schema by name. The runtime role cannot even read a table that is not listed. */
export type RuntimeRights = Readonly<Record<string, TableRights>>

/** A connection pooler is where a session is needed, or its role lacks what the pooler does not pass on. */
export class PoolerError extends Error {
  override name = 'PoolerError'
}

/** Who a connection is, and whether it may change the schema. */
export type DatabaseRole = { name: string; owns: boolean; migrates: boolean }

/**
 * `owns`: it owns the tables of the schema, or may become their owner, so that it can delete and
 * alter all of them. `migrates`: it owns the schema, or may create a schema that is missing.
 */
export async function readRole(client: Client, schema: string): Promise<DatabaseRole> {
  const { rows } = await client.query<DatabaseRole>(
    `select current_user as name,
       coalesce(owns, false) as owns,
       coalesce(owns, has_database_privilege(current_database(), 'create')) as migrates
     from (select (select pg_has_role(nspowner, 'member') from pg_namespace where nspname = $1) as owns) as known`,
    [schema],
  )
  const [role] = rows
  if (!role) throw new Error('The database does not name its role.')
  return role
}

/**
 * Sets the rights of the runtime role in a schema to exactly these, in one transaction. It takes
 * the owner of the tables.
 */
export async function grantRights(
  owner: Client,
  role: string,
  { schema, rights }: Pick<OpenOptions, 'schema' | 'rights'>,
): Promise<void> {
  const [to, within] = [quoteName(role), quoteName(schema)]
  // Several statements of one simple query are one transaction.
  await owner.query(
    [
      `revoke all on all tables in schema ${within} from ${to}`,
      `revoke all on schema ${within} from ${to}`,
      `grant usage on schema ${within}, migrations to ${to}`,
      `grant usage on all sequences in schema ${within} to ${to}`,
      // Its start compares the migrations that ran with its own.
      `grant select on migrations.${within} to ${to}`,
      ...Object.entries(rights).map(
        ([table, granted]) =>
          `grant ${privileges(granted).join(', ')} on ${within}.${quoteName(table)} to ${to}`,
      ),
    ].join(';\n'),
  )
}

function privileges({ insert, update, delete: deletes }: TableRights): string[] {
  return [
    'select',
    ...(insert ? ['insert'] : []),
    ...(update === undefined
      ? []
      : [update === 'all' ? 'update' : `update (${update.map(quoteName).join(', ')})`]),
    ...(deletes ? ['delete'] : []),
  ]
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
