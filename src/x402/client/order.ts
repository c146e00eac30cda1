import * as v from 'valibot'
import { EVM_NATIVE, parseAddress, SOLANA_NATIVE, type Family } from '#contract/address.ts'
import { explainIssue } from '#contract/explain-issue.ts'
import type { NetworkId } from '#contract/network.ts'
import { EXACT_SCHEME } from '../methods.ts'
import { readNetwork } from '../networks.ts'
import { fromV1, Requirements, RequirementsV1, type ResourceInfo } from '../requirements.ts'

/**
 * A seller's request, read for the payer who is about to answer it. Nothing in it has been checked
 * yet.
 */
export type ClientPayment = {
  network: NetworkId
  /** As the seller spells it: what is signed must be spelled the same. */
  networkName: string
  asset: string
  native: boolean
  payTo: string
  amountAtomic: bigint
  maxTimeoutSeconds: number
  /** How value moves; null where the seller leaves it to the scheme. */
  method: string | null
  resource: ResourceInfo
  /** What the seller calls this payment; on Solana it is the memo that binds it. */
  memo: string | null
  /** Solana: the account that pays the network fee; null when the payer does. */
  feePayer: string | null
  extra: Readonly<Record<string, unknown>>
}

/** A seller's terms that this payer cannot answer. Nothing was sent or signed. */
export class ClientPaymentError extends Error {
  override name = 'OrderProblem'
}

const NATIVE: Readonly<Record<Family, string>> = {
  evm: EVM_NATIVE.toLowerCase(),
  solana: SOLANA_NATIVE,
}

/**
 * Reads one entry of `accepts`, of either version. All of it is untrusted text.
 * @param resource what accompanies the entry in v2; v1 contains it
 * @throws OrderProblem
 */
export function readOrder(
  version: number,
  value: unknown,
  resource: ResourceInfo | undefined,
): ClientPayment {
  const { requirements, stated } =
    version === 1 ? readV1(value) : { requirements: parse(Requirements, value), stated: resource }
  const {
    scheme,
    network: networkName,
    asset,
    payTo,
    amount,
    maxTimeoutSeconds,
    extra,
  } = requirements
  const network = readNetwork(networkName, version === 1 ? 1 : 2)
  const payee = parseAddress(payTo)
  if (scheme !== EXACT_SCHEME)
    throw new ClientPaymentError(`The seller asks for the scheme ${scheme}.`)
  if (network === undefined)
    throw new ClientPaymentError(`The seller asks on a network nobody knows: ${networkName}.`)
  if (!payee.ok)
    throw new ClientPaymentError(`The seller names a payee that is not an address: ${payTo}.`)
  if (!stated) throw new ClientPaymentError('The seller does not say what is paid for.')
  const text = (name: string) =>
    typeof extra[name] === 'string' && extra[name] !== '' ? extra[name] : null
  return {
    network,
    networkName,
    asset,
    native: (payee.family === 'evm' ? asset.toLowerCase() : asset) === NATIVE[payee.family],
    payTo: payee.address,
    amountAtomic: BigInt(amount),
    maxTimeoutSeconds,
    method: text('assetTransferMethod'),
    resource: stated,
    memo: text('memo') ?? text('paymentId'),
    feePayer: text('feePayer'),
    extra,
  }
}

function readV1(value: unknown): { requirements: Requirements; stated: ResourceInfo } {
  const { requirements, resource } = fromV1(parse(RequirementsV1, value))
  return { requirements, stated: resource }
}

function parse<S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, value)
  if (result.success) return result.output
  throw new ClientPaymentError(
    `The seller's terms are not readable: at ${v.getDotPath(result.issues[0]) ?? 'their root'}: ${explainIssue(result.issues[0])}`,
  )
}
