import { apiKeyCreate } from './api-key-create.ts'
import { apiKeyDelete } from './api-key-delete.ts'
import { apiKeyList } from './api-key-list.ts'
import { apiKeyRotate } from './api-key-rotate.ts'
import { facilitatorVerify } from './facilitator-verify.ts'
import { paymentHistory } from './payment-history.ts'
import { paymentList } from './payment-list.ts'
import { paymentReceive } from './payment-receive.ts'
import { paymentStatus } from './payment-status.ts'
import { paymentSummary } from './payment-summary.ts'
import type { BrowserEndpointName, Rule } from '../session/rule.ts'
import { tokenInfo } from './token-info.ts'
import { transactionReceive } from './transaction-receive.ts'
import { transactionSend } from './transaction-send.ts'
import { transactionSubmitted } from './transaction-submitted.ts'
import {
  undeliveredClose,
  undeliveredList,
  undeliveredReopen,
  unmatchedAssign,
  unmatchedList,
  unmatchedUnassign,
} from './inbox.ts'
import { usage } from './usage.ts'

/** One rule for every endpoint that browsers are offered, and for no other: a missing or a superfluous one does not compile. */
export const routes: { readonly [K in BrowserEndpointName]: Rule<K> } = {
  transactionSend,
  transactionSubmitted,
  transactionReceive,
  paymentReceive,
  facilitatorVerify,
  paymentStatus,
  paymentHistory,
  paymentList,
  paymentSummary,
  unmatchedList,
  unmatchedAssign,
  unmatchedUnassign,
  undeliveredList,
  undeliveredClose,
  undeliveredReopen,
  tokenInfo,
  apiKeyList,
  apiKeyCreate,
  apiKeyRotate,
  apiKeyDelete,
  usage,
}
