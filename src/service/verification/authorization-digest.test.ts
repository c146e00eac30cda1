import { bytesToHex, type Hex } from 'viem'
import { expect, test } from 'vitest'
import { digestOf, type Authorization } from '#chains/evm/authorization.ts'
import { authorizationDigest } from './authorization-digest.ts'

const random = (size: number): Hex => bytesToHex(crypto.getRandomValues(new Uint8Array(size)))
const HIGHEST = 2n ** 256n - 1n
const pick = <T>(values: readonly [T, ...T[]]): T =>
  values[Math.floor(Math.random() * values.length)] ?? values[0]
const number = () => pick([0n, 1n, HIGHEST, 2n ** 255n, BigInt(random(32)), BigInt(random(3))])

function randomAuthorization(): Authorization {
  return {
    method: pick(['eip3009', 'eip3009', 'eip3009', 'permit2']),
    token: random(20),
    from: random(20),
    to: random(20),
    amountAtomic: number(),
    validAfter: number(),
    validBefore: number(),
    nonce: random(32),
    signature: '0x',
  }
}
const randomDomain = () => ({
  name: pick(['USD Coin', '', 'ÜSD 💰', 'a'.repeat(300)]),
  version: pick(['2', '1', '']),
  chainId: pick([1, 8_453, 31_337, 2 ** 40]),
})

test('the digest of 2,000 authorizations, of old and new tokens, is that of viem', () => {
  const tokens = Array.from({ length: 5 }, () => random(20))
  for (let round = 0; round < 2_000; round++) {
    const made = randomAuthorization()
    const authorization = round % 2 ? made : { ...made, token: tokens[round % 5] ?? made.token }
    const domain = randomDomain()
    expect(authorizationDigest(authorization, domain), `round ${round}`).toBe(
      digestOf(authorization, domain),
    )
  }
})

test.each<[string, Partial<Authorization>]>([
  ['a nonce of 31 bytes', { nonce: random(31) }],
  ['a nonce of 33 bytes', { nonce: random(33) }],
  ['a payer of 19 bytes', { from: random(19) }],
  ['a payee of 32 bytes', { to: random(32) }],
  ['an amount above 256 bits', { amountAtomic: HIGHEST + 1n }],
  ['a negative time', { validAfter: -1n }],
])('%s has no digest, here and in viem', (_, change) => {
  const authorization = { ...randomAuthorization(), method: 'eip3009' as const, ...change }
  const domain = randomDomain()
  expect(() => digestOf(authorization, domain)).toThrow(Error)
  expect(() => authorizationDigest(authorization, domain)).toThrow(Error)
})
