import { formatAmount } from '#contract/amount.ts'
import { describe } from '#contract/fields.ts'
import { ProblemError } from '#contract/problem.ts'
import type { Built } from '../chains/chain.ts'

/**
 * What a caller is told of a payment that the chain would not take.
 * @param amountAtomic what it would move of the asset that is short: nothing, when a token is paid and the native currency lacks for the fee
 */
export function refuseBuilt(built: Exclude<Built, { ok: true }>, { recipientAddress }: { recipientAddress: string }, amountAtomic: bigint): ProblemError {
  if (built.code === 'INVALID_RECIPIENT') {
    return new ProblemError('INVALID_RECIPIENT', {
      message: built.message,
      details: { recipientAddress: `Received ${describe(recipientAddress)}.`, ...built.details },
    })
  }
  const { requiredAtomic, availableAtomic, feeAtomic, asset } = built
  const spell = (atomic: bigint) => formatAmount(atomic, asset.decimals)
  const rent = requiredAtomic > amountAtomic + feeAtomic ? ' and the rent that the wallet must keep' : ''
  const costs = [...(amountAtomic > 0n ? [spell(amountAtomic)] : []), ...(asset.native ? [`its fee${rent}`] : [])]
  const need = costs.length > 1 || rent !== '' ? 'need' : 'needs'
  const what = asset.native ? `${costs.join(' and ')} ${need}` : 'the payment needs'
  return new ProblemError('INSUFFICIENT_BALANCE', {
    message: `The wallet holds ${spell(availableAtomic)} ${asset.symbol}; ${what} ${spell(requiredAtomic)} ${asset.symbol}.`,
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
