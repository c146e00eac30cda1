import * as v from 'valibot'
import { detailKey, explainIssue } from '#contract/explain-issue.ts'
import { describe } from '#contract/fields.ts'
import { LosslessNumber } from '#contract/json.ts'
import { ProblemError } from '#contract/problem.ts'

type Parts = 'params' | 'query' | 'body'
type Schemas = { [P in Parts]?: v.GenericSchema }

/**
 * Parses all parts of a request and reports every problem of every part at once, by field.
 * @throws `INVALID_PARAMETERS`
 */
export function parseInput(
  schemas: Schemas,
  raw: { [P in Parts]?: unknown },
): Record<Parts, unknown> {
  // Without a prototype: a field named toString is as unknown as any other.
  const details: Record<string, string> = Object.create(null)
  const input: Record<Parts, unknown> = { params: undefined, query: undefined, body: undefined }
  for (const part of ['params', 'query', 'body'] as const) {
    const schema = schemas[part]
    if (!schema) continue
    const value = raw[part]
    if (!isObject(value)) {
      details[part] = `Expected a JSON object, received ${describe(value)}.`
      continue
    }
    const result = v.safeParse(schema, value)
    if (result.success) input[part] = result.output
    else
      for (const issue of result.issues)
        details[detailKey(fieldOf(issue, part) ?? part, part)] ??= explain(issue, schema)
    for (const [name, problem] of unknownFields(schema, value))
      details[detailKey(name, part)] = problem
  }
  const fields = Object.keys(details)
  if (fields.length === 0) return input
  const [first = ''] = fields
  const message =
    fields.length === 1
      ? `${first}: ${details[first]}`
      : `${fields.length} fields are not valid: ${fields.slice(0, 10).join(', ')}${fields.length > 10 ? ', …' : ''}.`
  throw new ProblemError('INVALID_PARAMETERS', { message, details })
}

/** Valibot reports only the first unknown field; the sender gets all of them, up to this many. */
const MOST_UNKNOWN_FIELDS = 20

function unknownFields(schema: v.GenericSchema, value: object): [string, string][] {
  if (!isStrictObject(schema)) return []
  const known = Object.keys(schema.entries)
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(schema.entries, name))
  return unknown.slice(0, MOST_UNKNOWN_FIELDS).map((name) => {
    if (known.length === 0) return [name.slice(0, 100), 'Unknown field. There are none here.']
    const near = nearestName(name, known)
    return [
      name.slice(0, 100),
      near
        ? `Unknown field. Did you mean ${near}?`
        : `Unknown field. Known are ${known.join(', ')}.`,
    ]
  })
}

/** Query parameters are strings, even where they are parsed into something else. */
function fieldOf(issue: v.BaseIssue<unknown>, part: Parts): string | null {
  return part === 'query' ? String(issue.path?.[0]?.key ?? part) : v.getDotPath(issue)
}

function explain(issue: v.BaseIssue<unknown>, schema: v.GenericSchema): string {
  const [place, deeper] = issue.path ?? []
  const known = isStrictObject(schema) && !deeper && typeof place?.key === 'string'
  return explainIssue(issue, known ? schema.entries[place.key]?.expects : undefined)
}

function isStrictObject(
  schema: v.GenericSchema,
): schema is v.GenericSchema & { entries: Record<string, v.GenericSchema> } {
  return schema.type === 'strict_object' && 'entries' in schema
}

function isObject(value: unknown): value is object {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof LosslessNumber)
  )
}

/** The known name a misspelt one most likely means: at most a third of it differs. */
function nearestName(wrong: string, known: readonly string[]): string | undefined {
  if (wrong.length > 64) return undefined
  const scored = known
    .map((name) => ({
      name,
      distance: editDistance(wrong.toLowerCase().replaceAll(/[_-]/g, ''), name.toLowerCase()),
    }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(name.length / 3)))
    .sort((a, b) => a.distance - b.distance)
  return scored[0]?.name
}

/** Levenshtein distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(
        (next[j - 1] ?? 0) + 1,
        (row[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
      )
    }
    row = next
  }
  return row[b.length] ?? 0
}
