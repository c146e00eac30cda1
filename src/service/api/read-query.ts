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
  const several = new Set<string>()
  for (const [name, value] of new URLSearchParams(url.slice(start + 1))) {
    if (isForbiddenKey(name)) throw refuse({ query: `The name "${name}" is not allowed.` })
    if (name in query) several.add(name)
    query[name] = value
  }
  if (several.size > 0)
    throw refuse(
      Object.fromEntries(
        [...several].map((name) => [name.slice(0, 100), 'Expected one value, received several.']),
      ),
    )
  return query
}

function refuse(details: Record<string, string>): ProblemError {
  const message = Object.entries(details)
    .map(([name, problem]) => `${name}: ${problem}`)
    .join(' ')
  return new ProblemError('INVALID_PARAMETERS', { message, details })
}
