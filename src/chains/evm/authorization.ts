import {
  concat,
  decodeFunctionData,
  encodeFunctionData,
  hashTypedData,
  isAddressEqual,
  parseAbi,
  prepareEncodeFunctionData,
  slice,
  toHex,
  type Hex,
} from 'viem'
import { EXACT_PERMIT2_PROXY } from '#x402/authorization.ts'
import { AUTHORIZATION_TYPES, PERMIT2, PERMIT_TYPES } from './signed-types.ts'

/**
 * What a payer of tokens signed. Any account may submit it: it moves this amount of this token to
 * this payee once, or nothing.
 */
export type Authorization = {
  method: 'eip3009' | 'permit2'
  token: Hex
  from: Hex
  to: Hex
  amountAtomic: bigint
  /**
   * 32 bytes; scoped to the authorizer and this token (EIP-3009), or to the authorizer across
   * Permit2.
   */
  nonce: Hex
  /** Unix seconds. It lands only in a block after the first and before the second. */
  validAfter: bigint
  validBefore: bigint
  signature: Hex
}

/**
 * An authorization with a verified signature, and who signed it: the payer's key, or the payer's
 * contract (EIP-1271). The length of a signature does not tell them apart: a Safe with one owner
 * signs 65 bytes too.
 */
export type VerifiedAuthorization = Authorization & { signedBy: 'key' | 'contract' }

export const authorizationAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
])

export const proxyAbi = parseAbi([
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct Witness { address to; uint256 validAfter; }',
  'struct EIP2612Permit { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }',
  'event Settled()',
  'event SettledWithPermit()',
  'function settle(PermitTransferFrom permit, address owner, Witness witness, bytes signature)',
  'function settleWithPermit(EIP2612Permit permit2612, PermitTransferFrom permit, address owner, Witness witness, bytes signature)',
])

export const permit2Abi = parseAbi([
  'function nonceBitmap(address owner, uint256 word) view returns (uint256)',
  'event UnorderedNonceInvalidation(address indexed owner, uint256 word, uint256 mask)',
])

/** The call with a key's signature. Its selector is hashed once. */
const TRANSFER_BY_KEY = prepareEncodeFunctionData({
  abi: [authorizationAbi[0]],
  functionName: 'transferWithAuthorization',
})

/**
 * The call that executes an authorization. Nothing in it can be changed, and any account may send
 * it. A key's signature is passed to a token as v, r and s, which every EIP-3009 token accepts; a
 * contract's is passed as `bytes` (FiatTokenV2_2). No signature makes it throw.
 */
export function callOf(authorization: VerifiedAuthorization): { to: Hex; data: Hex } {
  const { method, token, from, to, amountAtomic, nonce, validAfter, validBefore, signedBy } =
    authorization
  const signature =
    signedBy === 'key' ? canonicalSignature(authorization.signature) : authorization.signature
  if (method === 'permit2') {
    const permit = {
      permitted: { token, amount: amountAtomic },
      nonce: BigInt(nonce),
      deadline: validBefore,
    }
    const data = encodeFunctionData({
      abi: proxyAbi,
      functionName: 'settle',
      args: [permit, from, { to, validAfter }, signature],
    })
    return { to: EXACT_PERMIT2_PROXY, data }
  }
  const terms = [from, to, amountAtomic, validAfter, validBefore, nonce] as const
  if (signedBy === 'contract' || signature.length !== ECDSA_LENGTH) {
    return {
      to: token,
      data: encodeFunctionData({
        abi: authorizationAbi,
        functionName: 'transferWithAuthorization',
        args: [...terms, signature],
      }),
    }
  }
  const args = [
    ...terms,
    lastByte(signature),
    slice(signature, 0, 32),
    slice(signature, 32, 64),
  ] as const
  return {
    to: token,
    data: encodeFunctionData({ ...TRANSFER_BY_KEY, args }),
  }
}

/** `0x` and the hex digits of a key's 65-byte signature. */
export const ECDSA_LENGTH = 132

/** The canonical form of a key's signature, with the recovery byte as contracts read it. */
export function canonicalSignature(signature: Hex): Hex {
  if (signature.length !== ECDSA_LENGTH || lastByte(signature) > 1) return signature
  return concat([slice(signature, 0, 64), toHex(lastByte(signature) + 27, { size: 1 })])
}

function lastByte(signature: Hex): number {
  return Number.parseInt(signature.slice(-2), 16)
}

/**
 * Whether a call to the proxy executes exactly this permit. The same nonce may be signed again, for
 * another token.
 */
export function carriesOut(
  authorization: Authorization,
  call: { to: string | null; input: Hex },
): boolean {
  if (call.to === null || !isAddressEqual(call.to as Hex, EXACT_PERMIT2_PROXY)) return false
  const permit = readPermit(call.input)
  return permit !== undefined && permit.nonce === authorization.nonce && pays(permit, authorization)
}

/** Whether a permit moves the same as an authorization: token, payer, payee and amount. */
export function pays(
  { owner, token, to, amountAtomic }: Permit,
  authorization: Pick<Authorization, 'from' | 'to' | 'token' | 'amountAtomic'>,
): boolean {
  return (
    amountAtomic === authorization.amountAtomic &&
    isAddressEqual(owner, authorization.from) &&
    isAddressEqual(to, authorization.to) &&
    isAddressEqual(token, authorization.token)
  )
}

export type Permit = { owner: Hex; token: Hex; to: Hex; amountAtomic: bigint; nonce: Hex }

/** The permit that a call to the proxy would execute; undefined for any other data. */
export function readPermit(data: Hex): Permit | undefined {
  try {
    const { functionName, args } = decodeFunctionData({ abi: proxyAbi, data })
    const [permit, owner, witness] = functionName === 'settle' ? args : [args[1], args[2], args[3]]
    return {
      owner,
      token: permit.permitted.token,
      to: witness.to,
      amountAtomic: permit.permitted.amount,
      nonce: toHex(permit.nonce, { size: 32 }),
    }
  } catch {
    return undefined
  }
}

/** The digest that the payer signs. `name` and `version`: the token's own, for EIP-3009. */
export function digestOf(
  authorization: Authorization,
  { chainId, name, version }: { chainId: number; name: string; version: string },
): Hex {
  const { method, token, from, to, amountAtomic, nonce, validAfter, validBefore } = authorization
  if (method === 'permit2') {
    return hashTypedData({
      domain: { name: 'Permit2', chainId, verifyingContract: PERMIT2 },
      types: PERMIT_TYPES,
      primaryType: 'PermitWitnessTransferFrom',
      message: {
        permitted: { token, amount: amountAtomic },
        spender: EXACT_PERMIT2_PROXY,
        nonce: BigInt(nonce),
        deadline: validBefore,
        witness: { to, validAfter },
      },
    })
  }
  return hashTypedData({
    domain: { name, version, chainId, verifyingContract: token },
    types: AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: { from, to, value: amountAtomic, validAfter, validBefore, nonce },
  })
}
