import { sendPayment } from '../hosted/send.ts'
import { deleteKey, grantKey, replaceKey, readKeys } from '../keys/manage-keys.ts'
import { reportSubmitted } from '../monitor/report.ts'
import { buildTransaction } from '../payments/build.ts'
import { readCustomers } from '../payments/list/customers.ts'
import { readHistory, readList } from '../payments/list/history.ts'
import { readSummary } from '../payments/list/summary.ts'
import { readStatus, readStatuses } from '../payments/status.ts'
import { readTokenInfo } from '../payments/token-info.ts'
import { decideUndelivered, readUndelivered } from '../payments/undelivered.ts'
import { assignUnmatched, unassignUnmatched } from '../payments/unmatched-assign.ts'
import { readUnmatched } from '../payments/unmatched.ts'
import { buildRefund, refundPayment, releaseRefund } from '../refunds/refund.ts'
import {
  createRefundRequest,
  decideRefundRequest,
  listRefundRequests,
  readRequestsOf,
} from '../refunds/refund-requests.ts'
import { describeSupported, settlePayment, verifyPayment } from '../settlement/facilitator.ts'
import { receivePayment } from '../settlement/receive.ts'
import { buildSettlement } from '../settlement/self/build.ts'
import { listEvents } from '../events/list.ts'
import { readRequests } from '../usage/read-requests.ts'
import { readUsage } from '../usage/read-usage.ts'
import { createOwnWallet, listOwnWallets } from '../wallets/create-wallet.ts'
import {
  issueWalletChallenge,
  listPayoutWallets,
  registerPayoutWallet,
  releasePayoutWallet,
} from '../wallets/payout-wallets.ts'
import { listDeliveries, redeliver, testWebhook } from '../webhooks/deliveries.ts'
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  rotateSecret,
  updateWebhook,
} from '../webhooks/endpoints.ts'
import type { Routes } from './handler.ts'

/** What answers each endpoint of the contract: all that can be refused without knowing the endpoint has been refused before. */
export const routes: Routes = {
  transactionSend: ({ context, actor, input }) => buildTransaction(context, actor, input.body),
  transactionReceive: ({ context, actor, input }) => buildSettlement(context, actor, input.body),
  transactionSubmitted: ({ context, actor, input }) => reportSubmitted(context, actor, input.body),
  transactionRelease: ({ context, actor, input }) => releaseRefund(context, actor, input.body),
  paymentReceive: ({ context, actor, input }) => receivePayment(context, actor, input.body),
  facilitatorSupported: async ({ context }) => describeSupported(context),
  facilitatorVerify: ({ context, actor, input }) => verifyPayment(context, actor, input.body),
  facilitatorSettle: ({ context, actor, input }) => settlePayment(context, actor, input.body),
  paymentStatus: ({ context, actor, input }) => readStatus(context, actor, input.params.paymentId),
  paymentStatuses: ({ context, actor, input }) =>
    readStatuses(context, actor, input.query.paymentIds),
  paymentHistory: ({ context, actor, input }) => readHistory(context, actor, input),
  paymentList: ({ context, actor, input }) => readList(context, actor, input.query),
  paymentSummary: ({ context, actor, input }) => readSummary(context, actor, input.query),
  customerList: ({ context, actor, input }) => readCustomers(context, actor, input.query),
  tokenInfo: ({ context, input }) =>
    readTokenInfo(context, { address: input.params.mintAddress, ...input.query }),
  apiKeyList: async ({ context, actor }) => ({
    success: true,
    keys: await readKeys(context, actor),
  }),
  apiKeyCreate: ({ context, actor, input }) => grantKey(context, actor, input.body),
  apiKeyRotate: ({ context, actor, input }) => replaceKey(context, actor, input),
  apiKeyDelete: ({ context, actor, input }) => deleteKey(context, actor, input.params.id),
  requestList: ({ context, actor, input }) => readRequests(context, actor, input.query),
  usage: ({ context, actor, input }) => readUsage(context, actor, input.query),
  paymentSend: ({ context, actor, input, idempotency, waitMs }) =>
    sendPayment(context, actor, { body: input.body, idempotency, waitMs }),
  paymentRefund: ({ context, actor, input, idempotency, waitMs }) =>
    refundPayment(context, actor, { body: input.body, idempotency, waitMs }),
  transactionRefund: ({ context, actor, input }) => buildRefund(context, actor, input.body),
  refundRequestList: ({ context, actor, input }) => listRefundRequests(context, actor, input.query),
  refundRequestRead: ({ context, actor, input }) =>
    readRequestsOf(context, actor, input.params.paymentId),
  refundRequestCreate: ({ context, actor, input }) =>
    createRefundRequest(context, actor, input.body),
  refundRequestDecline: ({ context, actor, input }) =>
    decideRefundRequest(
      context,
      { actor, requestId: input.params.requestId, decline: true },
      input.body,
    ),
  refundRequestReopen: ({ context, actor, input }) =>
    decideRefundRequest(
      context,
      { actor, requestId: input.params.requestId, decline: false },
      input.body,
    ),
  unmatchedList: ({ context, actor, input }) => readUnmatched(context, actor, input.query),
  unmatchedAssign: ({ context, actor, input }) =>
    assignUnmatched(context, { actor, transferId: input.params.transferId }, input.body),
  unmatchedUnassign: ({ context, actor, input }) =>
    unassignUnmatched(context, { actor, transferId: input.params.transferId }, input.body),
  undeliveredList: ({ context, actor, input }) => readUndelivered(context, actor, input.query),
  undeliveredClose: ({ context, actor, input }) =>
    decideUndelivered(
      context,
      { actor, paymentId: input.params.paymentId, delivered: true },
      input.body,
    ),
  undeliveredReopen: ({ context, actor, input }) =>
    decideUndelivered(
      context,
      { actor, paymentId: input.params.paymentId, delivered: false },
      input.body,
    ),
  walletCreate: ({ context, actor, input }) => createOwnWallet(context, actor, input.body),
  walletList: ({ context, actor }) => listOwnWallets(context, actor),
  payoutList: ({ context, actor }) => listPayoutWallets(context, actor),
  payoutChallenge: ({ context, actor, input }) => issueWalletChallenge(context, actor, input.body),
  payoutRegister: ({ context, actor, input }) => registerPayoutWallet(context, actor, input.body),
  payoutRelease: ({ context, actor, input }) =>
    releasePayoutWallet(context, actor, input.params.walletAddress),
  eventList: ({ context, actor, input }) => listEvents(context, actor, input.query),
  webhookList: ({ context, actor }) => listWebhooks(context, actor),
  webhookCreate: ({ context, actor, input }) => createWebhook(context, actor, input.body),
  webhookUpdate: ({ context, actor, input }) => updateWebhook(context, actor, input),
  webhookDelete: ({ context, actor, input }) => deleteWebhook(context, actor, input.params.id),
  webhookRotate: ({ context, actor, input }) => rotateSecret(context, actor, input),
  webhookTest: ({ context, actor, input }) => testWebhook(context, actor, input.params.id),
  webhookDeliveries: ({ context, actor, input }) => listDeliveries(context, actor, input),
  webhookRedeliver: ({ context, actor, input }) => redeliver(context, actor, input),
}
