import * as v from 'valibot'
import type { Hex } from 'viem'
import { fact, signedTime, type MatchFact } from '#contract/facts.ts'
import { JsonError, parseJson } from '#contract/json.ts'
import type { DecodeProblem } from '#contract/reasons.ts'

/** What payers of tokens sign, as the types of EIP-712. */

/** `transferWithAuthorization` of EIP-3009. */
export const AUTHORIZATION_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** A transfer by Permit2 whose witness names the payee. */
export const PERMIT_TYPES = {
  PermitWitnessTransferFrom: [
    { name: 'permitted', type: 'TokenPermissions' },
    { name: 'spender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
    { name: 'witness', type: 'Witness' },
  ],
  TokenPermissions: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
  Witness: [
    { name: 'to', type: 'address' },
    { name: 'validAfter', type: 'uint256' },
  ],
} as const

/** Permit2, the same on every chain. */
export const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'

/** What a wallet signs as a message, kept and compared as the canonical JSON of its fields: one text for one meaning. */

export const addressText = v.pipe(
  v.string(),
  v.regex(/^0x[0-9a-fA-F]{40}$/),
  v.transform((text) => text as Hex),
)
export const digitsText = v.pipe(
  v.string(),
  v.regex(/^(0|[1-9][0-9]{0,77})$/),
  v.transform((text) => BigInt(text)),
)
export const bytes32Text = v.pipe(
  v.string(),
  v.regex(/^0x[0-9a-f]{64}$/),
  v.transform((text) => text as Hex),
)
export const chainIdNumber = v.pipe(v.number(), v.integer())

export type ReadText<T> = { ok: true; value: T } | { ok: false; problem: DecodeProblem }

/** Reads bytes in their one spelling; anything else, and one field too many, is a problem. */
export function readSignedText<S extends v.GenericSchema>(
  bytes: Uint8Array,
  schema: S,
  encode: (value: v.InferOutput<S>) => Uint8Array,
): ReadText<v.InferOutput<S>> {
  let value: unknown
  try {
    value = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    if (error instanceof JsonError || error instanceof TypeError)
      return { ok: false, problem: fact('not_an_authorization') }
    throw error
  }
  const result = v.safeParse(schema, value)
  if (!result.success)
    return {
      ok: false,
      problem: {
        code: 'authorization_field',
        params: { field: v.getDotPath(result.issues[0]) },
      },
    }
  const again = encode(result.output)
  const same = again.length === bytes.length && again.every((byte, index) => byte === bytes[index])
  return same
    ? { ok: true, value: result.output }
    : { ok: false, problem: fact('authorization_not_canonical') }
}

/** Until when something that was signed is valid. */
export function untilFact(seconds: bigint): MatchFact {
  const at = signedTime(seconds)
  return at === null ? fact('no_expiry') : { code: 'until', params: { at } }
}
