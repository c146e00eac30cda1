import { apiKeyCreate } from './api-key-create.ts'
import { apiKeyDelete } from './api-key-delete.ts'
import { apiKeyList } from './api-key-list.ts'
import { apiKeyRotate } from './api-key-rotate.ts'
import { facilitatorSupported } from './facilitator-supported.ts'
import { facilitatorVerify } from './facilitator-verify.ts'
import { facilitatorSettle } from './facilitator-settle.ts'
import type { Routes } from './handler.ts'
import { payoutChallenge } from './payout-challenge.ts'
import { payoutList } from './payout-list.ts'
import { payoutRegister } from './payout-register.ts'
import { payoutRelease } from './payout-release.ts'
import { paymentHistory } from './payment-history.ts'
import { paymentList } from './payment-list.ts'
import { paymentReceive } from './payment-receive.ts'
import { paymentRefund } from './payment-refund.ts'
import { paymentSend } from './payment-send.ts'
import { paymentStatus } from './payment-status.ts'
import { paymentSummary } from './payment-summary.ts'
import { tokenInfo } from './token-info.ts'
import { transactionReceive } from './transaction-receive.ts'
import { transactionRefund } from './transaction-refund.ts'
import { transactionSend } from './transaction-send.ts'
import { transactionSubmitted } from './transaction-submitted.ts'
import { undeliveredClose } from './undelivered-close.ts'
import { undeliveredList } from './undelivered-list.ts'
import { undeliveredReopen } from './undelivered-reopen.ts'
import { unmatchedAssign } from './unmatched-assign.ts'
import { unmatchedList } from './unmatched-list.ts'
import { unmatchedUnassign } from './unmatched-unassign.ts'
import { walletCreate } from './wallet-create.ts'
import { walletList } from './wallet-list.ts'
import { usage } from './usage.ts'

/** Every endpoint of the table and what answers it. */
export const routes: Routes = {
  transactionSend,
  transactionReceive,
  transactionSubmitted,
  paymentReceive,
  facilitatorSupported,
  facilitatorVerify,
  facilitatorSettle,
  paymentStatus,
  paymentHistory,
  paymentList,
  paymentSummary,
  tokenInfo,
  apiKeyList,
  apiKeyCreate,
  apiKeyRotate,
  apiKeyDelete,
  usage,
  paymentSend,
  paymentRefund,
  transactionRefund,
  unmatchedList,
  unmatchedAssign,
  unmatchedUnassign,
  undeliveredList,
  undeliveredClose,
  undeliveredReopen,
  walletCreate,
  walletList,
  payoutList,
  payoutChallenge,
  payoutRegister,
  payoutRelease,
}
