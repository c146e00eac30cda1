import * as v from 'valibot'
import { walletList, atomic, timestamp, listCursor, wholeNumber } from './fields.ts'
import type { Call } from './endpoint.ts'

/**
 * Customers: addresses that paid a wallet of the account and are none of its wallets. What they paid
 * is in the service's ledger; who they are only the proxy knows.
 */

export const CUSTOMER_SORTS = ['last', 'first', 'payments'] as const
export type CustomerSort = (typeof CUSTOMER_SORTS)[number]

/** At most so many wallets are asked for, and found by a search. */
export const MOST_CUSTOMERS = 50

/** Confirmed and finalized payments alone. Amounts of different assets are never added up. */
export const CustomerTotal = v.object({
  network: v.string(),
  asset: v.string(),
  symbol: v.string(),
  decimals: v.number(),
  payments: v.number(),
  /** Before refunds. */
  receivedAtomic: atomic,
  refunds: v.number(),
  refundedAtomic: atomic,
})
export type CustomerTotal = v.InferOutput<typeof CustomerTotal>

/** An EVM address is one customer on all chains. */
export const Customer = v.object({
  walletAddress: v.string(),
  payments: v.number(),
  /** When the first and the last of these payments were created. */
  firstAt: timestamp,
  lastAt: timestamp,
  totals: v.array(CustomerTotal),
})
export type Customer = v.InferOutput<typeof Customer>

/** Personal data, written by people of the account. */
export const CustomerProfile = v.object({
  walletAddress: v.string(),
  /** Empty for none, as the note. */
  name: v.string(),
  labels: v.array(v.string()),
  note: v.string(),
  /** Null for none, and for viewers. */
  email: v.nullable(v.string()),
  updatedAt: timestamp,
})
export type CustomerProfile = v.InferOutput<typeof CustomerProfile>

const Profiles = v.object({ profiles: v.array(CustomerProfile) })

/** Everything personal that the proxy has of one wallet. */
export const CustomerExport = v.object({
  walletAddress: v.string(),
  exportedAt: timestamp,
  profile: v.nullable(CustomerProfile),
  /** E-mail addresses that were typed with payments of this wallet. Nobody has verified them. */
  checkouts: v.array(v.object({ paymentId: v.string(), email: v.string(), createdAt: timestamp })),
  /** Invoices that this wallet paid, or whose customer has the e-mail address of the profile, with what is personal on them. */
  invoices: v.array(
    v.object({
      id: v.string(),
      /** Null: a draft. */
      number: v.nullable(v.string()),
      issuedOn: v.nullable(v.string()),
      currency: v.string(),
      total: v.string(),
      name: v.nullable(v.string()),
      email: v.nullable(v.string()),
      address: v.nullable(v.string()),
      note: v.nullable(v.string()),
    }),
  ),
})
export type CustomerExport = v.InferOutput<typeof CustomerExport>

/** The service's. */
export const customerEndpoints = {
  customerList: {
    method: 'GET',
    path: '/customers',
    response: v.object({
      success: v.literal(true),
      nextCursor: v.nullable(v.string()),
      customers: v.array(Customer),
    }),
  },
} as const satisfies Record<string, Call>

/** The proxy's. */
export const profileEndpoints = {
  /** Those there are of these wallets; in a body, since so many addresses are too long for a URL. */
  profileRead: { method: 'POST', path: '/customers/profiles/read', response: Profiles },
  /** By name, label, and for operators e-mail: at most 50. */
  profileFind: { method: 'POST', path: '/customers/profiles/find', response: Profiles },
  /** Changes what is named and leaves the rest as it is. */
  profileWrite: {
    method: 'POST',
    path: '/customers/profiles',
    response: v.object({ profile: CustomerProfile }),
  },
  profileExport: {
    method: 'POST',
    path: '/customers/profiles/export',
    response: CustomerExport,
  },
  /**
   * Deletes the profile, the e-mail addresses typed with the wallet's payments, the customers of its
   * invoices, and the notes of drafts. The ledger stays, and so does all else of an issued invoice.
   */
  profileDelete: {
    method: 'POST',
    path: '/customers/profiles/delete',
    response: v.object({ deleted: v.literal(true) }),
  },
} as const satisfies Record<string, Call>

/** What only servers read of the calls of customer-endpoints.ts. */
export const customerRows = {
  /** Addition: who paid the account. */
  customerList: {
    summary: 'The addresses that paid the account, with what each paid and got back per asset',
    scope: 'payment:read',
    audience: 'browser',
    /**
     * Ordered by `sort`, the highest first, without `q` and `wallets`. `q`: the start of an address;
     * `wallets`: up to 50 addresses with commas; with both, all that either finds.
     */
    query: v.strictObject({
      limit: v.optional(wholeNumber(1, 500), '50'),
      sort: v.optional(v.picklist(CUSTOMER_SORTS), 'last'),
      cursor: v.optional(listCursor),
      q: v.optional(
        v.pipe(
          v.string(),
          v.regex(/^[0-9A-Za-z]{1,64}$/, 'Expected the start of an address, 1 to 64 characters.'),
        ),
      ),
      wallets: v.optional(walletList(MOST_CUSTOMERS)),
    }),
    problems: [],
  },
} as const
