import * as v from 'valibot'
import { noNul, timestamp } from './fields.ts'
import { PaymentStatusBody } from './payment-body.ts'

/** An account has at most so many managed wallets. */
export const MOST_WALLETS = 50

/** A wallet of the account whose key the service holds. */
const wallet = {
  walletId: v.string(),
  walletAddress: v.string(),
  family: v.picklist(['evm', 'solana']),
  name: v.string(),
  /** When the service took it. */
  timestamp,
  /** The networks on which it sends nothing until an operator has looked: the chain shows something of it that the service did not sign. */
  stopped: v.array(v.object({ network: v.string(), reason: v.string(), timestamp })),
}

export const WalletList = v.object({ success: v.literal(true), wallets: v.array(v.object(wallet)) })
export const WalletBody = v.object({ success: v.literal(true), ...wallet })

/** A key is made by the service and never leaves it; an existing one is brought in by the operator alone, on the service's machine. */
export const NewWallet = v.strictObject({
  family: v.picklist(['evm', 'solana']),
  name: v.pipe(v.string(), v.trim(), v.minLength(1, 'Expected a name.'), v.maxLength(100, 'Expected at most 100 characters.'), noNul()),
})

/** What is told of a payment from a managed wallet; `estimatedConfirmation` in words, for people. */
export const SentPayment = v.object({ ...PaymentStatusBody.entries, estimatedConfirmation: v.string() })
