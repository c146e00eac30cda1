import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import type { Lane } from '../db/lanes.ts'
import { readBooks } from '../db/wallet-books.ts'

const RETRY_AFTER_S = 60

/** @throws `SERVICE_UNAVAILABLE` when the chain shows something of this wallet that nobody signed here, until an operator lets it send again */
export async function requireSending(db: Database, lane: Lane): Promise<void> {
  const books = await readBooks(db, lane)
  if (!books?.stoppedAt) return
  throw new ProblemError('SERVICE_UNAVAILABLE', {
    message:
      'Sending from this wallet is stopped: what the chain shows of it is not what the service signed. Nothing was sent.',
    details: {
      walletAddress: lane.sender,
      network: lane.network,
      stoppedAt: books.stoppedAt.getTime(),
      operator: `Find out who used the key of ${lane.sender}. To go on: npm run admin -- wallet resume --wallet ${lane.sender}`,
    },
    retryAfter: RETRY_AFTER_S,
  })
}
