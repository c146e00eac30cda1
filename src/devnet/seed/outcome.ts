import type { PlannedPayment } from './plan.ts'

/** What became of a planned payment on its chain. */
export type SeedOutcome = {
  payment: PlannedPayment
  /** Base64. */
  unsignedTransaction: string
  nonce: number | null
  builtHeight: number
  lastValidBlockHeight: number
  /** Null: never signed. */
  signature: string | null
  /** Null: never landed. */
  landed: {
    failure: string | null
    blockHeight: number
    blockHash: string | null
    feeAtomic: bigint
  } | null
}
