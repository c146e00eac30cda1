import type { Scope } from '#contract/api-key-body.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Actor, Authenticated } from '../context/context.ts'

/** Why a key may not do what needs this scope: the account's plan does not include it, or the key was not given it. */
export function missingScope(caller: Authenticated, scope: Scope): ProblemError {
  if (caller.beyondPlan.has(scope)) {
    const message = `The plan ${caller.plan} of this account does not include ${scope}.`
    return new ProblemError('FORBIDDEN', { message, details: { scope, plan: caller.plan } })
  }
  return new ProblemError('FORBIDDEN', {
    message: `This API key lacks the scope ${scope}.`,
    details: { scope },
  })
}

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
