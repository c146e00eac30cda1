import { eq } from 'drizzle-orm'
import type { Context } from '../context/context.ts'
import { account } from '../db/schema/access.ts'

/**
 * The context in which an account has payments verified: by its own list of facilitators if it has
 * one, otherwise by the operator's.
 */
export async function withOwnFacilitators(context: Context, accountId: string): Promise<Context> {
  const [row] = await context.db
    .select({ facilitators: account.facilitators })
    .from(account)
    .where(eq(account.id, accountId))
  if (!row?.facilitators) return context
  const policy = context.config.facilitators ?? { allowed: [], loopback: false }
  return {
    ...context,
    config: { ...context.config, facilitators: { ...policy, allowed: row.facilitators } },
  }
}
