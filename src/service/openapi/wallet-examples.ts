import type { EndpointReply, EndpointRequest } from '#contract/endpoints.ts'
import { signInMessage } from '#contract/sign-in-message.ts'

type Wallets =
  | 'walletList'
  | 'walletCreate'
  | 'payoutList'
  | 'payoutChallenge'
  | 'payoutRegister'
  | 'payoutRelease'
type Examples = { [K in Wallets]: { request: EndpointRequest<K>; reply: EndpointReply<K> } }

/** Managed wallets, and wallets that a seller proves to own. `start`: a time in milliseconds. */
export function walletExamples(seller: string, start: number): Examples {
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
