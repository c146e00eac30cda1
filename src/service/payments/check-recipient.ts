import { EVM_NATIVE, parseAddress, SOLANA_NATIVE } from '#contract/address.ts'
import { familyOf, type NetworkId } from '#contract/network.ts'
import { recipientProblem } from '#contract/reason-problems.ts'
import { readRecipient } from '#contract/recipient.ts'

const EVM_ZERO = `0x${'0'.repeat(40)}`
const NOBODY: readonly string[] = [EVM_ZERO, EVM_NATIVE, SOLANA_NATIVE]

/**
 * The recipient in its normal form, as far as its spelling tells; what stands at the address is the chain's to say.
 * @throws ProblemError `INVALID_RECIPIENT`
 */
export function checkRecipient(
  text: string,
  payment: { network: NetworkId; sender: string },
): string {
  const parsed = parseAddress(text)
  if (parsed.ok && isNobody(parsed.address))
    throw recipientProblem({ code: 'zero_address', params: {} }, { received: text })
  const read = readRecipient(text, familyOf(payment.network))
  if (!read.ok) throw recipientProblem(read.reason, { received: text })
  if (read.address === payment.sender)
    throw recipientProblem({ code: 'same_as_sender', params: {} }, { received: text })
  return read.address
}

/** Addresses that stand for native currency or for nothing: no key signs for them, nobody can use what they receive. */
export function isNobody(address: string): boolean {
  return NOBODY.includes(address)
}
