import { ed25519 } from '@noble/curves/ed25519.js'
import bs58 from 'bs58'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { verifySignature } from './signature.ts'

const secret = new Uint8Array(32).fill(5)
const signer = bs58.encode(ed25519.getPublicKey(secret))
const message = new TextEncoder().encode('a message')
const signature = ed25519.sign(message, secret)

/** Little-endian text of the y of a point; the identity has x = 0 and y = 1. */
const IDENTITY = new Uint8Array(32).with(0, 1)
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n

test('takes the signature of the signer and no other', () => {
  expect(verifySignature(signature, message, signer)).toBe(true)
  expect(
    verifySignature(signature, message, bs58.encode(ed25519.getPublicKey(secret.with(0, 6)))),
  ).toBe(false)
  fc.assert(
    fc.property(
      fc.nat(511),
      (bit) =>
        !verifySignature(
          signature.with(bit >> 3, (signature[bit >> 3] ?? 0) ^ (1 << (bit & 7))),
          message,
          signer,
        ),
    ),
    { numRuns: 200 },
  )
  fc.assert(
    fc.property(
      fc.uint8Array(),
      (other) => verifySignature(signature, other, signer) === (String(other) === String(message)),
    ),
    { numRuns: 200 },
  )
})

test('refuses the identity as a key: with it one signature is good for every message', () => {
  const forged = Uint8Array.from([...IDENTITY, ...new Uint8Array(32)])
  expect(ed25519.verify(forged, message, IDENTITY), 'the loose rules of ZIP-215 take it').toBe(true)
  expect(verifySignature(forged, message, bs58.encode(IDENTITY))).toBe(false)
})

test('refuses every key of small order, and a nonce point of small order', () => {
  for (const hex of [
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0000000000000000000000000000000000000000000000000000000000000080',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  ]) {
    const point = Uint8Array.from(Buffer.from(hex, 'hex'))
    expect(
      verifySignature(
        Uint8Array.from([...IDENTITY, ...new Uint8Array(32)]),
        message,
        bs58.encode(point),
      ),
    ).toBe(false)
    expect(
      verifySignature(Uint8Array.from([...point, ...signature.subarray(32)]), message, signer),
    ).toBe(false)
  }
})

test('refuses a scalar that is not reduced: the twin of a good signature', () => {
  const scalar =
    signature.subarray(32).reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n) + ORDER
  const twin = Uint8Array.from([
    ...signature.subarray(0, 32),
    ...Array.from({ length: 32 }, (_, index) => Number((scalar >> BigInt(8 * index)) & 0xffn)),
  ])
  expect(verifySignature(twin, message, signer)).toBe(false)
})

test('refuses what has not the right size or spelling, without a throw', () => {
  expect(verifySignature(signature.subarray(1), message, signer)).toBe(false)
  expect(verifySignature(signature, message, 'not base58 0OIl')).toBe(false)
  expect(verifySignature(signature, message, bs58.encode(new Uint8Array(31)))).toBe(false)
  expect(verifySignature(signature, message, bs58.encode(new Uint8Array(32).fill(0xff)))).toBe(
    false,
  )
})
