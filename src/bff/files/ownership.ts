import { isPaid, refundableOf } from '#contract/payment.ts'
import type { EndpointResponse } from '#contract/endpoints.ts'
import { findAsset } from '#contract/network.ts'
import type { ProxyContext } from '../context/context.ts'
import { findPurchases, sessionPurchases, type FileRow } from '../db/files.ts'
import { spender } from '../session/rule.ts'
import type { Visitor } from '../session/visitor.ts'
import { ForwardedError } from '../upstream/problem.ts'
import { priceWays, urlOf } from './offers.ts'

const MOST_WALLETS = 20
/** Payments of one session for one file that are looked at. */
const MOST_TRIES = 5

/** A payment, in its row of a list and in its status body. */
type Payment = Pick<
  EndpointResponse<'paymentStatus'>,
  | 'paymentId'
  | 'status'
  | 'network'
  | 'asset'
  | 'amountAtomic'
  | 'sender'
  | 'recipient'
  | 'resource'
  | 'refund'
  | 'mode'
>

/** Whether the merchant has money of it that is not on its way back: the service grants a payment by the same rule. */
export function isSettled(payment: Payment): boolean {
  return isPaid(payment.status) && refundableOf(payment) > 0n
}

/**
 * Whether a payment buys a file: paid, not refunded in full nor about to be, to the merchant, for its address, and
 * at least its price. Payers may name any resource, so the price is compared too.
 */
export function buys(context: ProxyContext, file: FileRow, payment: Payment): boolean {
  return (
    isSettled(payment) &&
    payment.resource === urlOf(context, file.code) &&
    context.config.sellerWallets.includes(payment.recipient) &&
    file.prices.some((price) =>
      priceWays(context.config, price).some(
        ({ network, asset, amountAtomic }) =>
          network.network === payment.network &&
          findAsset(network, payment.asset) === asset &&
          BigInt(payment.amountAtomic) >= amountAtomic,
      ),
    )
  )
}

export type FileRequest = { context: ProxyContext; visitor: Visitor; requestId: string }

/**
 * The payment by which a session has a file: one that it made itself, or one of a wallet that it
 * proved. The service's ledger decides, now.
 */
export async function findOwnPayment(
  request: FileRequest,
  file: FileRow,
): Promise<Payment | undefined> {
  const { context, visitor, requestId } = request
  const { session } = visitor
  if (!session) return undefined
  const wallets = session.wallets.slice(0, MOST_WALLETS)
  if (wallets.length > 0) {
    const query = {
      wallets: wallets.join(','),
      status: 'confirmed,finalized',
      q: urlOf(context, file.code),
      limit: '100',
    }
    const { parsed } = await context.upstream.read('paymentList', { query, requestId }, () =>
      context.budgets.spend(spender(visitor), 'tail'),
    )
    const own = parsed.payments.find(
      (payment) => wallets.includes(payment.sender) && buys(context, file, payment),
    )
    if (own) return own
  }
  const links = file.prices.map(({ linkId }) => linkId)
  const made = await sessionPurchases(context.db, session.id, links)
  const bought = await findPurchases(context.db, file.id, { wallets, paymentIds: made })
  for (const paymentId of [...new Set([...bought, ...made])].slice(0, MOST_TRIES)) {
    const payment = await readStatus(request, paymentId)
    if (!payment) continue
    // What bought it once still does, whichever wallets and networks the merchant has by now.
    if (bought.includes(paymentId) ? isSettled(payment) : buys(context, file, payment))
      return payment
  }
  return undefined
}

/** Undefined for a payment that the service does not know. */
export async function readStatus(
  { context, visitor, requestId }: FileRequest,
  paymentId: string,
): Promise<Payment | undefined> {
  try {
    const request = { params: { paymentId }, requestId }
    const { parsed } = await context.upstream.read('paymentStatus', request, () =>
      context.budgets.spend(spender(visitor), 'tail'),
    )
    return parsed
  } catch (error) {
    if (error instanceof ForwardedError && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}
