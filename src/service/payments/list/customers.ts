import { parseAddress } from '#contract/address.ts'
import { MOST_CUSTOMERS, type Customer, type CustomerSort } from '#contract/customer-endpoints.ts'
import type { EndpointInput, EndpointReply } from '#contract/endpoints.ts'
import type { Database } from '#postgres/open.ts'
import type { Actor, Context } from '../../context/context.ts'
import { refuseParameters } from '../../context/network.ts'
import {
  findCustomers,
  findCustomersFrom,
  readCustomerTotals,
  type CustomerPosition,
} from '../../db/customers.ts'
import { LAST_MOMENT } from './filters.ts'

type Query = EndpointInput<'customerList'>['query']

/**
 * A page of the customers, or those that a search and a list of wallets find. Figures are exact and of
 * one snapshot. The order is that of the last folding, a second ago: a customer who pays while
 * somebody reads on may be on two pages.
 */
export async function readCustomers(
  { db }: Context,
  { accountId }: Actor,
  query: Query,
): Promise<EndpointReply<'customerList'>> {
  const { limit, sort } = query
  const after = query.cursor === undefined ? undefined : readCursor(sort, query.cursor)
  return db.transaction(
    async (tx) => {
      if (query.q !== undefined || query.wallets !== undefined) {
        if (after) throw refuseParameters({ cursor: 'Expected no cursor beside q or wallets.' })
        const found =
          query.q === undefined
            ? []
            : await findCustomersFrom(tx, accountId, { start: query.q, limit: MOST_CUSTOMERS })
        // Whose first payment is not folded yet is found by the whole address.
        const wallets = [...new Set([...(query.wallets ?? []), ...found])].slice(0, MOST_CUSTOMERS)
        return page(await describeCustomers(tx, accountId, wallets), null)
      }
      const rows = await findCustomers(tx, accountId, { sort, after, limit: limit + 1 })
      const shown = rows.slice(0, limit)
      const last = shown.at(-1)
      const customers = await describeCustomers(
        tx,
        accountId,
        shown.map(({ wallet }) => wallet),
      )
      return page(customers, rows.length > limit && last ? writeCursor(sort, last) : null)
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  )
}

function page(customers: Customer[], nextCursor: string | null): EndpointReply<'customerList'> {
  return { success: true, nextCursor, customers }
}

/** In the order of the wallets; those that never paid, or were all rolled back, are left out. */
async function describeCustomers(
  tx: Database,
  accountId: string,
  wallets: readonly string[],
): Promise<Customer[]> {
  const totals = Map.groupBy(
    await readCustomerTotals(tx, accountId, wallets),
    ({ wallet }) => wallet,
  )
  return wallets.flatMap((walletAddress) => {
    const own = totals.get(walletAddress) ?? []
    const [first] = own
    if (!first || first.firstAt === null || first.lastAt === null) return []
    return {
      walletAddress,
      payments: own.reduce((sum, { payments }) => sum + payments, 0),
      firstAt: first.firstAt,
      lastAt: first.lastAt,
      totals: own.map(({ network, asset, symbol, decimals, payments, refunds, ...amounts }) => ({
        network,
        asset,
        symbol,
        decimals,
        payments,
        receivedAtomic: amounts.received,
        refunds,
        refundedAtomic: amounts.refunded,
      })),
    }
  })
}

function writeCursor(sort: CustomerSort, { value, wallet }: CustomerPosition): string {
  return Buffer.from(`${sort}.${value}.${wallet}`).toString('base64url')
}

/** @throws `INVALID_PARAMETERS` when it is none of ours, or of another order */
function readCursor(sort: CustomerSort, text: string): CustomerPosition {
  const match = /^([a-z]+)\.([0-9]{1,15})\.(.+)$/.exec(
    Buffer.from(text, 'base64url').toString('utf8'),
  )
  const [, order, value = '', wallet = ''] = match ?? []
  if (order !== sort || Number(value) > LAST_MOMENT || !parseAddress(wallet).ok) {
    throw refuseParameters({
      cursor: 'Expected nextCursor of an answer before, with the same sort.',
    })
  }
  return { value: Number(value), wallet }
}
