import { and, eq, inArray } from 'drizzle-orm'
import { formatAmount } from '#contract/amount.ts'
import { nativeAsset } from '#contract/network.ts'
import type { Chain } from '../chains/chain.ts'
import type { Context } from '../context/context.ts'
import { readEpoch } from '../db/deployment.ts'
import type { NonceQueue } from '../db/nonce-queue.ts'
import { payment } from '../db/schema/payment.ts'
import {
  openWalletLedger,
  readWalletLedger,
  stopWallet,
  writeSnapshot,
  type LedgerRecord,
  type LedgerSnapshot,
} from '../db/wallet-ledger.ts'
import { readOutflows } from './outflows.ts'

type Verdict = 'equal' | 'later' | 'stopped'

const MAX_PAUSE_MS = 2_000

type Look =
  | { verdict: 'equal'; books: LedgerRecord | undefined; page: LedgerSnapshot }
  | { verdict: 'later' }
  | { verdict: 'stopped' }
  | { verdict: 'differs'; found: string }

/**
 * Compares the ledger of a managed wallet with the chain, to the base unit: the last balance, less
 * what the service signed, is what it holds. A surplus was received and is entered. A deficit, or a
 * signature that is not the service's, stops the wallet: somebody has its key. It is checked twice
 * first.
 */
export async function reconcile(context: Context, chain: Chain, address: string): Promise<Verdict> {
  const nonceQueue = { network: chain.network.network, sender: address }
  let seen = await look(context, chain, nonceQueue)
  if (seen.verdict === 'differs') {
    await new Promise((resolve) =>
      setTimeout(resolve, Math.min(chain.network.blockTimeMs, MAX_PAUSE_MS)),
    )
    seen = await look(context, chain, nonceQueue)
  }
  if (seen.verdict === 'differs') {
    if (await stopWallet(context.db, nonceQueue, seen.found))
      context.log.error({ ...nonceQueue, found: seen.found }, 'sending from a wallet is stopped')
    return 'stopped'
  }
  if (seen.verdict === 'equal')
    await (seen.books
      ? writeSnapshot(context.db, seen.books, seen.page)
      : openWalletLedger(context.db, nonceQueue, seen.page))
  return seen.verdict
}

async function look(context: Context, chain: Chain, nonceQueue: NonceQueue): Promise<Look> {
  const books = await readWalletLedger(context.db, nonceQueue)
  if (books?.stoppedAt) return { verdict: 'stopped' }
  // A ledger that began after a restore would take what was lost for what was always there.
  if ((books?.affirmedEpoch ?? 0) < (await readEpoch(context.db))) return { verdict: 'later' }
  const quiet = await isQuiet(context, nonceQueue)
  const audit = await chain.audit(nonceQueue.sender, books?.height ?? null)
  if (!audit || (!audit.exact && !(quiet && (await isQuiet(context, nonceQueue)))))
    return { verdict: 'later' }
  const { height, blockHash, balanceAtomic: balance, nonce } = audit
  if (!books || books.height === null || books.balance === null)
    return {
      verdict: 'equal',
      books: undefined,
      page: { height, blockHash, balance, nonce, received: balance },
    }
  // The node is behind.
  if (height <= books.height) return { verdict: 'later' }

  const spent = await readOutflows(context, chain, { nonceQueue, nonce: books.nonce, audit })
  if (spent.state === 'later') return { verdict: 'later' }
  if (spent.state === 'foreign') return { verdict: 'differs', found: spent.found }
  const received = balance - books.balance + spent.atomic
  if (received >= 0n)
    return {
      verdict: 'equal',
      books,
      page: { height, blockHash, balance, nonce, received: books.received + received },
    }
  const { symbol, decimals } = nativeAsset(chain.network)
  return {
    verdict: 'differs',
    found: `${formatAmount(-received, decimals)} ${symbol} left the wallet between ${books.height} and ${height} without a signature of the service.`,
  }
}

const UNDER_WAY = ['created', 'pending', 'confirmed', 'rolled_back'] as const

async function isQuiet({ db }: Context, { network, sender }: NonceQueue): Promise<boolean> {
  const underWay = and(
    eq(payment.mode, 'hosted'),
    eq(payment.network, network),
    eq(payment.sender, sender),
    inArray(payment.status, [...UNDER_WAY]),
  )
  return (await db.$count(payment, underWay)) === 0
}
