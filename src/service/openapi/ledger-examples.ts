import type { EndpointName, EndpointReply, EndpointRequest } from '#contract/endpoints.ts'
import { signInMessage } from '#contract/sign-in-message.ts'

type Ledger =
  | 'customerList'
  | 'paymentRefund'
  | 'transactionRefund'
  | 'refundRequestList'
  | 'refundRequestRead'
  | 'refundRequestCreate'
  | 'refundRequestDecline'
  | 'refundRequestReopen'
  | 'unmatchedList'
  | 'unmatchedAssign'
  | 'unmatchedUnassign'
  | 'undeliveredList'
  | 'undeliveredClose'
  | 'undeliveredReopen'
type Examples<Name extends EndpointName> = {
  [K in Name]: { request: EndpointRequest<K>; reply: EndpointReply<K> }
}

/** Refunds of a payment, and money that may pay it. `built`: the answer that its unsigned transaction came with. */
export function ledgerExamples({
  status,
  built,
}: {
  status: EndpointReply<'paymentStatus'>
  built: EndpointReply<'transactionSend'>
}): Examples<Ledger> {
  const { paymentId, network, asset, symbol, decimals, amount, amountAtomic, timestamp } = status
  const refundId = 'pay_4tVn8pKcSxWb2hQyZrEuMd'
  const refund = { paymentId, amount: 0.004, reason: 'One of two articles was out of stock.' }
  const returned = {
    amount: 0.004,
    amountAtomic: '4000000000000000',
    sender: status.recipient,
    recipient: status.sender,
    resource: null,
    refundOf: paymentId,
  }
  const transferId = 'umt_9sLk2mWqXv5cTzRbNpYdFh'
  const transfer = {
    transferId,
    network,
    signature: '0x5b1d6c8c0e3f4a2b9d7e6f5a4c3b2a190817263544f3e2d1c0bfae9d8c7b6a59',
    sender: status.sender,
    recipient: status.recipient,
    asset,
    symbol,
    decimals,
    amount,
    amountAtomic,
    blockHeight: 21_456_789,
    timestamp,
    candidates: [
      {
        paymentId,
        status: 'expired' as const,
        timestamp: timestamp - 60_000,
        metadata: { referenceId: 'order-42' },
      },
    ],
    assigned: null,
    refundedBy: { paymentId: refundId, status: 'pending' as const },
  }
  const assignment = { paymentId, by: 'Ana', note: 'The customer sent us the transaction.' }
  const undelivered = {
    paymentId,
    status: status.status,
    network,
    asset,
    symbol,
    decimals,
    amount,
    amountAtomic,
    timestamp,
    refund: status.refund,
  }
  const parties = { sender: status.sender, recipient: status.recipient, resource: status.resource }
  return {
    paymentRefund: {
      request: { body: refund },
      reply: {
        ...status,
        ...returned,
        paymentId: refundId,
        mode: 'hosted',
        direction: 'sent',
        refundReason: refund.reason,
        expiresAt: null,
        lastValidBlockHeight: null,
        estimatedConfirmation: '20-41 seconds',
      },
    },
    transactionRefund: {
      request: { body: refund },
      reply: {
        ...built,
        ...returned,
        paymentId: refundId,
        decoded: {
          type: 'eip1559',
          chainId: 8453,
          nonce: 5,
          to: returned.recipient,
          value: returned.amountAtomic,
          gas: '21000',
        },
      },
    },
    ...refundRequestExamples(status),
    unmatchedList: {
      request: { query: { limit: '50' } },
      reply: { success: true, total: 1, undecided: 1, transfers: [transfer] },
    },
    unmatchedAssign: {
      request: { params: { transferId }, body: assignment },
      reply: {
        success: true,
        transfer: { ...transfer, assigned: { ...assignment, at: timestamp + 3_600_000 } },
      },
    },
    unmatchedUnassign: {
      request: { params: { transferId }, body: { by: assignment.by } },
      reply: { success: true, transfer },
    },
    customerList: customerExample(status),
    undeliveredList: {
      request: { query: { limit: '50' } },
      reply: { success: true, total: 1, payments: [{ ...undelivered, ...parties }] },
    },
    undeliveredClose: {
      request: { params: { paymentId }, body: { by: assignment.by, note: 'Sent by e-mail.' } },
      reply: { success: true, paymentId, delivered: true },
    },
    undeliveredReopen: {
      request: { params: { paymentId }, body: { by: assignment.by } },
      reply: { success: true, paymentId, delivered: false },
    },
  }
}

