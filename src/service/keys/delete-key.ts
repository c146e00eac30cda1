import { ProblemError } from '#contract/problem.ts'
import type { EndpointReply } from '#contract/endpoints.ts'
import type { Actor, Context } from '../context/context.ts'
import { readKey } from './read-keys.ts'
import { revokeKey } from './revoke-key.ts'

/**
 * Ends a key of the account on behalf of another one. Deleting twice is no error.
 * @throws `FORBIDDEN` for the asking key itself, `NOT_FOUND`
 */
export async function deleteKey(
  context: Context,
  actor: Actor,
  id: string,
): Promise<EndpointReply<'apiKeyDelete'>> {
  if (id === actor.keyId) {
    throw new ProblemError('FORBIDDEN', {
      message: 'A key cannot delete itself. Delete it with another key, or rotate it.',
      details: { id },
    })
  }
  await readKey(context, actor, id)
  await revokeKey(context.db, id, context.now())
  return { success: true, ...(await readKey(context, actor, id)) }
}
