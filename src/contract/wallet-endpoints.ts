import * as v from 'valibot'
import { address } from './address-field.ts'
import type { Endpoint } from './endpoint.ts'
import {
  MOST_WALLETS,
  NewWallet,
  OwnedWallet,
  PayoutChallenge,
  PayoutChallengeBody,
  PayoutSignature,
  WalletBody,
  WalletList,
} from './wallet.ts'

/** Additions: an account's managed wallets, and every wallet it owns. */
export const walletEndpoints = {
  walletList: {
    method: 'GET',
    path: '/wallets',
    summary: 'The wallets the service signs for',
    scope: 'wallets:manage',
    audience: 'key',
    response: WalletList,
    problems: [],
  },
  walletCreate: {
    method: 'POST',
    path: '/wallets',
    summary: `Make a wallet that the service signs for. An account has at most ${MOST_WALLETS} (\`FORBIDDEN\` beyond)`,
    scope: 'wallets:manage',
    audience: 'key',
    body: NewWallet,
    response: WalletBody,
    problems: ['IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
  /** The owner of a wallet decides the direction of its payments, and is the only account that can receive proofs of payments to it. */
  payoutList: {
    method: 'GET',
    path: '/wallets/payout',
    summary: 'The wallets that the account owns, oldest first: payout wallets and managed ones',
    scope: 'wallets:manage',
    audience: 'key',
    response: v.object({ success: v.literal(true), wallets: v.array(OwnedWallet) }),
    problems: [],
  },
  /** Valid for 5 minutes and one attempt. */
  payoutChallenge: {
    method: 'POST',
    path: '/wallets/payout/challenge',
    summary: 'A text that a wallet signs to prove that the account owns it',
    scope: 'wallets:manage',
    audience: 'key',
    body: PayoutChallenge,
    response: PayoutChallengeBody,
    problems: ['IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
  payoutRegister: {
    method: 'POST',
    path: '/wallets/payout',
    summary: 'Register the wallet that signed a challenge as owned by the account',
    scope: 'wallets:manage',
    audience: 'key',
    body: PayoutSignature,
    response: v.object({ success: v.literal(true), wallet: OwnedWallet }),
    problems: ['CHAIN_UNAVAILABLE', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS'],
  },
  /** Past payments keep their directions, and what the owner consumed stays consumed. */
  payoutRelease: {
    method: 'DELETE',
    path: '/wallets/payout/:walletAddress',
    summary: 'Release a payout wallet of the account; a managed wallet cannot be released',
    scope: 'wallets:manage',
    audience: 'key',
    params: v.object({ walletAddress: address }),
    response: v.object({ success: v.literal(true), released: v.array(OwnedWallet) }),
    problems: ['NOT_FOUND'],
  },
} as const satisfies Record<string, Endpoint>
