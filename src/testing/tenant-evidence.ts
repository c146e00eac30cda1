import * as v from 'valibot'
import type { Hex, TypedDataDefinition } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { at } from './api-client.ts'

/** What only the payer of an order can give: a signature over it. */

const Request = v.object({
  domain: v.record(v.string(), v.unknown()),
  types: v.record(v.string(), v.array(v.object({ name: v.string(), type: v.string() }))),
  primaryType: v.string(),
  message: v.record(v.string(), v.unknown()),
})

/**
 * Signs what the service asks the payer of an order to sign.
 * @param told an answer with `evidence.request` (of a build) or `attribution.request` (of a status)
 */
export function signEvidence(
  payer: PrivateKeyAccount,
  told: unknown,
  changes: Record<string, unknown> = {},
): Promise<Hex> {
  const parsed = v.safeParse(
    Request,
    at(told, 'evidence.request') ?? at(told, 'attribution.request'),
  )
  if (!parsed.success)
    throw new Error(
      `Expected typed data to sign, received ${JSON.stringify(at(told, 'evidence') ?? at(told, 'attribution'))}`,
    )
  const { message, types, ...request } = parsed.output
  const { EIP712Domain: _, ...named } = types
  return payer.signTypedData(
    asTypedData({ ...request, types: named, message: { ...message, ...changes } }),
  )
}

/** Typed data of the wire names its types at run time only. */
function asTypedData(data: object): TypedDataDefinition {
  return data as TypedDataDefinition
}
