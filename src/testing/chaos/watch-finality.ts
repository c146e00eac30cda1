import { eq } from 'drizzle-orm'
import { familyOf } from '#contract/network.ts'
import { payment } from '#service/db/schema/payment.ts'
import { pause } from './command.ts'
import type { FaultHarness } from './fault-harness.ts'

const POLL_MS = 200

export type FinalityWatch = {
  /** Payments that were `finalized` while their transaction was in no final block. */
  early: string[]
  seen: Set<string>
  end: () => Promise<void>
}

/**
 * Compares, while payments are made, each one that is called final with the chain. Afterwards it is too late: every block becomes final, and a
 * transaction that a reorganization lost is often mined again.
 */
export function watchFinality(harness: FaultHarness): FinalityWatch {
  const early: string[] = []
  const seen = new Set<string>()
  let over = false
  const watching = (async () => {
    while (!over) {
      // The database may be away.
      await lookOnce(harness, { early, seen }).catch(() => {})
      await pause(POLL_MS)
    }
  })()
  return {
    early,
    seen,
    async end() {
      over = true
      await watching
    },
  }
}

async function lookOnce(
  { db, finalizedHeight }: FaultHarness,
  { early, seen }: Pick<FinalityWatch, 'early' | 'seen'>,
): Promise<void> {
  const rows = await db
    .select({ id: payment.id, network: payment.network, height: payment.blockHeight })
    .from(payment)
    .where(eq(payment.status, 'finalized'))
  for (const { id, network, height } of rows) {
    if (seen.has(id)) continue
    const family = familyOf(network)
    // Read twice: while the node replaces blocks, its chain is shorter for a moment.
    const first = await finalizedHeight(family)
    if ((height ?? Infinity) > first) {
      await pause(POLL_MS)
      if ((height ?? Infinity) > (await finalizedHeight(family))) early.push(id)
    }
    seen.add(id)
  }
}
