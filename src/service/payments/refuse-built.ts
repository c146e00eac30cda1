import { formatAmount } from '#contract/amount.ts'
import { describe } from '#contract/fields.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Built } from '../chains/chain.ts'

/** What a caller is told of a payment that the chain would not take. */
export function refuseBuilt(built: Exclude<Built, { ok: true }>, { recipientAddress }: { recipientAddress: string }, amountAtomic: bigint): ProblemError {
  if (built.code === 'INVALID_RECIPIENT') {
    return new ProblemError('INVALID_RECIPIENT', {
      message: built.message,
      details: { recipientAddress: `Received ${describe(recipientAddress)}.`, ...built.details },
    })
  }
  const { requiredAtomic, availableAtomic, feeAtomic, asset } = built
  const spell = (atomic: bigint) => formatAmount(atomic, asset.decimals)
  const rest = requiredAtomic > amountAtomic + feeAtomic ? 'its fee and the rent that the wallet must keep' : 'its fee'
  return new ProblemError('INSUFFICIENT_BALANCE', {
    message: `The wallet holds ${spell(availableAtomic)} ${asset.symbol}; ${spell(amountAtomic)} and ${rest} need ${spell(requiredAtomic)} ${asset.symbol}.`,
    details: {
      required: spell(requiredAtomic),
      requiredAtomic: requiredAtomic.toString(),
      available: spell(availableAtomic),
      availableAtomic: availableAtomic.toString(),
      fee: spell(feeAtomic),
      feeAtomic: feeAtomic.toString(),
      asset: asset.address,
      symbol: asset.symbol,
    },
  })
}
