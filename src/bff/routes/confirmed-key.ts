import type { ApiKeyRow } from '#contract/api-key-body.ts'
import { CONFIRM_HEADER } from '#contract/dashboard-endpoints.ts'
import type { EndpointName } from '#contract/endpoints.ts'
import { ProblemError } from '#contract/problem.ts'
import { notFound, onward, requireOperator, spender } from '../session/rule.ts'
import type { ProxyCall } from '../session/rule.ts'

/** @throws ProblemError `INVALID_PARAMETERS` unless the typed name matches exactly */
export function requireConfirmation(typed: string | undefined, name: string): void {
  if (typed === name) return
  throw new ProblemError('INVALID_PARAMETERS', {
    message: 'Type the name of the key to confirm.',
    details: { [CONFIRM_HEADER]: 'Expected the name of the key.' },
  })
}

/**
 * Reads the key again before it is ended or replaced: the page's list may be old, and a click may
 * have hit another row.
 * @throws ProblemError `NOT_FOUND`, `INVALID_PARAMETERS`, `FORBIDDEN` for the proxy's own key,
 * which it needs to run
 */
export async function readConfirmedKey<K extends EndpointName>(
  call: ProxyCall<K>,
  id: string,
): Promise<ApiKeyRow> {
  const { context, visitor } = call
  requireOperator(visitor)
  const { requestId } = onward(call)
  const { parsed } = await context.upstream.read('apiKeyList', { requestId }, () =>
    context.budgets.spend(spender(visitor), 'action'),
  )
  const key = parsed.keys.find((each) => each.id === id)
  if (!key) throw notFound()
  if (key.hint === '') {
    const message =
      'The dashboard itself uses this key. Create another one, set SERVICE_API_KEY to it, and then delete this one.'
    throw new ProblemError('FORBIDDEN', { message, details: { reason: 'own_key' } })
  }
  requireConfirmation(call.confirmation, key.name)
  return key
}
