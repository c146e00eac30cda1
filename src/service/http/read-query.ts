import { isForbiddenKey } from '#contract/json.ts'
import { ProblemError } from '#contract/problem.ts'

/**
 * A query string as an object. A parameter that stands twice is refused: two readers could each believe another one of them.
 * A name that reaches a prototype is too: no schema would see it.
 * @throws `INVALID_PARAMETERS`
 */
export function readQuery(url: string): Record<string, string> {
  const start = url.indexOf('?')
  if (start === -1) return {}
  const query: Record<string, string> = Object.create(null)
  const details: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(url.slice(start + 1))) {
    if (isForbiddenKey(name)) throw new ProblemError('INVALID_PARAMETERS', { details: { query: `The name "${name}" is not allowed.` } })
    if (name in query) details[name] = 'Expected one value, received several.'
    query[name] = value
  }
  if (Object.keys(details).length > 0) throw new ProblemError('INVALID_PARAMETERS', { details })
  return query
}
