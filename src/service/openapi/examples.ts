import type { ApiKeyRow } from '#contract/api-key-body.ts'
import type { EndpointName, EndpointReply, EndpointRequest } from '#contract/endpoints.ts'
import { amountFact } from '#contract/facts.ts'
import { PaymentRow } from '#contract/payment-body.ts'
import { ledgerExamples, walletExamples } from './ledger-examples.ts'
import { requestExample, exampleCheck, settlementExample } from './settlement-example.ts'
import { webhookExamples } from './webhook-examples.ts'

const BUYER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const SELLER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const NATIVE_ETH = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
const PAYMENT = 'pay_7Yw3kVxQmJ5uT9aBcDeFgH'
const HASH = '0x5b1d6c8c0e3f4a2b9d7e6f5a4c3b2a190817263544f3e2d1c0bfae9d8c7b6a59'
const RESOURCE = 'https://shop.example/articles/42'
const START = 1_697_234_567_890
const PAID_AMOUNT = amountFact('10000000000000000', { symbol: 'ETH', decimals: 18 })

const status: EndpointReply<'paymentStatus'> = {
  success: true,
  paymentId: PAYMENT,
  mode: 'local',
  direction: 'received',
  signature: HASH,
  status: 'confirmed',
  network: 'eip155:8453',
  asset: NATIVE_ETH,
  symbol: 'ETH',
  decimals: 18,
  amount: 0.01,
  amountAtomic: '10000000000000000',
  sender: BUYER,
  recipient: SELLER,
  resource: RESOURCE,
  blockHeight: 21_456_789,
  blockTime: START + 12_000,
  confirmations: 12,
  requiredConfirmations: 10,
  fee: { amount: 0.000021, amountAtomic: '21000000000000', payer: BUYER, ofTransaction: true },
  timestamp: START,
  expiresAt: START + 60_000,
  lastValidBlockHeight: 21_456_810,
  metadata: { referenceId: 'order-42' },
  paymentProof: null,
  failure: null,
  refundOf: null,
  refund: { state: 'none', refundedAtomic: '0', pendingAtomic: '0' },
  draft: false,
  refundReason: null,
  refundNote: null,
  attribution: {
    evidence: 'fingerprint',
    missing: [],
    transfer: null,
    request: null,
    assigned: null,
  },
  events: [
    { status: 'created', at: START, blockHeight: 21_456_780, source: 'service' },
    { status: 'pending', at: START + 4_000, blockHeight: null, source: 'client' },
    { status: 'confirmed', at: START + 24_000, blockHeight: 21_456_789, source: 'watcher' },
  ],
}

/** Those of its fields that a row of a list has too. */
function fieldsOfRow(body: EndpointReply<'paymentStatus'>) {
  type Shared = keyof PaymentRow & keyof typeof body
  return Object.fromEntries(
    Object.entries(body).filter(([name]) => Object.hasOwn(PaymentRow.entries, name)),
  ) as Pick<typeof body, Shared>
}
const { fee, ...common } = fieldsOfRow(status)
const row = {
  ...common,
  type: 'received' as const,
  confirmedAt: START + 24_000,
  blockTime: START + 20_000,
  fee: fee && {
    amount: fee.amount,
    amountAtomic: fee.amountAtomic,
    payer: BUYER,
    symbol: 'ETH',
    decimals: 18,
    own: false,
  },
}
const page = {
  success: true as const,
  total: 1,
  limit: 50,
  offset: 0,
  nextCursor: null,
  payments: [row],
}

const HOUR = START - (START % 3_600_000)
const flows = {
  receivedAtomic: '10000000000000000',
  refundsReceivedAtomic: '0',
  sentAtomic: '0',
  refundedAtomic: '0',
  feesAtomic: '0',
}

const apiKey: ApiKeyRow = {
  id: 'key_3RfVbGtYhNmJuKiLoPqAzW',
  name: 'till',
  hint: 'pk_live_0dQ9…yzAB',
  scopes: ['payment:read', 'transaction:build'],
  plan: 'standard',
  createdAt: START,
  lastUsedAt: null,
  expiresAt: null,
  status: 'active',
  rotation: { replaces: null, replacedBy: null },
}

