import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Actor, Context } from '../context/context.ts'
import { createKey } from './create-key.ts'
import { readKey } from './read-keys.ts'
import { requireGrant } from './require-grant.ts'

/**
 * Makes a key on behalf of another one, which cannot give away more than it has.
 * @throws `FORBIDDEN` for a scope that the actor lacks or a plan above the account's, `INVALID_PARAMETERS` for an expiry that is past
 */
export async function grantKey(
  context: Context,
  actor: Actor,
  input: EndpointInput<'apiKeyCreate'>['body'],
): Promise<EndpointReply<'apiKeyCreate'>> {
  requireGrant(actor, input.scopes)
  const { expiresAt, ...rest } = input
  if (expiresAt !== undefined && expiresAt <= context.now().getTime()) {
    throw new ProblemError('INVALID_PARAMETERS', {
      details: { expiresAt: 'Expected a time to come, in Unix milliseconds.' },
    })
  }
  const expiry = expiresAt === undefined ? undefined : new Date(expiresAt)
  const { id, key } = await createKey(context.db, {
    accountId: actor.accountId,
    ...rest,
    expiresAt: expiry,
    now: context.now(),
  })
  return { success: true, key, ...(await readKey(context, actor, id)) }
}
