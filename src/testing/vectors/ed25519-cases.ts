import { hexToBytes } from '@noble/hashes/utils.js'
import bs58 from 'bs58'
import { expect, test } from 'vitest'
import * as v from 'valibot'
import { isSignedBySolana, verifySignature } from '#chains/solana/signature.ts'

/** What each case of Wycheproof says of itself. */
export const wycheproofCase = {
  tcId: v.number(),
  comment: v.string(),
  flags: v.array(v.string()),
  result: v.picklist(['valid', 'invalid', 'acceptable']),
}
export const signedCase = { ...wycheproofCase, msg: v.string(), sig: v.string() }

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

/** The text that has these bytes; undefined where none has. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
