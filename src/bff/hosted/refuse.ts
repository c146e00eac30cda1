import type { Asset } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'
import { limitProblem } from '#contract/reason-problems.ts'
import type { LimitReason, RefusalCode } from '#contract/reasons.ts'

/** Why a payment from a managed wallet is not made. Every one of them is certain: nothing was sent. */
const REFUSALS = {
  hosted_off: 'Payments from managed wallets are turned off.',
  hosted_wallet: 'Payments from this wallet in this asset are not enabled.',
  hosted_signer: 'Sign with an operator wallet of this session, on the same kind of network.',
  hosted_intent: 'There is no such payment to sign in this session.',
  hosted_expired: 'Too much time passed before it was signed. Prepare it again.',
  hosted_used: 'This was already signed and sent. Another signature does not send it again.',
  hosted_signature: 'The signature is not over this payment, or not of the wallet it was made for.',
  hosted_not_sent: 'It never reached the payment service. Nothing was sent; prepare it again.',
} as const satisfies Partial<Record<RefusalCode, string>>
export type HostedRefusal = keyof typeof REFUSALS

export function refuseHosted(reason: HostedRefusal): ProblemError {
  const code = reason === 'hosted_intent' ? 'NOT_FOUND' : 'FORBIDDEN'
  return new ProblemError(code, { message: REFUSALS[reason], reason })
}

/** The payment is above a limit of the operator. `left`: the most that it may be now. */
export function refuseOverLimit(
  code: Extract<LimitReason['code'], `hosted_${string}`>,
  left: bigint,
  { address, symbol, decimals }: Asset,
): ProblemError {
  const maximum = { amountAtomic: left < 0n ? 0n : left, asset: address, symbol, decimals }
  return limitProblem({ code, params: { maximum } })
}
