import type pg from 'pg'

/** Fills tables of a bench by SQL. */

/** Runs work while the table has no index but that of its primary key: built after the rows, an index takes minutes less. */
export async function withoutIndexes(
  client: pg.Client,
  table: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
    where indrelid = $1::regclass and not exists (select from pg_constraint where conindid = indexrelid)`,
    [table],
  )
  for (const { name } of rows) await client.query(`drop index ${name}`)
  await work()
  for (const { definition } of rows) await client.query(definition)
}

export type Copies = {
  /** How many; they are numbered 1 to this as `n`, and the highest number is written first. */
  count: number
  /** The column that names a template, and the templates, as an expression of `n`. */
  key: string
  template: string
  /** Expressions of `n`, of the template `t` and of `row`, which counts what is written, for columns that are not as in the template. */
  set: Record<string, string>
  /** How many seconds `n` is older than its template: every time in its row is. */
  age: string
}

/**
 * Writes copies of real rows, each with its own keys and times. What the program writes into a row in later versions is in the copies too.
 * Triggers do not run and references are not checked where `triggers` is false.
 */
export async function copyRows(
  client: pg.Client,
  table: string,
  { count, key, template, set, age }: Copies,
  { triggers }: { triggers: boolean } = { triggers: false },
): Promise<number> {
  const { rows: columns } = await client.query<{ name: string; type: string; written: boolean }>(
    `select attname as name, format_type(atttypid, null) as type, attidentity = '' and attgenerated = '' as written
    from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [table],
  )
  const written = columns.filter((column) => column.written).map(({ name }) => name)
  const times = columns
    .filter(({ name, type }) => type.startsWith('timestamp') && set[name] === undefined)
    .map(({ name }) => [name, `t."${name}" - make_interval(secs => ${age})`] as const)
  // Few arguments fit one call.
  const changed = [...Object.entries(set), ...times].map(
    ([name, value]) => `jsonb_build_object('${name}', ${value})`,
  )
  const list = (prefix: string) => written.map((name) => `${prefix}"${name}"`).join(', ')
  await client.query(`set session_replication_role = ${triggers ? 'origin' : 'replica'}`)
  const { rowCount } = await client.query(
    `insert into ${table} (${list('')})
    select ${list('r.')} from (
      select n, row_number() over () as row, t from generate_series(${count}::int, 1, -1) n join ${table} t on t."${key}" = ${template}
    ) numbered cross join lateral (select (numbered.t).*) t
    cross join lateral jsonb_populate_record(numbered.t, ${changed.join(' || ')}) r`,
  )
  await client.query('set session_replication_role = origin')
  return rowCount ?? 0
}
