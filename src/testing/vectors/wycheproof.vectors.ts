import { keccak_256 } from '@noble/hashes/sha3.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import { describe, expect, test } from 'vitest'
import * as v from 'valibot'
import { isHashSignedByEvm } from '#chains/evm/verify-signature.ts'
import { decrypt } from '#signer/seal.ts'
import { Ed25519Cases, signedCase, testEd25519, textOf, wycheproofCase } from './ed25519-cases.ts'
import { readCheckoutJson } from './read-vectors.ts'

describe('ECDSA on secp256k1', () => {
  const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
  const groups = readCheckoutJson(
    'wycheproof/testvectors_v1/ecdsa_secp256k1_sha256_p1363_test.json',
    v.object({
      testGroups: v.array(
        v.object({
          publicKey: v.object({ uncompressed: v.string() }),
          tests: v.array(v.object(signedCase)),
        }),
      ),
    }),
  ).testGroups
  const cases = groups.flatMap(({ publicKey, tests }) => {
    const point = hexToBytes(publicKey.uncompressed)
    const wallet = `0x${bytesToHex(keccak_256(point.subarray(1)).subarray(12))}`
    return tests.map((each) => ({ ...each, wallet }))
  })
  /** Either of the two endings that a wallet writes. */
  const accepts = ({ wallet, msg, sig }: (typeof cases)[number]) =>
    ['1b', '1c'].some((end) => isHashSignedByEvm(wallet, sha256(hexToBytes(msg)), `0x${sig}${end}`))
  const isLow = (sig: string) => sig.length === 128 && BigInt(`0x${sig.slice(64)}`) <= HALF_ORDER

  test('the suite is whole', () => {
    expect(cases).toHaveLength(252)
  })

  test.each(cases)('$tcId $result $comment', (each) => {
    expect(accepts(each)).toBe(each.result === 'valid' && isLow(each.sig))
  })

  test('the higher of the two forms of a valid signature is refused', () => {
    const high = cases.filter(({ result, sig }) => result === 'valid' && !isLow(sig))
    expect(high.length).toBeGreaterThan(20)
    expect(high.filter(accepts)).toEqual([])
  })
})

describe('Ed25519', () => {
  testEd25519(readCheckoutJson('wycheproof/testvectors_v1/ed25519_test.json', Ed25519Cases), 151)
})

describe('AES-GCM with a key of 256 bits, a nonce of 96 and a tag of 128', () => {
  const groups = readCheckoutJson(
    'wycheproof/testvectors_v1/aes_gcm_test.json',
    v.object({
      testGroups: v.array(
        v.object({
          ivSize: v.number(),
          keySize: v.number(),
          tagSize: v.number(),
          tests: v.array(
            v.object({
              ...wycheproofCase,
              key: v.string(),
              iv: v.string(),
              aad: v.string(),
              msg: v.string(),
              ct: v.string(),
              tag: v.string(),
            }),
          ),
        }),
      ),
    }),
  ).testGroups
  const cases = groups
    .filter(({ ivSize, keySize, tagSize }) => ivSize === 96 && keySize === 256 && tagSize === 128)
    .flatMap(({ tests }) => tests)
    .map((each) => ({ ...each, context: textOf(hexToBytes(each.aad)) }))
  const readable = cases.flatMap(({ context, ...each }) =>
    context === undefined ? [] : [{ ...each, context }],
  )

  test('the suite is whole; what we authenticate beside the plain text is text', () => {
    expect([cases.length, readable.length]).toEqual([66, 48])
  })

  test.each(readable)('$tcId $result $comment', ({ key, iv, tag, ct, msg, result, context }) => {
    const sealed = concatBytes(hexToBytes(iv), hexToBytes(tag), hexToBytes(ct))
    const open = () => bytesToHex(decrypt(hexToBytes(key), sealed, context))
    if (result === 'valid') expect(open()).toBe(msg)
    else expect(open).toThrow('unable to authenticate data')
  })
})
