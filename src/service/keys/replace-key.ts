import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import type { Actor, Context } from '../context/context.ts'
import { readKey } from './read-keys.ts'
import { requireGrant } from './require-grant.ts'
import { rotateKey } from './rotate-key.ts'

/**
 * Rotates a key of the account on behalf of a key, which may be the same one. The answer shows a key with the scopes of the old one,
 * so it takes a key that has them all.
 * @throws `NOT_FOUND`, `FORBIDDEN`, `INVALID_PARAMETERS`
 */
export async function replaceKey(
  context: Context,
  actor: Actor,
  input: EndpointInput<'apiKeyRotate'>,
): Promise<EndpointReply<'apiKeyRotate'>> {
  const { id } = input.params
  requireGrant(actor, (await readKey(context, actor, id)).scopes)
  const rotation = { id, graceSeconds: input.body.graceSeconds, now: context.now() }
  const made = await context.db.transaction((tx) => rotateKey(tx, rotation))
  return {
    success: true,
    key: made.key,
    ...(await readKey(context, actor, made.id)),
    graceEndsAt: made.graceEndsAt.getTime(),
  }
}
