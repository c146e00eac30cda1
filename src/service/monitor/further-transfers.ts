import type { Chain } from '../chains/chain.ts'
import { inParallel } from '../chains/endpoints.ts'
import type { Context } from '../context/context.ts'
import {
  findEndedNamed,
  readEndedPayees,
  type EndedNamed,
  type EndedPayee,
  type EndedRange,
} from '../db/ended-orders.ts'
import { noteUnmatched } from '../payments/unmatched.ts'

const PARALLEL_PAYEES = 4
const PARALLEL_TRANSACTIONS = 8
/** After so many payees in a row the others wait for the next look: the chain is down. Some are under way at once. */
const MAX_FAILED_IN_A_ROW = 8
/** How many transactions that are no money are remembered of a chain: anybody may write an order's name into many. */
const MAX_OTHERS = 20_000

/** Transactions that name an order which has ended, and are no further payment of it. What is in a transaction never changes. */
const others = new WeakMap<Chain, Set<string>>()

type Monitored = { context: Context; chain: Chain }

/**
 * Looks for further transfers to the payees of orders that ended in this time, by the memos that name an order: one search a payee, however many orders it has.
 * Nothing else would look for them, as the orders are awaited no more. What is found is listed as unmatched money.
 * @returns what went wrong with single payees and transactions; they are looked at again with the next look
 */
export async function checkFurtherTransfers(
  { context, chain }: Monitored,
  range: EndedRange,
  signal: AbortSignal | undefined,
): Promise<unknown[]> {
  const failures: unknown[] = []
  let failedInARow = 0
  const orFail = (work: Promise<void>) => work.catch((error: unknown) => void failures.push(error))

  async function checkPayee(payee: EndedPayee): Promise<void> {
    if (signal?.aborted || failedInARow >= MAX_FAILED_IN_A_ROW) return
    const known = others.get(chain)
    failedInARow++
    const found = await chain.findNamed(payee, payee.builtHeight)
    failedInARow = 0
    const fresh = found.filter(({ signature }) => !known?.has(signature))
    const named = await findEndedNamed(context.db, chain.network.network, fresh)
    await inParallel(named, PARALLEL_TRANSACTIONS, (each) => orFail(note(each)))
  }

  async function note({ signature, order }: EndedNamed): Promise<void> {
    if (signal?.aborted) return
    const noted = await noteUnmatched(context, chain, {
      signature,
      accountIds: [order.accountId],
      order,
    })
    if (noted === 'none') rememberOther(chain, signature)
  }

  await orFail(
    readEndedPayees(context.db, range).then(async (payees) => {
      await inParallel(payees, PARALLEL_PAYEES, (payee) => orFail(checkPayee(payee)))
    }),
  )
  return failures
}

function rememberOther(chain: Chain, signature: string): void {
  const known = others.get(chain) ?? new Set()
  others.set(chain, known.add(signature))
  const [oldest] = known
  if (oldest !== undefined && known.size > MAX_OTHERS) known.delete(oldest)
}
