import type { Scope } from '#contract/api-key.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Actor } from '../context/context.ts'

/**
 * A key hands out nothing that it does not have itself.
 * @throws `FORBIDDEN` that names the missing scopes
 */
export function requireGrant(actor: Actor, scopes: readonly Scope[]): void {
  const missing = scopes.filter((scope) => !actor.scopes.has(scope))
  if (missing.length === 0) return
  throw new ProblemError('FORBIDDEN', {
    message: `A key cannot grant a scope it lacks: ${missing.join(', ')}.`,
    details: { scopes: missing },
  })
}
