import { expect, test } from 'vitest'
import * as v from 'valibot'
import { checksumAddress } from '#contract/address.ts'
import { DecodeProblem } from '#contract/reasons.ts'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { parseVectors, readCheckout } from './read-vectors.ts'

const File = v.record(
  v.string(),
  v.object({
    txbytes: v.string(),
    result: v.object({
      London: v.object({
        exception: v.optional(v.string()),
        sender: v.optional(v.string()),
        hash: v.optional(v.string()),
      }),
    }),
  }),
)
const FOLDERS = [
  'Address',
  'EIP1559',
  'EIP2930',
  'GasLimit',
  'GasPrice',
  'Nonce',
  'RSValue',
  'Signature',
  'VValue',
  'Value',
  'WrongRLP',
]

const cases = FOLDERS.flatMap((folder) =>
  [...readCheckout(`ethereum-tests/TransactionTests/tt${folder}`)].flatMap(([path, bytes]) =>
    Object.values(parseVectors(bytes, File)).map(({ txbytes, result }) => ({
      path: path.slice(path.indexOf('/tt') + 1),
      bytes: Uint8Array.from(Buffer.from(txbytes.slice(2), 'hex')),
      ...result.London,
    })),
  ),
)

test('the suite is whole', () => {
  expect(cases).toHaveLength(197)
})

test.each(cases)(
  '$path is read as the chain reads it, or refused',
  ({ bytes, exception, sender, hash }) => {
    const decoded = decodeTransaction(bytes)
    // Read as type 2, most fail at the spelling of a field: none may throw.
    expect(decodeTransaction(Uint8Array.of(2, ...bytes)).ok).toBe(false)
    if (!decoded.ok) return expect(v.is(DecodeProblem, decoded.problem)).toBe(true)
    expect(exception).toBeUndefined()
    expect(decoded).toMatchObject({ sender: checksumAddress(sender ?? ''), hash })
  },
)
