import { formatAmount } from './amount.ts'
import { describe } from './fields.ts'
import { ProblemError } from './problem.ts'
import {
  toWire,
  type AssetReason,
  type BalanceReason,
  type LimitReason,
  type ReasonAmount,
  type RecipientReason,
  type SenderReason,
} from './reasons.ts'
import {
  renderAssetReason,
  renderBalanceReason,
  renderLimitReason,
  renderRecipientReason,
  renderSenderReason,
} from './render-en.ts'

/** The refusals that carry a reason: a sentence for the caller of the API, and the code with its parameters in `details.reason`. */

/** `INVALID_RECIPIENT`. `field`: the field of the request that named the recipient. */
export function recipientProblem(
  reason: RecipientReason,
  { received, field = 'recipientAddress' }: { received: string; field?: string },
): ProblemError {
  const minimum = reason.code === 'below_rent_minimum' ? reason.params.minimum : undefined
  return new ProblemError('INVALID_RECIPIENT', {
    message: renderRecipientReason(reason),
    reason: toWire(reason),
    details: {
      [field]: `Received ${describe(received)}.`,
      ...(minimum && {
        ...figure('minimum', minimum),
        asset: minimum.asset,
        symbol: minimum.symbol,
      }),
    },
  })
}

/** `INSUFFICIENT_BALANCE`, with the figures as decimals and in atomic units. */
export function balanceProblem(reason: BalanceReason): ProblemError {
  const { required, available } = reason.params
  const fee = 'fee' in reason.params ? reason.params.fee : { ...required, amountAtomic: 0n }
  return new ProblemError('INSUFFICIENT_BALANCE', {
    message: renderBalanceReason(reason),
    reason: toWire(reason),
    details: {
      ...figure('required', required),
      ...figure('available', available),
      ...figure('fee', fee),
      asset: required.asset,
      symbol: required.symbol,
    },
  })
}

/** `INVALID_PARAMETERS` on `walletAddress`: no change of the amount helps. */
export function senderProblem(reason: SenderReason): ProblemError {
  const message = renderSenderReason(reason)
  return new ProblemError('INVALID_PARAMETERS', {
    message,
    reason: toWire(reason),
    details: { walletAddress: message },
  })
}

/** `INVALID_PARAMETERS` on `asset`. */
export function assetProblem(reason: AssetReason): ProblemError {
  const asset = `Expected a token that can be paid, received ${reason.params.token}.`
  return new ProblemError('INVALID_PARAMETERS', {
    message: renderAssetReason(reason),
    reason: toWire(reason),
    details: { asset },
  })
}

/** `INVALID_PARAMETERS` on the amount or on the priority fee, with the limit. */
export function limitProblem(reason: LimitReason, received?: string): ProblemError {
  const field = reason.code.startsWith('priority_fee') ? 'priorityFee' : 'amount'
  const problem = renderLimitReason(reason, received)
  return new ProblemError('INVALID_PARAMETERS', {
    message: `${field}: ${problem}`,
    reason: toWire(reason),
    details: { [field]: problem },
  })
}

function figure(name: string, { amountAtomic, decimals }: ReasonAmount): Record<string, string> {
  return {
    [name]: formatAmount(amountAtomic, decimals),
    [`${name}Atomic`]: amountAtomic.toString(),
  }
}
