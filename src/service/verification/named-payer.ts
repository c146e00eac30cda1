import { parseAddress } from '#contract/address.ts'
import { decodeTransaction } from '#chains/solana/decode.ts'
import { decodeBase64 } from '#x402/header.ts'

/** Who a payload says pays, unproven: answers about a payment that is refused name it too. Undefined where it names nobody. */
export function namedPayer(paymentPayload: Readonly<Record<string, unknown>>): string | undefined {
  const { payload } = paymentPayload
  const told =
    field(field(payload, 'authorization'), 'from') ??
    field(field(payload, 'permit2Authorization'), 'from') ??
    field(payload, 'from')
  const parsed = typeof told === 'string' ? parseAddress(told) : undefined
  if (parsed?.ok) return parsed.address
  const transaction = field(payload, 'transaction')
  const bytes = typeof transaction === 'string' ? decodeBase64(transaction) : null
  const facts = bytes && decodeTransaction(bytes)
  // A fee payer who is not the payer signs before the payer.
  return facts?.ok ? facts.signers.at(-1) : undefined
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
