import * as v from 'valibot'
import { detailKey } from '#contract/explain-issue.ts'
import { isForbiddenKey } from '#contract/json.ts'
import { ProblemError } from '#contract/problem.ts'

type Part = 'params' | 'query' | 'body'

/** What an endpoint takes, by part. */
export type InputSchemas = Partial<Record<Part, v.GenericSchema>>

/** The parts of a request as they came, before parsing. */
export type RawInput = {
  params: Record<string, string>
  query: Record<string, string>
  body: unknown
}

/**
 * Parses every part of a request, or tells all that is wrong at once, field by field.
 * @throws ProblemError `INVALID_PARAMETERS`
 */
export function parseInput(schemas: InputSchemas, raw: RawInput): Record<Part, unknown> {
  // Without a prototype: a field named toString is as unknown as any other.
  const details: Record<string, string> = Object.create(null) as Record<string, string>
  const read = (part: Part): unknown => {
    const schema = schemas[part]
    if (!schema) return undefined
    const result = v.safeParse(schema, raw[part])
    if (result.success) return result.output
    for (const issue of result.issues)
      details[detailKey(v.getDotPath(issue) ?? part, part)] ??= unknownField(issue) ?? issue.message
    return undefined
  }
  const input = { params: read('params'), query: read('query'), body: read('body') }
  requireNoProblems(details)
  return input
}

/** @throws ProblemError `INVALID_PARAMETERS` with all that is wrong, by field */
export function requireNoProblems(details: Record<string, string>): void {
  const [first] = Object.entries(details)
  if (first)
    throw new ProblemError('INVALID_PARAMETERS', { message: `${first[0]}: ${first[1]}`, details })
}

function unknownField(issue: v.BaseIssue<unknown>): string | undefined {
  return issue.type === 'strict_object' && issue.expected === 'never'
    ? 'This field is not known here.'
    : undefined
}

/** @throws ProblemError when a name stands twice, since two readers could take different ones, or reaches a prototype, where no schema sees it */
export function readQuery(url: URL): Record<string, string> {
  const query: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [name, value] of url.searchParams) {
    if (isForbiddenKey(name))
      throw new ProblemError('INVALID_PARAMETERS', {
        details: { query: `The name "${name}" is not allowed.` },
      })
    if (name in query)
      throw new ProblemError('INVALID_PARAMETERS', { details: { [name]: 'Expected it once.' } })
    query[name] = value
  }
  return query
}