const requirements = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '10000000000000000',
  asset: NATIVE_ETH,
  payTo: SELLER,
  maxTimeoutSeconds: 60,
  extra: { assetTransferMethod: 'txid' },
}
const facilitated = {
  x402Version: 2 as const,
  paymentPayload: {
    x402Version: 2,
    resource: { url: RESOURCE },
    accepted: requirements,
    payload: {
      type: 'payment-proof',
      alg: 'ES256K',
      format: 'eip712',
      txRef: HASH,
      from: BUYER,
      signature: '0x…',
    },
  },
  paymentRequirements: requirements,
}

const transactionSendReply: EndpointReply<'transactionSend'> = {
  success: true,
  transaction: 'AvCCIQUBhDuaygCEstBeAIJSCJQ8RM3dtqkA+itYXdKZ4D0S+kKTvIcjhvJvwQAAgMA=',
  encoding: 'evm-rlp-unsigned',
  lastValidBlockHeight: 21_456_810,
  expiresAt: START + 60_000,
  paymentId: PAYMENT,
  paymentProof: null,
  network: 'eip155:8453',
  asset: NATIVE_ETH,
  symbol: 'ETH',
  decimals: 18,
  amount: 0.01,
  amountAtomic: '10000000000000000',
  sender: BUYER,
  recipient: SELLER,
  resource: RESOURCE,
  fee: {
    amount: 0.000063,
    amountAtomic: '63000000000000',
    priorityFee: 0.000021,
    rent: 0,
    rentAtomic: '0',
  },
  estimatedConfirmation: '2-5 seconds',
  decoded: {
    type: 'eip1559',
    chainId: 8453,
    nonce: 5,
    to: SELLER,
    value: '10000000000000000',
    gas: '21000',
  },
  proofRequest: null,
  evidence: { fingerprint: true, request: null },
}

