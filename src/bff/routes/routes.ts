import { paymentHistory } from './payment-history.ts'
import { paymentList } from './payment-list.ts'
import { paymentStatus } from './payment-status.ts'
import { paymentSummary } from './payment-summary.ts'
import type { BrowserEndpointName, Rule } from './rule.ts'
import { tokenInfo } from './token-info.ts'
import { transactionSend } from './transaction-send.ts'
import { transactionSubmitted } from './transaction-submitted.ts'

/** One rule for every endpoint that browsers are offered, and for no other: a missing or a superfluous one does not compile. */
export const routes: { readonly [K in BrowserEndpointName]: Rule<K> } = {
  transactionSend,
  transactionSubmitted,
  paymentStatus,
  paymentHistory,
  paymentList,
  paymentSummary,
  tokenInfo,
}
