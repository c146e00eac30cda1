import { intentTypedData, type HostedIntent } from '#contract/hosted-intent.ts'

/** An intent as viem signs and hashes it: it takes numbers as bigint. */
export function typedData(intent: HostedIntent) {
  const { message, ...data } = intentTypedData(intent)
  return { ...data, message: { ...message, amount: BigInt(message.amount), expiresAt: BigInt(message.expiresAt) } } as never
}
