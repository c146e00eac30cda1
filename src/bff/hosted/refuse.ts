import { ProblemError } from '#contract/problem.ts'

/** Why a payment from a managed wallet is not made. Every one of them is certain: nothing was sent. */
const REFUSALS = {
  hosted_off: 'Payments from managed wallets are turned off.',
  hosted_wallet: 'Payments from this wallet in this asset are not enabled.',
  hosted_signer: 'Sign with an operator wallet of this session, on the same kind of network.',
  hosted_over_payment: 'The amount is above what one payment may be.',
  hosted_over_day: 'The amount is above what is left of what may be paid in 24 hours.',
  hosted_intent: 'There is no such payment to sign in this session.',
  hosted_expired: 'Too much time passed before it was signed. Prepare it again.',
  hosted_used: 'This was already signed and sent. Another signature does not send it again.',
  hosted_signature: 'The signature is not over this payment, or not of the wallet it was made for.',
  hosted_not_sent: 'It never reached the payment service. Nothing was sent; prepare it again.',
} as const
export type HostedRefusal = keyof typeof REFUSALS

export function refuseHosted(
  reason: HostedRefusal,
  details: Record<string, string> = {},
): ProblemError {
  const code =
    reason === 'hosted_intent'
      ? 'NOT_FOUND'
      : reason.startsWith('hosted_over')
        ? 'INVALID_PARAMETERS'
        : 'FORBIDDEN'
  return new ProblemError(code, { message: REFUSALS[reason], details: { reason, ...details } })
}
