import {
  concat,
  domainSeparator,
  keccak256,
  numberToHex,
  pad,
  size,
  stringToHex,
  type Hex,
} from 'viem'
import { digestOf, type Authorization } from '#chains/evm/authorization.ts'
import { AUTHORIZATION_TYPES } from '#chains/evm/signed-types.ts'

type Domain = Parameters<typeof digestOf>[1]

const FIELDS = AUTHORIZATION_TYPES.TransferWithAuthorization
const TYPE_HASH = keccak256(
  stringToHex(
    `TransferWithAuthorization(${FIELDS.map(({ type, name }) => `${type} ${name}`).join(',')})`,
  ),
)
/** Tokens are few: their number is bounded in case that changes. */
const MOST_SEPARATORS = 1_000
const separators = new Map<string, Hex>()

/**
 * `digestOf`, at a sixth of its cost for EIP-3009: the separator of a token is kept, and the fields are laid out by hand.
 * @throws for a field that has no such form, as `digestOf` does
 * @see EIP-712
 */
export function authorizationDigest(authorization: Authorization, domain: Domain): Hex {
  if (authorization.method === 'permit2') return digestOf(authorization, domain)
  const { token, from, to, amountAtomic, validAfter, validBefore, nonce } = authorization
  if (size(from) !== 20 || size(to) !== 20 || size(nonce) !== 32)
    throw new Error('Expected addresses of 20 bytes and a nonce of 32.')
  const words = [amountAtomic, validAfter, validBefore].map((value) =>
    numberToHex(value, { size: 32 }),
  )
  const struct = keccak256(concat([TYPE_HASH, pad(from), pad(to), ...words, nonce]))
  return keccak256(concat(['0x1901', separatorOf(token, domain), struct]))
}

function separatorOf(token: Hex, { name, version, chainId }: Domain): Hex {
  const key = JSON.stringify([token, name, version, chainId])
  const known = separators.get(key)
  if (known) return known
  const separator = domainSeparator({
    domain: { name, version, chainId, verifyingContract: token },
  })
  if (separators.size >= MOST_SEPARATORS) separators.clear()
  separators.set(key, separator)
  return separator
}
