import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import bs58 from 'bs58'
import { expect, test } from 'vitest'
import * as v from 'valibot'
import { isHashSignedByEvm } from '#chains/evm/verify-signature.ts'
import { isSignedBySolana, verifySignature } from '#chains/solana/signature.ts'
import { decrypt } from '#signer/seal.ts'

/** What each case of Wycheproof says of itself. */
const wycheproofCase = {
  tcId: v.number(),
  comment: v.string(),
  flags: v.array(v.string()),
  result: v.picklist(['valid', 'invalid', 'acceptable']),
}
const signedCase = { ...wycheproofCase, msg: v.string(), sig: v.string() }

export const Ed25519Cases = v.object({
  testGroups: v.array(
    v.object({ publicKey: v.object({ pk: v.string() }), tests: v.array(v.object(signedCase)) }),
  ),
})

/** The signatures of Solana with every case. */
export function testEd25519({ testGroups }: v.InferOutput<typeof Ed25519Cases>, count: number) {
  const cases = testGroups.flatMap(({ publicKey, tests }) =>
    tests.map((each) => ({ ...each, wallet: bs58.encode(hexToBytes(publicKey.pk)) })),
  )

  test('the suite is whole', () => {
    expect(cases).toHaveLength(count)
  })

  test.each(cases)('$tcId $result $comment', ({ wallet, msg, sig, result }) => {
    const message = hexToBytes(msg)
    expect(verifySignature(hexToBytes(sig), message, wallet)).toBe(result === 'valid')
    const text = textOf(message)
    if (text !== undefined)
      expect(isSignedBySolana(wallet, text, bs58.encode(hexToBytes(sig)))).toBe(result === 'valid')
  })
}

export const Secp256k1Cases = v.object({
  testGroups: v.array(
    v.object({
      publicKey: v.object({ uncompressed: v.string() }),
      tests: v.array(v.object(signedCase)),
    }),
  ),
})

const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** The signatures of EVM wallets with every case, written as r and s. */
export function testSecp256k1({ testGroups }: v.InferOutput<typeof Secp256k1Cases>, count: number) {
  const cases = testGroups.flatMap(({ publicKey, tests }) => {
    const point = hexToBytes(publicKey.uncompressed)
    const wallet = `0x${bytesToHex(keccak_256(point.subarray(1)).subarray(12))}`
    return tests.map((each) => ({ ...each, wallet }))
  })
  /** Either of the two endings that a wallet writes. */
  const accepts = ({ wallet, msg, sig }: (typeof cases)[number]) =>
    ['1b', '1c'].some((end) => isHashSignedByEvm(wallet, sha256(hexToBytes(msg)), `0x${sig}${end}`))
  const isLow = (sig: string) => sig.length === 128 && BigInt(`0x${sig.slice(64)}`) <= HALF_ORDER

  test('the suite is whole', () => {
    expect(cases).toHaveLength(count)
  })

  test.each(cases)('$tcId $result $comment', (each) => {
    expect(accepts(each)).toBe(each.result === 'valid' && isLow(each.sig))
  })

  test('the higher of the two forms of a valid signature is refused', () => {
    const high = cases.filter(({ result, sig }) => result === 'valid' && !isLow(sig))
    expect(high.length).toBeGreaterThan(20)
    expect(high.filter(accepts)).toEqual([])
  })
}

export const AesGcmCases = v.object({
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
})

/** What opens sealed keys, with every case of its sizes: a key of 256 bits, a nonce of 96 and a tag of 128. */
export function testAesGcm(
  { testGroups }: v.InferOutput<typeof AesGcmCases>,
  counts: { all: number; withText: number },
) {
  const cases = testGroups
    .filter(({ ivSize, keySize, tagSize }) => ivSize === 96 && keySize === 256 && tagSize === 128)
    .flatMap(({ tests }) => tests)
    .map((each) => ({ ...each, context: textOf(hexToBytes(each.aad)) }))
  const readable = cases.flatMap(({ context, ...each }) =>
    context === undefined ? [] : [{ ...each, context }],
  )

  test('the suite is whole; what we authenticate beside the plain text is text', () => {
    expect({ all: cases.length, withText: readable.length }).toEqual(counts)
  })

  test.each(readable)('$tcId $result $comment', ({ key, iv, tag, ct, msg, result, context }) => {
    const sealed = concatBytes(hexToBytes(iv), hexToBytes(tag), hexToBytes(ct))
    const open = () => bytesToHex(decrypt(hexToBytes(key), sealed, context))
    if (result === 'valid') expect(open()).toBe(msg)
    else expect(open).toThrow('unable to authenticate data')
  })
}

/** The text that has these bytes; undefined where none has. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
