import * as v from 'valibot'
import { bytesToHex, hashDomain, hashTypedData, hexToBytes, type Hex } from 'viem'
import { publicKeyToAddress } from 'viem/utils'
import { addressFact, amountFact, fact, networkFact, type MoneyAsset } from '#contract/facts.ts'
import { stringifyJson } from '#contract/json.ts'
import { chainIdOf, type NetworkId } from '#contract/network.ts'
import {
  type PaymentIntent,
  type Match,
  type MatchRow,
  type Step,
  conclude,
  equalRow,
  refuse,
} from '../match.ts'
import type { DecodeProblem } from '#contract/reasons.ts'
import { currencyFact } from './match.ts'
import { recoverPublicKey } from './recover.ts'
import {
  addressText,
  bytes32Text,
  chainIdNumber,
  digitsText,
  readSignedText,
  untilFact,
  AUTHORIZATION_TYPES,
} from './signed-types.ts'

const DOMAIN_TYPES = {
  EIP712Domain: [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
  ],
} as const

/**
 * A token transfer that the payer signs as a message and another account sends:
 * `transferWithAuthorization`. Its bytes, here and in the browser's journal, are the canonical JSON
 * of what is signed.
 * @see EIP-3009, EIP-712
 */
const Text = v.strictObject({
  domain: v.strictObject({
    name: v.string(),
    version: v.string(),
    chainId: chainIdNumber,
    verifyingContract: addressText,
  }),
  message: v.strictObject({
    from: addressText,
    to: addressText,
    value: digitsText,
    validAfter: digitsText,
    validBefore: digitsText,
    nonce: bytes32Text,
  }),
})
/** Times are Unix seconds; both ends are exclusive. */
export type TokenAuthorization = v.InferOutput<typeof Text>

export type DecodedAuthorization =
  | { ok: true; authorization: TokenAuthorization }
  | { ok: false; problem: DecodeProblem }

export function encodeAuthorization({ domain, message }: TokenAuthorization): Uint8Array {
  const { name, version, chainId, verifyingContract } = domain
  const { from, to, value, validAfter, validBefore, nonce } = message
  const spelled = {
    from,
    to,
    value: value.toString(),
    validAfter: validAfter.toString(),
    validBefore: validBefore.toString(),
    nonce,
  }
  return new TextEncoder().encode(
    stringifyJson({ domain: { name, version, chainId, verifyingContract }, message: spelled }),
  )
}

/**
 * Reads an authorization in its only valid encoding. Anything else, even one extra field, is a
 * problem.
 */
export function decodeAuthorization(bytes: Uint8Array): DecodedAuthorization {
  const read = readSignedText(bytes, Text, encodeAuthorization)
  return read.ok ? { ok: true, authorization: read.value } : read
}

/** The EIP-712 typed data of an authorization, as a wallet is asked to sign it. */
export function authorizationTypedData({ domain, message }: TokenAuthorization) {
  return {
    domain,
    types: AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization' as const,
    message,
  }
}

/** The `DOMAIN_SEPARATOR` that a token with this domain returns. */
export function domainSeparator({ domain }: Pick<TokenAuthorization, 'domain'>): Hex {
  return hashDomain({ domain: { ...domain, chainId: BigInt(domain.chainId) }, types: DOMAIN_TYPES })
}

/**
 * The account whose key signed an authorization; undefined for an invalid or malleable signature.
 */
export function signerOf(
  authorization: TokenAuthorization,
  signature: Uint8Array,
): string | undefined {
  return recoverSigner(hashTypedData(authorizationTypedData(authorization)), signature)
}

export function recoverSigner(hash: Hex, signature: Uint8Array): string | undefined {
  if (signature.length !== 65) return undefined
  const last = signature[64] ?? 0
  const recovery = last >= 27 ? last - 27 : last
  if (recovery !== 0 && recovery !== 1) return undefined
  const key = recoverPublicKey(hexToBytes(hash), signature.subarray(0, 64), recovery)
  return key && publicKeyToAddress(bytesToHex(key))
}

/**
 * Compares a payment with an authorization that is to be signed. `ok` means: any account that sends
 * it moves exactly this amount of this token from the payer to the recipient, once, before `latest`
 * (Unix seconds), or nothing; and the payer is charged nothing else.
 */
export function matchAuthorization(
  intent: PaymentIntent,
  bytes: Uint8Array,
  latest: bigint,
): Match {
  const decoded = decodeAuthorization(bytes)
  if (!decoded.ok) return refuse(decoded.problem, bytes)
  const { domain, message } = decoded.authorization
  const { asset } = intent
  const token = domain.verifyingContract.toLowerCase() === intent.asset.address.toLowerCase()
  const rows: MatchRow[] = [
    equalRow('network', [intent.network, `eip155:${domain.chainId}`], networkFact),
    equalRow('sender', [intent.sender, message.from]),
    {
      field: 'recipient',
      ok: message.to === intent.recipient && message.to !== intent.sender,
      expected: addressFact(intent.recipient),
      got: addressFact(message.to),
    },
    {
      field: 'amount',
      ok: message.value === intent.amountAtomic && message.value > 0n,
      expected: amountFact(intent.amountAtomic, asset),
      got: amountFact(message.value, asset),
    },
    {
      field: 'asset',
      ok: token && !intent.asset.native,
      expected: currencyFact(asset.symbol),
      got: token ? currencyFact(asset.symbol) : addressFact(domain.verifyingContract),
    },
    { field: 'fee', ok: true, expected: fact('nothing'), got: fact('nothing') },
    {
      field: 'expiry',
      ok: message.validBefore <= latest && message.validAfter < message.validBefore,
      expected: untilFact(latest),
      got: untilFact(message.validBefore),
    },
    {
      field: 'instructions',
      ok: true,
      expected: fact('one_signed_transfer'),
      got: fact('one_signed_transfer'),
    },
  ]
  return conclude(rows, ['evm-authorization', meaningOf(intent.network, decoded.authorization)])
}

/** The authorization as one step of the review. */
export function describeAuthorization(bytes: Uint8Array, asset: MoneyAsset): Step[] {
  const decoded = decodeAuthorization(bytes)
  if (!decoded.ok) return []
  const { from, to, value } = decoded.authorization.message
  return [
    {
      kind: 'token_transfer',
      facts: {
        from: addressFact(from),
        to: addressFact(to),
        amount: amountFact(value, asset),
        token: addressFact(decoded.authorization.domain.verifyingContract),
      },
    },
  ]
}

/** Everything that matters to the payer; the nonce and the times do not. */
function meaningOf(network: NetworkId, { domain, message }: TokenAuthorization): string {
  return [
    chainIdOf(network),
    domain.chainId,
    domain.verifyingContract.toLowerCase(),
    message.from,
    message.to,
    message.value,
  ].join(' ')
}
