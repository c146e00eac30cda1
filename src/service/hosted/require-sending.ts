import { ProblemError } from '#contract/problem.ts'
import type { Database } from '#postgres/open.ts'
import type { Chain, SenderFunds } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { findKnownSignatures, readKnownNonces } from '../db/attempts.ts'
import type { NonceQueue } from '../db/nonce-queue.ts'
import { readSendingState, readWalletLedger } from '../db/wallet-ledger.ts'
import { reconcile } from '../reconciliation/reconcile.ts'

const RETRY_AFTER_S = 60

/**
 * @throws `SERVICE_UNAVAILABLE` when the chain shows a transaction of this wallet that the service did not sign, until an operator resumes it; after a
 * restore, until the wallet was compared with its chain
 */
export async function requireSending(db: Database, nonceQueue: NonceQueue): Promise<void> {
  const { stoppedAt, affirmed } = await readSendingState(db, nonceQueue)
  if (stoppedAt)
    throw refuse(nonceQueue, {
      message:
        'Sending from this wallet is stopped: what the chain shows of it is not what the service signed. Nothing was sent.',
      details: {
        stoppedAt: stoppedAt.getTime(),
        operator: `Find out who used the key of ${nonceQueue.sender}. To go on: npm run admin -- wallet resume --wallet ${nonceQueue.sender}`,
      },
    })
  if (!affirmed)
    throw refuse(nonceQueue, {
      message:
        'The database was restored from a backup, and this wallet was not yet compared with its chain. Nothing was sent.',
      details: {},
    })
}

/**
 * The chain must not be ahead of the rows: then the rows have lost payments, and the same requests
 * would pay again. EVM: each time, by the nonce that was read anyway. Solana: once per process, by
 * the wallet's signatures since its last snapshot.
 * @throws `SERVICE_UNAVAILABLE`
 */
export async function requireKnownHistory(
  context: Context,
  chain: Chain,
  { sender, funds }: { sender: string; funds: SenderFunds },
): Promise<void> {
  const nonceQueue = { network: chain.network.network, sender }
  const known =
    funds.nonce === null
      ? await onceInProcess(context, chain, nonceQueue)
      : await isNonceCovered(context, nonceQueue, funds.nonce)
  if (known) return
  await requireSending(context.db, nonceQueue)
  await reconcile(context, chain, sender)
  throw refuse(nonceQueue, {
    message:
      'The chain shows transactions of this wallet that the database does not have. Nothing was sent.',
    details: {
      operator: `Has an older backup been restored? Then stop every service and run: npm run admin -- restore. Otherwise find out who used the key of ${sender}.`,
    },
  })
}

async function isNonceCovered(
  { db }: Context,
  nonceQueue: NonceQueue,
  nonce: number,
): Promise<boolean> {
  if (nonce === 0) return true
  const known = await readKnownNonces(db, nonceQueue, { from: nonce - 1, to: nonce })
  if (known.size > 0) return true
  const ledger = await readWalletLedger(db, nonceQueue)
  // Imported wallets have a history before their ledger.
  return !ledger || ledger.nonce === null || ledger.nonce >= nonce
}

const looks = new WeakMap<Context, Map<string, Promise<boolean>>>()

function onceInProcess(context: Context, chain: Chain, nonceQueue: NonceQueue): Promise<boolean> {
  const { network, sender } = nonceQueue
  const mine = looks.get(context) ?? new Map<string, Promise<boolean>>()
  looks.set(context, mine)
  const name = `${network} ${sender}`
  const look = mine.get(name) ?? isHistoryKnown(context, chain, nonceQueue)
  mine.set(name, look)
  // What was not found known is looked at again.
  void look.then(
    (known) => known || mine.delete(name),
    () => mine.delete(name),
  )
  return look
}

async function isHistoryKnown(
  { db }: Context,
  chain: Chain,
  nonceQueue: NonceQueue,
): Promise<boolean> {
  const ledger = await readWalletLedger(db, nonceQueue)
  if (!ledger || ledger.height === null) return true
  const { unknown } = await chain.history(nonceQueue.sender, {
    since: ledger.height,
    knownTo: null,
    isKnown: (signatures) => findKnownSignatures(db, nonceQueue.network, signatures),
  })
  return unknown.length === 0
}

function refuse(
  { network, sender }: NonceQueue,
  { message, details }: { message: string; details: Record<string, unknown> },
): ProblemError {
  return new ProblemError('SERVICE_UNAVAILABLE', {
    message,
    details: { walletAddress: sender, network, ...details },
    retryAfter: RETRY_AFTER_S,
  })
}