function customerExample(status: EndpointReply<'paymentStatus'>): Examples<Ledger>['customerList'] {
  const { sender, network, asset, symbol, decimals, amountAtomic, timestamp } = status
  const total = { network, asset, symbol, decimals, payments: 1, receivedAtomic: amountAtomic }
  return {
    request: { query: { sort: 'payments' } },
    reply: {
      success: true,
      nextCursor: null,
      customers: [
        {
          walletAddress: sender,
          payments: 1,
          firstAt: timestamp,
          lastAt: timestamp,
          totals: [{ ...total, refunds: 0, refundedAtomic: '0' }],
        },
      ],
    },
  }
}

type Requests = Extract<Ledger, `refundRequest${string}`>

/** Requests of a payer for a refund of the payment. */
function refundRequestExamples(status: EndpointReply<'paymentStatus'>): Examples<Requests> {
  const { paymentId, network, asset, symbol, decimals, timestamp, resource, metadata } = status
  const requestId = 'rfr_6uRw1nHtZcPq8sXkVbYeGm'
  const requested = {
    paymentId,
    number: 1,
    amount: 0.004,
    reason: 'One article is broken.',
    signature: `0x${'5b'.repeat(64)}1b`,
  }
  const request = {
    ...requested,
    requestId,
    state: 'open' as const,
    payer: status.sender,
    recipient: status.recipient,
    network,
    asset,
    symbol,
    decimals,
    amountAtomic: '4000000000000000',
    timestamp: timestamp + 86_400_000,
    declined: null,
  }
  const declined = {
    at: timestamp + 90_000_000,
    by: 'Ana',
    note: 'Please send the article back first.',
  }
  return {
    refundRequestList: {
      request: { query: { limit: '50' } },
      reply: { success: true, total: 1, requests: [{ ...request, resource, metadata }] },
    },
    refundRequestRead: {
      request: { params: { paymentId } },
      reply: { success: true, paymentId, requests: [request], next: null },
    },
    refundRequestCreate: { request: { body: requested }, reply: { success: true, request } },
    refundRequestDecline: {
      request: { params: { requestId }, body: { by: declined.by, note: declined.note } },
      reply: { success: true, request: { ...request, state: 'declined', declined } },
    },
    refundRequestReopen: {
      request: { params: { requestId }, body: { by: declined.by } },
      reply: { success: true, request },
    },
  }
}

type Wallets =
  | 'walletList'
  | 'walletCreate'
  | 'payoutList'
  | 'payoutChallenge'
  | 'payoutRegister'
  | 'payoutRelease'

/** Managed wallets, and wallets that a seller proves to own. `start`: a time in milliseconds. */
export function walletExamples(seller: string, start: number): Examples<Wallets> {
  const managedWallet = {
    walletId: 'wal_7YqzZ3kVnWc2hXbT9mDfRs',
    walletAddress: seller,
    family: 'evm' as const,
    name: 'Payouts',
    timestamp: start,
    stopped: [],
  }

  const payoutWallet = {
    walletAddress: seller,
    family: 'evm' as const,
    network: null,
    kind: 'payout' as const,
    proof: 'signature' as const,
    createdAt: start,
  }
  const challengeId = 'wch_5QdFgHjKmNpRsTvWxYz234'
  const challengeText = signInMessage({
    origin: 'https://payments.example.com',
    wallet: seller,
    network: 'eip155:8453',
    statement:
      'Register this wallet as a payout wallet of the Paydesk account acc_9KqWxYz23456789ABCDEFG. This moves no money and costs nothing.',
    nonce: '6f1d0e7c4b9a48538e27d0c1b6a5f493',
    issuedAt: new Date(start),
    expiresAt: new Date(start + 300_000),
    requestId: challengeId,
  })
  return {
    walletList: { request: {}, reply: { success: true, wallets: [managedWallet] } },
    walletCreate: {
      request: { body: { family: 'evm', name: 'Payouts' } },
      reply: { success: true, ...managedWallet },
    },
    payoutList: { request: {}, reply: { success: true, wallets: [payoutWallet] } },
    payoutChallenge: {
      request: { body: { walletAddress: seller } },
      reply: { success: true, challengeId, message: challengeText, expiresAt: start + 300_000 },
    },
    payoutRegister: {
      request: { body: { challengeId, signature: `0x${'5b'.repeat(64)}1b` } },
      reply: { success: true, wallet: payoutWallet },
    },
    payoutRelease: {
      request: { params: { walletAddress: seller } },
      reply: { success: true, released: [payoutWallet] },
    },
  }
}
