import * as v from 'valibot'
import { parseAddress } from './address.ts'
import { describe, logged } from './fields.ts'

/** An EVM or Solana address, read into its normal form. */
export const address = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const parsed = parseAddress(dataset.value)
    if (parsed.ok) return parsed.address
    addIssue({
      message:
        parsed.problem === 'bad_checksum'
          ? `Expected a right EIP-55 checksum, received ${describe(dataset.value)}: one character may be wrong.`
          : `Expected 0x and 40 hex digits, or base58 of 32 bytes, received ${describe(dataset.value)}.`,
    })
    return NEVER
  }),
  logged(),
)

/** Addresses with commas. */
export function walletList(most = 20) {
  return v.pipe(
    v.string(),
    v.transform((text) => text.split(',')),
    v.array(address),
    v.minLength(1),
    v.maxLength(most, `Expected at most ${most} addresses.`),
  )
}
