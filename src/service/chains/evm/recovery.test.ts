import { secp256k1 } from '@noble/curves/secp256k1.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  HALF_ORDER,
  recoverInJavaScript,
  recoverPublicKey,
  recoverWith,
  type Recover,
} from '#chains/evm/recover.ts'
import { readVendored } from '#testing/vectors/read-vectors.ts'
import { Secp256k1Cases, testSecp256k1 } from '#testing/vectors/wycheproof-cases.ts'
import { openRecovery, orInJavaScript } from './recovery.ts'

const failures: unknown[] = []

beforeAll(async () => {
  expect(await openRecovery((error) => failures.push(error))).toBe('libsecp256k1')
})
afterAll(() => recoverWith(recoverInJavaScript))

/** Random, and near the ends of what is valid, in r, s and both forms of s. */
function signatureOf(round: number): Parameters<Recover> {
  const hash = crypto.getRandomValues(new Uint8Array(32))
  const { ORDER } = secp256k1.Point.Fn
  const edges = [0n, 1n, 2n, HALF_ORDER, HALF_ORDER + 1n, ORDER - 1n, ORDER, ORDER + 1n]
  const signed = secp256k1.sign(hash, secp256k1.utils.randomSecretKey(), {
    prehash: false,
    lowS: false,
    format: 'recovered',
  })
  const compact = signed.slice(1)
  const edge = edges[Math.floor(round / 4) % edges.length] ?? 0n
  const bytes = Uint8Array.from({ length: 32 }, (_, at) =>
    Number((edge >> BigInt(8 * (31 - at))) & 255n),
  )
  if (round % 4 === 1) compact.set(bytes)
  if (round % 4 === 2) compact.set(bytes, 32)
  // Half of all r are the x of no point.
  if (round % 4 === 3) compact[31] = (compact[31] ?? 0) ^ 1
  return [hash, compact, ((signed[0] ?? 0) ^ (round % 8 === 7 ? 1 : 0)) === 1 ? 1 : 0]
}

test('libsecp256k1 recovers of 1,000 signatures, valid and not, what JavaScript recovers', () => {
  let valid = 0
  for (let round = 0; round < 1_000; round++) {
    const signed = signatureOf(round)
    const own = recoverPublicKey(...signed)
    const [, compact] = signed
    const isHigh = BigInt(`0x${Buffer.from(compact.subarray(32)).toString('hex')}`) > HALF_ORDER
    let expected: Uint8Array | undefined
    try {
      expected = isHigh ? undefined : recoverInJavaScript(...signed)
    } catch {
      expected = undefined
    }
    expect(own && Buffer.from(own).toString('hex'), `round ${round}`).toBe(
      expected && Buffer.from(expected).toString('hex'),
    )
    if (expected) valid++
  }
  expect(valid).toBeGreaterThan(200)
  expect(valid).toBeLessThan(800)
  expect(failures).toEqual([])
})

describe('ECDSA on secp256k1 by libsecp256k1', () => {
  testSecp256k1(readVendored('wycheproof/secp256k1.json.gz', Secp256k1Cases), 211)
})

test('an implementation that recovers another key, or accepts what nobody signed, is refused by name of the known signature', () => {
  const otherParity: Recover = (hash, compact, parity) =>
    recoverInJavaScript(hash, compact, parity === 1 ? 0 : 1)
  expect(() => recoverWith(otherParity)).toThrow('the known signature 0')
  const anybody: Recover = (...signed) => {
    try {
      return recoverInJavaScript(...signed)
    } catch {
      return new Uint8Array(65)
    }
  }
  expect(() => recoverWith(anybody)).toThrow('the known signature 2')
  // The one before stays.
  const [hash, compact, parity] = signatureOf(0)
  expect(() => recoverPublicKey(hash, compact, parity)).not.toThrow()
})

test('a library that fails while it works makes no signature one of nobody', () => {
  const signed = signatureOf(0)
  const failing = orInJavaScript(() => {
    throw new WebAssembly.RuntimeError('unreachable')
  })
  expect(failing(...signed)).toEqual(recoverInJavaScript(...signed))
  const refusing = orInJavaScript(() => 'Failed to recover public key.')
  expect(() => refusing(...signed)).toThrow('Failed to recover')
})
