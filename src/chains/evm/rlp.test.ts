import fc from 'fast-check'
import { fromRlp, hexToBytes, toRlp, type Hex } from 'viem'
import { expect, test } from 'vitest'
import type { DecodeProblem } from '#contract/reasons.ts'
import { readRlp, RlpError } from './rlp.ts'

type Tree = Uint8Array | Tree[]

const { tree } = fc.letrec<{ tree: Tree; list: Tree[]; leaf: Uint8Array }>((tie) => ({
  tree: fc.oneof({ maxDepth: 3 }, tie('leaf'), tie('list')),
  list: fc.array(tie('tree'), { maxLength: 5 }),
  leaf: fc.oneof(fc.uint8Array({ maxLength: 4 }), fc.uint8Array({ minLength: 50, maxLength: 300 })),
}))

test('reads what viem writes', () => {
  fc.assert(
    fc.property(tree, (value) => {
      expect(readRlp(toRlp(value, 'bytes'))).toEqual(value)
    }),
    { numRuns: 2000 },
  )
})

test('accepts only the spelling that viem would write', () => {
  let accepted = 0
  const bytes = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 8 }),
    tree.chain((value) =>
      fc
        .tuple(fc.constant(toRlp(value, 'bytes')), fc.nat(), fc.nat(255))
        .map(([rlp, at, byte]) => rlp.with(at % rlp.length, byte)),
    ),
  )
  fc.assert(
    fc.property(bytes, (input) => {
      try {
        readRlp(input)
      } catch (error) {
        expect(error).toBeInstanceOf(RlpError)
        return
      }
      accepted++
      expect(toRlp(fromRlp(input, 'bytes'), 'bytes')).toEqual(input)
    }),
    { numRuns: 20_000 },
  )
  expect(accepted).toBeGreaterThan(1000)
})

test.each<[string, Hex, DecodeProblem['code']]>([
  ['nothing', '0x', 'cut_short'],
  ['a cut value', '0x83aabb', 'cut_short'],
  ['a cut list', '0xc2aa', 'cut_short'],
  ['a value beyond its list', '0xc183aabbcc', 'cut_short'],
  ['a tail', '0x0a00', 'trailing_bytes'],
  ['one small byte with a length', '0x8101', 'value_not_shortest'],
  ['a long length for a short value', '0xb801ff', 'length_not_shortest'],
  ['a length with leading zeros', `0xb90038${'aa'.repeat(56)}`, 'length_not_shortest'],
  ['a length of eight bytes', '0xbfffffffffffffffff', 'length_not_shortest'],
  ['lists without end', '0xc7c6c5c4c3c2c1c0', 'nested_too_deep'],
])('refuses %s', (_, hex, problem) => {
  expect(() => readRlp(hexToBytes(hex))).toThrow(problem)
})
