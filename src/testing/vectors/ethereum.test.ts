import { hashTypedData, type Hex } from 'viem'
import { expect, test } from 'vitest'
import * as v from 'valibot'
import { checksumAddress } from '#contract/address.ts'
import { decodeTransaction } from '#chains/evm/decode.ts'
import { readVendored } from './read-vectors.ts'

const hex = v.pipe(
  v.string(),
  v.regex(/^0x[0-9a-f]*$/),
  v.transform((text) => text as Hex),
)
const bytesOf = (text: Hex) => Uint8Array.from(Buffer.from(text.slice(2), 'hex'))

const typed = readVendored(
  'ethers/eip712.json.gz',
  v.array(
    v.object({
      name: v.string(),
      domain: v.record(v.string(), v.unknown()),
      primaryType: v.string(),
      types: v.record(v.string(), v.array(v.object({ name: v.string(), type: v.string() }))),
      data: v.record(v.string(), v.unknown()),
      digest: hex,
    }),
  ),
)

test('the typed data is whole', () => {
  expect(typed).toHaveLength(1025)
})

test.each(typed)('typed data $name has the hash that ethers computes', (each) => {
  const { domain, primaryType, types, data, digest } = each
  expect(hashTypedData({ domain, primaryType, types, message: data })).toBe(digest)
})

const quantity = v.optional(v.union([v.pipe(v.string(), v.regex(/^0x/)), v.number()]), '0x0')
const transactions = readVendored(
  'ethers/typed-transactions.json.gz',
  v.array(
    v.object({
      name: v.string(),
      address: hex,
      signed: hex,
      unsigned: hex,
      tx: v.object({
        type: v.number(),
        chainId: quantity,
        nonce: quantity,
        gasLimit: quantity,
        maxFeePerGas: quantity,
        maxPriorityFeePerGas: quantity,
        value: quantity,
        to: v.optional(v.string()),
        data: v.optional(hex, '0x'),
        accessList: v.optional(v.array(v.unknown()), []),
      }),
    }),
  ),
)
type Vector = (typeof transactions)[number]

/** The code of the reason why our reader, which reads payments only, refuses a valid transaction. */
function expectedProblem({ tx }: Vector): string | undefined {
  if (tx.type !== 2) return 'not_eip1559'
  if (tx.accessList.length > 0) return 'access_list_present'
  if (BigInt(tx.maxPriorityFeePerGas) > BigInt(tx.maxFeePerGas)) return 'priority_fee_above_fee'
  if (tx.to === undefined) return 'creates_contract'
  if (BigInt(tx.chainId) === 0n) return 'no_chain'
  return undefined
}

const read = transactions.filter((vector) => expectedProblem(vector) === undefined)
const refused = transactions.filter((vector) => expectedProblem(vector) !== undefined)

test('the transactions are whole, and a good part is ours to read', () => {
  expect([read.length, refused.length]).toEqual([184, 1608])
})

test.each(read)('$name is read field by field', ({ signed, unsigned, address, tx }) => {
  const fields = {
    ok: true,
    chainId: Number(tx.chainId),
    nonce: Number(tx.nonce),
    gas: BigInt(tx.gasLimit),
    maxFeePerGas: BigInt(tx.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(tx.maxPriorityFeePerGas),
    valueAtomic: BigInt(tx.value),
    to: checksumAddress(tx.to ?? ''),
    data: tx.data,
  }
  expect(decodeTransaction(bytesOf(unsigned))).toMatchObject({ ...fields, sender: null })
  expect(decodeTransaction(bytesOf(signed))).toMatchObject({
    ...fields,
    sender: checksumAddress(address),
  })
})

test.each(refused)('$name is refused with its reason', (vector) => {
  const problem = { code: expectedProblem(vector), params: {} }
  for (const text of [vector.signed, vector.unsigned])
    expect(decodeTransaction(bytesOf(text))).toEqual({ ok: false, problem })
})

test('no transaction of the time before EIP-1559 is read', () => {
  const legacy = readVendored('ethers/legacy-transactions.json.gz', v.array(hex))
  expect(legacy).toHaveLength(1200)
  for (const text of legacy) expect(decodeTransaction(bytesOf(text))).toMatchObject({ ok: false })
})

test('one byte more or less is refused, wherever it is missing', () => {
  for (const { signed } of read) {
    const bytes = bytesOf(signed)
    expect(decodeTransaction(Uint8Array.from([...bytes, 0]))).toMatchObject({ ok: false })
    for (let index = 0; index < bytes.length; index += 7)
      expect(
        decodeTransaction(Uint8Array.from([...bytes.slice(0, index), ...bytes.slice(index + 1)])),
      ).toMatchObject({ ok: false })
  }
})
