import { decodeTransaction } from '#chains/solana/decode.ts'
import { feeBoundAtomic } from '#chains/solana/fee.ts'

/** Lamports; `feeAtomic` includes `priorityFeeAtomic`. */
export type FeePayerFee = { feeAtomic: bigint; priorityFeeAtomic: bigint }

/** The most that a transaction takes from the wallet that pays its network fee. */
export function feePayerFee(bytes: Uint8Array): FeePayerFee {
  const facts = decodeTransaction(bytes)
  if (!facts.ok) throw new TypeError(facts.problem.code)
  const limits = facts.operations.flatMap((operation) =>
    operation.kind === 'fee_limit' ? [operation.units] : [],
  )
  const prices = facts.operations.flatMap((operation) =>
    operation.kind === 'fee_price' ? [operation.microLamports] : [],
  )
  const shape = {
    signatures: facts.signers.length,
    instructions: facts.operations.length,
    unitLimit: limits[0],
  }
  const feeAtomic = feeBoundAtomic({ ...shape, unitPriceMicroLamports: prices[0] })
  return {
    feeAtomic,
    priorityFeeAtomic: feeAtomic - feeBoundAtomic({ ...shape, unitPriceMicroLamports: 0n }),
  }
}
