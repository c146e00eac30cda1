import * as v from 'valibot'
import { ApiKeyRow, NewApiKeyBody } from './api-key-body.ts'
import { dashboardEndpoints } from './dashboard-endpoints.ts'
import type { Call } from './endpoint.ts'
import { FacilitatorVerifyBody } from './facilitator.ts'
import { timestamp } from './fields.ts'
import { hostedEndpoints } from './hosted-endpoints.ts'
import { keyApprovalEndpoints } from './key-approval.ts'
import { linkEndpoints } from './link-endpoints.ts'
import { noteEndpoints } from './note-endpoints.ts'
import { paymentEndpoints } from './payment-endpoints.ts'
import { ReceiveBody } from './receive.ts'
import { RelayReply } from './relay.ts'
import { sessionEndpoints } from './session-endpoints.ts'
import { tokenEndpoints } from './token-endpoints.ts'
import { transactionEndpoints } from './transaction-endpoints.ts'
import { undeliveredEndpoints } from './undelivered-endpoints.ts'
import { unmatchedEndpoints } from './unmatched-endpoints.ts'
import { UsageBody } from './usage.ts'

/**
 * What browsers load of the API: where each endpoint is, and the schema of its answer. The rest of
 * each row, which only servers read, is in endpoints.ts (the service's) and browser-endpoints.ts
 * (the proxy's).
 */

/** The service's, in the order of its documentation. */
export const serviceCalls = {
  ...transactionEndpoints,
  paymentReceive: { method: 'POST', path: '/payment/receive', response: ReceiveBody },
  facilitatorSupported: { method: 'GET', path: '/facilitator/supported' },
  facilitatorVerify: {
    method: 'POST',
    path: '/facilitator/verify',
    response: FacilitatorVerifyBody,
  },
  facilitatorSettle: { method: 'POST', path: '/facilitator/settle' },
  ...paymentEndpoints,
  paymentRefund: { method: 'POST', path: '/payment/refund' },
  transactionRefund: { method: 'POST', path: '/transaction/refund' },
  ...unmatchedEndpoints,
  ...undeliveredEndpoints,
  ...tokenEndpoints,
  apiKeyList: {
    method: 'GET',
    path: '/api-keys',
    response: v.object({ success: v.literal(true), keys: v.array(ApiKeyRow) }),
  },
  apiKeyCreate: { method: 'POST', path: '/api-keys', response: NewApiKeyBody },
  apiKeyRotate: {
    method: 'POST',
    path: '/api-keys/:id/rotate',
    /** The old key is valid until then. */
    response: v.object({ ...NewApiKeyBody.entries, graceEndsAt: timestamp }),
  },
  apiKeyDelete: {
    method: 'DELETE',
    path: '/api-keys/:id',
    response: v.object({ success: v.literal(true), ...ApiKeyRow.entries }),
  },
  usage: { method: 'GET', path: '/usage', response: UsageBody },
  walletList: { method: 'GET', path: '/wallets' },
  walletCreate: { method: 'POST', path: '/wallets' },
  payoutList: { method: 'GET', path: '/wallets/payout' },
  payoutChallenge: { method: 'POST', path: '/wallets/payout/challenge' },
  payoutRegister: { method: 'POST', path: '/wallets/payout' },
  payoutRelease: { method: 'DELETE', path: '/wallets/payout/:walletAddress' },
} as const satisfies Record<string, Call>

/** The proxy's own. */
export const proxyCalls = {
  ...dashboardEndpoints,
  ...linkEndpoints,
  ...hostedEndpoints,
  ...keyApprovalEndpoints,
  ...noteEndpoints,
  ...sessionEndpoints,
  relay: { method: 'POST', path: '/relay', response: RelayReply },
} as const satisfies Record<string, Required<Call>>
