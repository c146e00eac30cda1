import type { Plan } from '#contract/api-key.ts'
import { createId } from '#contract/id.ts'
import type { Database } from '#postgres/open.ts'
import { account } from '../db/schema.ts'

/** Opens an account. Its plan is the most that one of its keys may have. */
export async function createAccount(db: Database, input: { name: string; plan: Plan }): Promise<{ id: string }> {
  const id = createId('acc')
  await db.insert(account).values({ id, name: input.name, plan: input.plan })
  return { id }
}
