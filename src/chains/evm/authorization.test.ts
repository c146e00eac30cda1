import fc from 'fast-check'
import { bytesToHex, concat, decodeFunctionData, encodeAbiParameters, type Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import { authorizationAbi, callOf, proxyAbi, type VerifiedAuthorization } from './authorization.ts'

const word = (digit: string) => `0x${digit.repeat(40)}` as const
const authorization: VerifiedAuthorization = {
  method: 'eip3009',
  token: word('1'),
  from: word('2'),
  to: word('3'),
  amountAtomic: 5n,
  nonce: `0x${'4'.repeat(64)}`,
  validAfter: 7n,
  validBefore: 9n,
  signature: '0x',
  signedBy: 'key',
}
const TERMS = [word('2'), word('3'), 5n, 7n, 9n, authorization.nonce]

const signatures = fc
  .oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.uint8Array({ minLength: 65, maxLength: 65 }),
    fc.constantFrom(0, 1, 64, 65, 66, 130, 5_000).map((length) => new Uint8Array(length)),
  )
  .map((bytes) => bytesToHex(bytes))

const argsOf = (call: { data: Hex }) =>
  decodeFunctionData({ abi: authorizationAbi, data: call.data }).args

test('a contract’s signature of any length goes to the token byte for byte', () => {
  fc.assert(
    fc.property(signatures, (signature) => {
      expect(argsOf(callOf({ ...authorization, signature, signedBy: 'contract' }))).toEqual([
        ...TERMS,
        signature,
      ])
    }),
  )
})

test('a contract’s signature of any length goes to Permit2 byte for byte', () => {
  fc.assert(
    fc.property(signatures, (signature) => {
      const { data } = callOf({
        ...authorization,
        method: 'permit2',
        signature,
        signedBy: 'contract',
      })
      expect(decodeFunctionData({ abi: proxyAbi, data }).args?.at(-1)).toBe(signature)
    }),
  )
})

test('no signature makes a call throw', () => {
  const methods = fc.constantFrom('eip3009', 'permit2')
  fc.assert(
    fc.property(
      signatures,
      methods,
      fc.constantFrom('key', 'contract'),
      (signature, method, signedBy) => {
        expect(callOf({ ...authorization, method, signature, signedBy }).data).toMatch(
          /^0x[0-9a-f]+$/,
        )
      },
    ),
  )
})

describe('a key’s signature', () => {
  const [r, s] = [`0x${'a'.repeat(64)}`, `0x${'b'.repeat(64)}`] as const

  test.each([
    ['0x00', 27],
    ['0x01', 28],
    ['0x1b', 27],
    ['0x1c', 28],
  ] as const)(
    'that ends in %s goes to the token as v %i, r and s, and to Permit2 with that v',
    (last, byte) => {
      const signature = concat([r, s, last])
      expect(argsOf(callOf({ ...authorization, signature }))).toEqual([...TERMS, byte, r, s])
      const sent = concat([r, s, byte === 27 ? '0x1b' : '0x1c'])
      expect(callOf({ ...authorization, method: 'permit2', signature }).data).toContain(
        encodeAbiParameters([{ type: 'bytes' }], [sent]).slice(66),
      )
    },
  )
})
