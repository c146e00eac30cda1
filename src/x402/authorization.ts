import * as v from 'valibot'
import { parseAddress } from '#contract/address.ts'
import type { FieldFormat } from '#contract/reasons.ts'

/** What a payer of tokens on EVM signs for others to submit: the payloads of `eip3009` and `permit2`, the same in both versions. */

const MAX_UINT256 = 2n ** 256n - 1n

const evmAddress = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const parsed = parseAddress(dataset.value)
    if (parsed.ok && parsed.family === 'evm') return parsed.address as `0x${string}`
    addIssue({ message: 'evm_address' satisfies FieldFormat })
    return NEVER
  }),
)

/** Digits only, so that one number has one spelling. */
const uint256 = v.pipe(
  v.string(),
  v.regex(/^(0|[1-9][0-9]{0,77})$/, 'whole_number' satisfies FieldFormat),
  v.transform((digits) => BigInt(digits)),
  v.check((value) => value <= MAX_UINT256, 'uint256' satisfies FieldFormat),
)

const hexBytes = (least: number, most: number, format: FieldFormat) =>
  v.pipe(
    v.string(),
    v.regex(/^0x(?:[0-9a-fA-F]{2})*$/, 'hex' satisfies FieldFormat),
    v.check((text) => text.length >= 2 + 2 * least && text.length <= 2 + 2 * most, format),
    v.toLowerCase(),
    v.transform((text) => text as `0x${string}`),
  )

/** A key's signature has 65 bytes. A contract's has as many as the contract reads, none included (EIP-1271). */
const signature = hexBytes(0, 2048, 'bytes_2048_at_most')

export const Eip3009Payload = v.object({
  signature,
  authorization: v.object({
    from: evmAddress,
    to: evmAddress,
    value: uint256,
    validAfter: uint256,
    validBefore: uint256,
    nonce: hexBytes(32, 32, 'bytes_32'),
  }),
})
export type Eip3009Payload = v.InferOutput<typeof Eip3009Payload>

export const Permit2Payload = v.object({
  signature,
  permit2Authorization: v.object({
    from: evmAddress,
    permitted: v.object({ token: evmAddress, amount: uint256 }),
    spender: evmAddress,
    nonce: uint256,
    deadline: uint256,
    witness: v.object({ to: evmAddress, validAfter: uint256 }),
  }),
})
export type Permit2Payload = v.InferOutput<typeof Permit2Payload>

/** The canonical contract that turns a payer's permit into a transfer to the payee the permit names. Same address on every chain. */
export const EXACT_PERMIT2_PROXY = '0x402085c248EeA27D92E8b30b2C58ed07f9E20001'