/** One request and one answer of each endpoint, as the reference shows them. A test parses them with the schemas that validate. */
export const examples: {
  [K in EndpointName]: { request: EndpointRequest<K>; reply: EndpointReply<K> }
} = {
  transactionSend: {
    request: {
      body: {
        walletAddress: BUYER,
        recipientAddress: SELLER,
        amount: 0.01,
        resource: RESOURCE,
        metadata: { referenceId: 'order-42' },
      },
    },
    reply: transactionSendReply,
  },
  transactionReceive: settlementExample,
  transactionSubmitted: {
    request: { body: { paymentId: PAYMENT, signature: HASH } },
    reply: status,
  },
  transactionRelease: {
    request: { body: { paymentId: PAYMENT } },
    reply: status,
  },
  paymentReceive: {
    request: {
      body: {
        walletAddress: SELLER,
        paymentProof: 'eyJ4NDAyVmVyc2lvbiI6Mn0=',
        expectedAmount: 0.01,
        assetTransferMethod: 'txid',
        resource: RESOURCE,
        timeout: 30,
      },
    },
    reply: {
      success: true,
      verified: true,
      alreadyProcessed: false,
      paymentId: PAYMENT,
      signature: HASH,
      status: 'confirmed',
      network: 'eip155:8453',
      asset: NATIVE_ETH,
      symbol: 'ETH',
      decimals: 18,
      amountReceived: 0.01,
      amountAtomic: '10000000000000000',
      sender: BUYER,
      recipient: SELLER,
      resource: RESOURCE,
      blockHeight: 21_456_789,
      timestamp: START,
      verificationTime: '45ms',
      verifiedBy: 'in-process',
      checks: [exampleCheck({ name: 'paid_amount', source: 'chain' }, [PAID_AMOUNT, PAID_AMOUNT])],
    },
  },
  facilitatorSupported: {
    request: {},
    reply: {
      kinds: [
        {
          x402Version: 2,
          scheme: 'exact',
          network: 'eip155:8453',
          extra: { paymentFlow: 'upfront', assetTransferMethods: ['txid'], confirmations: 10 },
        },
      ],
      extensions: ['payment-identifier'],
      signers: { 'eip155:*': [] },
    },
  },
  facilitatorVerify: { request: { body: facilitated }, reply: { isValid: true, payer: BUYER } },
  facilitatorSettle: {
    request: { body: facilitated },
    reply: {
      success: true,
      payer: BUYER,
      transaction: HASH,
      network: 'eip155:8453',
      paymentId: PAYMENT,
    },
  },
  paymentStatus: { request: { params: { paymentId: PAYMENT } }, reply: status },
  paymentStatuses: {
    request: { query: { paymentIds: PAYMENT } },
    reply: {
      success: true,
      payments: [
        {
          paymentId: PAYMENT,
          status: status.status,
          refund: status.refund,
          refundFinal: false,
          late: false,
        },
      ],
    },
  },
  paymentHistory: {
    request: { params: { walletAddress: SELLER }, query: { type: 'received', limit: '50' } },
    reply: { walletAddress: SELLER, ...page },
  },
  paymentList: {
    request: { query: { status: 'confirmed,finalized' } },
    reply: { ...page, restoredAt: null },
  },
  paymentSummary: {
    request: { query: { days: '30' } },
    reply: {
      success: true,
      since: START - 30 * 86_400_000,
      until: START,
      statuses: [{ status: 'confirmed', count: 1 }],
      assets: [
        {
          network: 'eip155:8453',
          asset: NATIVE_ETH,
          symbol: 'ETH',
          decimals: 18,
          ...flows,
          receivedCount: 1,
          refundsReceivedCount: 0,
          sentCount: 0,
          refundedCount: 0,
          endedCount: 2,
          paidCount: 2,
          medianConfirmMs: 24_000,
          previous: flows,
          days: [{ day: '2023-10-13', ...flows }],
        },
      ],
      rankedPayments: 2,
      topPayers: [{ address: BUYER, count: 1 }],
      topResources: [{ resource: RESOURCE, count: 1 }],
    },
  },
  apiKeyList: { request: {}, reply: { success: true, keys: [apiKey] } },
  apiKeyCreate: {
    request: {
      body: { name: 'till', scopes: ['payment:read', 'transaction:build'], plan: 'standard' },
    },
    reply: {
      success: true,
      key: 'pk_live_0dQ9XbY2mKf7RtWc4ZpLs8Ne1HvUa6GjTi3BoPqE5xyzAB',
      ...apiKey,
    },
  },
  apiKeyRotate: {
    request: { params: { id: apiKey.id }, body: { graceSeconds: 3600 } },
    reply: {
      success: true,
      key: 'pk_live_7hJ2kLmN4pQrS6tUvW8xYzA1bC3dE5fG9iKoHqMsRuTwXy',
      ...apiKey,
      id: 'key_5TgBnHyUjMkIoLpQaZwSxE',
      hint: 'pk_live_7hJ2…TwXy',
      rotation: { replaces: apiKey.id, replacedBy: null },
      graceEndsAt: START + 3_600_000,
    },
  },
  apiKeyDelete: {
    request: { params: { id: apiKey.id } },
    reply: { success: true, ...apiKey, status: 'deleted' },
  },
  usage: {
    request: { query: { period: 'hour' } },
    reply: {
      success: true,
      period: 'hour',
      since: HOUR - 23 * 3_600_000,
      until: HOUR + 3_600_000,
      totalRequests: 10,
      usage: [
        { startsAt: HOUR, keyId: apiKey.id, endpoint: 'paymentStatus', status: '2xx', requests: 8 },
        { startsAt: HOUR, keyId: apiKey.id, endpoint: 'paymentStatus', status: '4xx', requests: 2 },
      ],
    },
  },
  requestList: requestExample(apiKey.id, START),
  paymentSend: {
    request: {
      body: {
        walletAddress: BUYER,
        recipientAddress: SELLER,
        amount: 0.01,
        resource: RESOURCE,
        metadata: { referenceId: 'order-42' },
      },
    },
    reply: {
      ...status,
      mode: 'hosted',
      expiresAt: null,
      lastValidBlockHeight: null,
      estimatedConfirmation: '20-41 seconds',
    },
  },
  ...ledgerExamples({ status, built: transactionSendReply }),
  ...webhookExamples(status),
  ...walletExamples(SELLER, START),
  tokenInfo: {
    request: { params: { mintAddress: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' } },
    reply: {
      success: true,
      address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
      network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      standard: 'spl-token',
      name: 'USD Coin',
      symbol: 'USDC',
      decimals: 6,
      totalSupply: '8000000000000000',
      mintAuthority: 'BJE5MMbqXjVwjAF7oxwPYXnTXDyspzZyt4vwenNw5ruG',
      freezeAuthority: '7dGbd2QZcCKcTndnHcTL8q7SMVXAkp688NTQYwrRCrar',
      eip3009: false,
      signingDomain: null,
      permit2Allowance: null,
    },
  },
}
