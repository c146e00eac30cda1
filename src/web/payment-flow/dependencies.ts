import type {
  Clock,
  PaymentChain,
  PaymentService,
  PaymentWallet,
  TransactionReader,
} from '../payment-intent/ports.ts'
import type { WalletPaymentIntent } from '../payment-intent/intent.ts'
import type { Journal } from './journal.ts'
import type { Locks } from './lock.ts'

/** What the driver of a payment needs from outside. Everything that can fail or take time is behind one of these. */
export type Ports = {
  service: PaymentService
  wallet: PaymentWallet
  chain: PaymentChain
  reader: TransactionReader
  journal: Journal
  /** Journals of other pages, whose payments have transactions of the same accounts. */
  otherJournals?: readonly Journal[]
  /** Why the payer's own limits forbid a payment at this moment, in words; nothing when they allow it. */
  breachOf?: (order: WalletPaymentIntent) => Promise<string | undefined>
  locks: Locks
  clock: Clock
  /** Addresses that the payer knows, beside those paid from here: what a look-alike would be made after. */
  known?: () => readonly string[]
}
