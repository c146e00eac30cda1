import * as v from 'valibot'
import { ApiKeyRow, NewApiKeyBody } from './api-key-body.ts'
import { balanceEndpoints, hostedEndpoints } from './hosted-endpoints.ts'
import { customerEndpoints, profileEndpoints } from './customer-endpoints.ts'
import { dashboardEndpoints } from './dashboard-endpoints.ts'
import type { Call } from './endpoint.ts'
import { FacilitatorVerifyBody } from './facilitator.ts'
import { fileEndpoints } from './file-endpoints.ts'
import { timestamp, atomic } from './fields.ts'
import { approvalEndpoints } from './approval.ts'
import { invoiceEndpoints } from './invoice-endpoints.ts'
import { linkEndpoints } from './link-endpoints.ts'
import { rateEndpoints } from './rate-endpoints.ts'
import { mailEndpoints } from './mail-endpoints.ts'
import { noteEndpoints, paymentEndpoints } from './payment-endpoints.ts'
import { peopleEndpoints } from './people-endpoints.ts'
import { productEndpoints } from './product-endpoints.ts'
import { ReceiveBody } from './receive.ts'
import { refundRequestEndpoints } from './refund-request.ts'
import { RelayReply } from './relay.ts'
import { RequestLogBody } from './request-log.ts'
import { transactionEndpoints } from './transaction-endpoints.ts'
import { undeliveredEndpoints, unmatchedEndpoints } from './unmatched-endpoints.ts'
import { UsageBody } from './usage.ts'
import { webhookEndpoints } from './webhook-endpoints.ts'

/**
 * A browser where a wallet is signed in. The proxy does not know which machine it is, and does not
 * ask.
 */
const SessionEntry = v.object({
  /** Whether this session made the request. */
  current: v.boolean(),
  wallets: v.array(v.string()),
  createdAt: timestamp,
  /** Accurate to the minute. */
  lastUsedAt: timestamp,
  expiresAt: timestamp,
})
type SessionEntry = v.InferOutput<typeof SessionEntry>

/** The sessions that share a wallet with the session that asks. */
const sessionEndpoints = {
  /** Most recently used first, including the session that asks. */
  sessionList: {
    method: 'GET',
    path: '/sessions',
    response: v.object({ sessions: v.array(SessionEntry) }),
  },
  /** Ends every other session that a wallet of this one opened, and their live streams. */
  sessionEndOthers: {
    method: 'POST',
    path: '/sessions/end-others',
    response: v.object({ ended: v.number() }),
  },
} as const satisfies Record<string, Call>

/** Tokens (specification section 4, Other). */
const tokenEndpoints = {
  tokenInfo: {
    method: 'GET',
    path: '/token/info/:mintAddress',
    response: v.object({
      success: v.literal(true),
      address: v.string(),
      network: v.string(),
      standard: v.picklist(['spl-token', 'token-2022', 'erc20', 'native']),
      name: v.nullable(v.string()),
      symbol: v.nullable(v.string()),
      decimals: v.number(),
      totalSupply: v.nullable(atomic),
      mintAuthority: v.nullable(v.string()),
      freezeAuthority: v.nullable(v.string()),
      /** Whether the token takes EIP-3009 authorizations; false off EVM. */
      eip3009: v.boolean(),
      /** The name and version under which payers sign authorizations of this token: `extra` of a price in x402. Null without EIP-3009. */
      signingDomain: v.nullable(v.object({ name: v.string(), version: v.string() })),
      /** What `owner` lets the Permit2 contract take, read at the moment; null without an owner, for the native currency, and off EVM. */
      permit2Allowance: v.nullable(atomic),
    }),
  },
} as const satisfies Record<string, Call>

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
  ...customerEndpoints,
  paymentRefund: { method: 'POST', path: '/payment/refund' },
  transactionRefund: { method: 'POST', path: '/transaction/refund' },
  ...refundRequestEndpoints,
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
  requestList: { method: 'GET', path: '/requests', response: RequestLogBody },
  walletList: { method: 'GET', path: '/wallets' },
  walletCreate: { method: 'POST', path: '/wallets' },
  payoutList: { method: 'GET', path: '/wallets/payout' },
  payoutChallenge: { method: 'POST', path: '/wallets/payout/challenge' },
  payoutRegister: { method: 'POST', path: '/wallets/payout' },
  payoutRelease: { method: 'DELETE', path: '/wallets/payout/:walletAddress' },
  eventList: { method: 'GET', path: '/events' },
  ...webhookEndpoints,
} as const satisfies Record<string, Call>

/** The proxy's own. */
export const proxyCalls = {
  ...dashboardEndpoints,
  ...linkEndpoints,
  ...rateEndpoints,
  ...productEndpoints,
  ...invoiceEndpoints,
  ...hostedEndpoints,
  ...balanceEndpoints,
  ...approvalEndpoints,
  ...noteEndpoints,
  ...profileEndpoints,
  ...peopleEndpoints,
  ...fileEndpoints,
  ...mailEndpoints,
  ...sessionEndpoints,
  relay: { method: 'POST', path: '/relay', response: RelayReply },
} as const satisfies Record<string, Required<Call>>
