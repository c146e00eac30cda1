import type { PayerEvidenceRequest } from '#contract/payer-evidence.ts'
import { intentTypedData, type HostedIntent } from '#contract/hosted-intent.ts'

/** An intent as viem signs and hashes it: it takes numbers as bigint. */
export function typedData(intent: HostedIntent) {
  const { message, ...data } = intentTypedData(intent)
  return {
    ...data,
    message: { ...message, amount: BigInt(message.amount), expiresAt: BigInt(message.expiresAt) },
  } as never
}

/** What a payer signs to say that an order is theirs, as viem signs it. */
export function typedDataOf({ message, ...data }: PayerEvidenceRequest) {
  return {
    ...data,
    message: { ...message, nonce: BigInt(message.nonce), amount: BigInt(message.amount) },
  } as never
}
