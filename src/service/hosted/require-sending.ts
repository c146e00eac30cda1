import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import type { NonceQueue } from '../db/nonce-queue.ts'
import { readWalletLedger } from '../db/wallet-ledger.ts'

const RETRY_AFTER_S = 60

/** @throws `SERVICE_UNAVAILABLE` when the chain shows something of this wallet that nobody signed here, until an operator lets it send again */
export async function requireSending(db: Database, nonceQueue: NonceQueue): Promise<void> {
  const books = await readWalletLedger(db, nonceQueue)
  if (!books?.stoppedAt) return
  throw new ProblemError('SERVICE_UNAVAILABLE', {
    message:
      'Sending from this wallet is stopped: what the chain shows of it is not what the service signed. Nothing was sent.',
    details: {
      walletAddress: nonceQueue.sender,
      network: nonceQueue.network,
      stoppedAt: books.stoppedAt.getTime(),
      operator: `Find out who used the key of ${nonceQueue.sender}. To go on: npm run admin -- wallet resume --wallet ${nonceQueue.sender}`,
    },
    retryAfter: RETRY_AFTER_S,
  })
}
