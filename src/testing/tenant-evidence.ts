import * as v from 'valibot'
import { encodeFunctionData, parseAbi, type Hex, type TypedDataDefinition } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { at, textAt } from './api-client.ts'
import { sendFrom } from './token-payers.ts'
import type { Order } from './tenant-orders.ts'
import type { Tenants } from './two-tenants.ts'

/** What only the payer of an order can give: a signature over it, or an authorization that names it. */

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
export function signEvidence(payer: PrivateKeyAccount, told: unknown, changes: Record<string, unknown> = {}): Promise<Hex> {
  const parsed = v.safeParse(Request, at(told, 'evidence.request') ?? at(told, 'attribution.request'))
  if (!parsed.success) throw new Error(`Expected typed data to sign, received ${JSON.stringify(at(told, 'evidence') ?? at(told, 'attribution'))}`)
  const { message, types, ...request } = parsed.output
  const { EIP712Domain: _, ...named } = types
  return payer.signTypedData(asTypedData({ ...request, types: named, message: { ...message, ...changes } }))
}

/** Typed data of the wire names its types at run time only. */
function asTypedData(data: object): TypedDataDefinition {
  return data as TypedDataDefinition
}

const usdcAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])
const AUTHORIZATION = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const

/** The payer signs an EIP-3009 authorization under the nonce that an order names, and a third party has it executed. */
export async function payByAuthorization(t: Tenants, payer: PrivateKeyAccount, order: Pick<Order, 'reply'> & { to: Hex; atomic: bigint }): Promise<Hex> {
  const nonce = textAt(order.reply, 'evidence.authorizationNonce') as Hex
  const { timestamp } = await t.evm.client.getBlock()
  const message = { from: payer.address, to: order.to, value: order.atomic, validAfter: 0n, validBefore: timestamp + 3600n, nonce }
  const signature = await payer.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId: 31_337, verifyingContract: t.usdc.address as Hex },
    types: { TransferWithAuthorization: AUTHORIZATION },
    primaryType: 'TransferWithAuthorization',
    message,
  })
  const args = [message.from, message.to, message.value, message.validAfter, message.validBefore, nonce, signature] as const
  const data = encodeFunctionData({ abi: usdcAbi, functionName: 'transferWithAuthorization', args })
  return sendFrom(t.evm, await t.payer(), { to: t.usdc.address as Hex, data })
}
