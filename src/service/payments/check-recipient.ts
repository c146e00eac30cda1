import { EVM_NATIVE, parseAddress, SOLANA_NATIVE } from '#contract/address.ts'
import { describe } from '#contract/fields.ts'
import { familyOf, type NetworkId } from '#contract/network.ts'
import { ProblemError } from '#contract/problem.ts'

const EVM_ZERO = `0x${'0'.repeat(40)}`
const NOBODY: readonly string[] = [EVM_ZERO, EVM_NATIVE, SOLANA_NATIVE]
const SPELLING = { evm: '0x and 40 hex digits', solana: 'base58 of 32 bytes' } as const

/**
 * The recipient in its normal form, as far as its spelling tells; what stands at the address is the chain's to say.
 * @throws ProblemError `INVALID_RECIPIENT`
 */
export function checkRecipient(text: string, payment: { network: NetworkId; sender: string }): string {
  const family = familyOf(payment.network)
  const parsed = parseAddress(text)
  if (!parsed.ok && parsed.problem === 'bad_checksum') throw refuse('The checksum of the recipient is wrong: one character may be mistyped.', text)
  if (!parsed.ok) throw refuse(`The recipient is not an address. Expected ${SPELLING[family]}.`, text)
  if (isNobody(parsed.address)) throw refuse('The recipient is the zero address: what is sent there is lost.', text)
  if (parsed.family !== family) throw refuse(`The recipient belongs to another kind of network. Expected ${SPELLING[family]}.`, text)
  if (parsed.address === payment.sender) throw refuse('The recipient is the sender itself.', text)
  return parsed.address
}

/** Addresses that stand for native currency or for nothing: no key signs for them, nobody can use what they receive. */
export function isNobody(address: string): boolean {
  return NOBODY.includes(address)
}

function refuse(message: string, received: string): ProblemError {
  return new ProblemError('INVALID_RECIPIENT', { message, details: { recipientAddress: `Received ${describe(received)}.` } })
}
