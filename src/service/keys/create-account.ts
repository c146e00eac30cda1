import type { Plan, Scope } from '#contract/api-key.ts'
import { createId } from '#contract/id.ts'
import type { Database } from '#postgres/open.ts'
import { account } from '../db/schema/access.ts'

/** Opens an account. Its plan is the most that one of its keys may have, and so are `scopes` where they are given. */
export async function createAccount(
  db: Database,
  input: { name: string; plan: Plan; scopes?: Scope[] | null },
): Promise<{ id: string }> {
  const id = createId('acc')
  await db.insert(account).values({ id, name: input.name, plan: input.plan, scopes: input.scopes })
  return { id }
}
