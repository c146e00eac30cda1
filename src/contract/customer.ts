import * as v from 'valibot'
import { walletList } from './address-field.ts'
import { CUSTOMER_SORTS, MOST_CUSTOMERS } from './customer-endpoints.ts'
import { listCursor, wholeNumber } from './fields.ts'

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
