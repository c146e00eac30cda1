import fc from 'fast-check'
import {
  bytesToHex,
  getAddress,
  hexToBytes,
  keccak256,
  parseTransaction,
  serializeTransaction,
  type Hex,
  type TransactionSerializable,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { addressFact, amountFact, countFact } from '#contract/facts.ts'
import { evmFacts, evmIntent, evmPayer, evmReviewed } from '#testing/chain-payments.ts'
import type { DecodeProblem } from '#contract/reasons.ts'
import { buildPayment } from './build.ts'
import { decodeTransaction } from './decode.ts'

const fields = {
  type: 'eip1559',
  chainId: 31337,
  to: evmIntent.recipient as Hex,
  value: evmIntent.amountAtomic,
  ...evmFacts,
} as const
const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => getAddress(bytesToHex(bytes)))
const payment = fc.record({
  chainId: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  recipient: address,
  amountAtomic: fc.bigInt(1n, 2n ** 256n - 1n),
  nonce: fc.nat(),
  gas: fc.bigInt(21_000n, 1_000_000n),
  fees: fc
    .tuple(fc.bigInt(0n, 10n ** 14n), fc.bigInt(0n, 10n ** 14n))
    .map(([a, b]): [bigint, bigint] => (a < b ? [a, b] : [b, a])),
})

function problemOf(bytes: Uint8Array | Hex): DecodeProblem['code'] | undefined {
  const decoded = decodeTransaction(typeof bytes === 'string' ? hexToBytes(bytes) : bytes)
  return decoded.ok ? undefined : decoded.problem.code
}

describe('what was built', () => {
  test('is the transaction that viem writes, byte for byte', () => {
    expect(bytesToHex(evmReviewed)).toBe(serializeTransaction(fields))
    expect(bytesToHex(evmReviewed)).toBe(
      '0x02f082 7a69 07 843b9aca00 84b2d05e00 825208 945aaeb6053f3e94c9b9a09f33669435e7ef1beaed 872386f26fc10000 80 c0'.replaceAll(
        ' ',
        '',
      ),
    )
  })

  test('reads back as what went in', () => {
    fc.assert(
      fc.property(
        payment,
        ({
          chainId,
          fees: [maxPriorityFeePerGas, maxFeePerGas],
          recipient,
          amountAtomic,
          nonce,
          gas,
        }) => {
          const facts = { nonce, gas, maxFeePerGas, maxPriorityFeePerGas }
          const decoded = decodeTransaction(
            buildPayment({
              ...evmIntent,
              network: `eip155:${chainId}`,
              recipient,
              amountAtomic,
              ...facts,
            }),
          )
          expect(decoded).toMatchObject({
            ok: true,
            form: 'unsigned',
            chainId,
            to: recipient,
            valueAtomic: amountAtomic,
            data: '0x',
            sender: null,
            hash: null,
            ...facts,
          })
          expect(decoded).toMatchObject({
            feeBoundAtomic: gas * maxFeePerGas,
            transfer: { sender: null, recipient, amountAtomic, memo: null },
          })
        },
      ),
      { numRuns: 2000 },
    )
  })

  test.each([
    ['another family', { network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' }],
    [
      'a token at the address of the native currency',
      { asset: { ...evmIntent.asset, native: false } },
    ],
    ['nothing', { amountAtomic: 0n }],
  ])('is never %s', (_, change) => {
    expect(() => buildPayment({ ...evmIntent, ...evmFacts, ...change })).toThrow(RangeError)
  })
})

describe('what was signed', () => {
  test('names its signer and its hash', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.nat(),
        async (key, nonce) => {
          const account = privateKeyToAccount(bytesToHex(key.with(0, 1).with(31, 1)))
          const signed = await account.signTransaction({ ...fields, nonce })
          expect(decodeTransaction(hexToBytes(signed))).toMatchObject({
            ok: true,
            form: 'signed',
            sender: account.address,
            hash: keccak256(signed),
            nonce,
          })
        },
      ),
      { numRuns: 200 },
    )
  })

  test('with a high s is refused: it is a second hash of the same payment', async () => {
    const signed = parseTransaction(await evmPayer.signTransaction(fields))
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const s = `0x${(order - BigInt(signed.s ?? 0)).toString(16).padStart(64, '0')}` as const
    expect(
      problemOf(
        serializeTransaction(fields, {
          r: signed.r ?? '0x',
          s,
          yParity: signed.yParity === 0 ? 1 : 0,
        }),
      ),
    ).toBe('high_s')
  })

  test.each<[string, bigint, bigint]>([
    ['r = 0', 0n, 1n],
    ['s = 0', 1n, 0n],
    ['r above the order', 2n ** 256n - 1n, 1n],
    // 5 is no x of a point on the curve.
    ['r off the curve', 5n, 1n],
  ])('with %s belongs to nobody', (_, r, s) => {
    const hex = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`
    expect(problemOf(serializeTransaction(fields, { r: hex(r), s: hex(s), yParity: 0 }))).toBe(
      'unrecoverable',
    )
  })
})

describe('is refused', () => {
  const serialize = (change: Partial<TransactionSerializable>) =>
    serializeTransaction({ ...fields, ...change } as TransactionSerializable)

  test.each<[string, Hex, DecodeProblem['code']]>([
    ['nothing', '0x', 'not_eip1559'],
    [
      'a legacy transaction',
      serializeTransaction({ chainId: 1, to: fields.to, gasPrice: 1n, gas: 21_000n }),
      'not_eip1559',
    ],
    [
      'type 1',
      serializeTransaction({
        type: 'eip2930',
        chainId: 1,
        to: fields.to,
        gasPrice: 1n,
        gas: 21_000n,
      }),
      'not_eip1559',
    ],
    [
      'an access list',
      serialize({ accessList: [{ address: fields.to, storageKeys: [] }] }),
      'access_list_present',
    ],
    ['a contract creation', serialize({ to: undefined }), 'creates_contract'],
    ['a tail', `${serializeTransaction(fields)}00`, 'trailing_bytes'],
    ['a cut', serializeTransaction(fields).slice(0, -2) as Hex, 'cut_short'],
    ['a value in the place of the list', '0x0280', 'wrong_field_count'],
    ['ten fields', '0x02ca01808080808080808080', 'wrong_field_count'],
    ['a list in the place of a value', '0x02c9c08080808080808080', 'access_list_malformed'],
    [
      'no chain',
      '0x02dd808080808094 5aaeb6053f3e94c9b9a09f33669435e7ef1beaed 8080c0'.replaceAll(
        ' ',
        '',
      ) as Hex,
      'no_chain',
    ],
    [
      'a number with leading zeros',
      '0x02df01820001808080 94 5aaeb6053f3e94c9b9a09f33669435e7ef1beaed 8080c0'.replaceAll(
        ' ',
        '',
      ) as Hex,
      'leading_zeros',
    ],
    [
      'a short recipient',
      '0x02cb0180808080 8211 11 8080c0'.replaceAll(' ', '') as Hex,
      'recipient_length',
    ],
    [
      'a tip above the fee',
      '0x02dd0180 02 01 80 94 5aaeb6053f3e94c9b9a09f33669435e7ef1beaed 8080c0'.replaceAll(
        ' ',
        '',
      ) as Hex,
      'priority_fee_above_fee',
    ],
    [
      'a largest fee beyond 256 bits',
      serialize({ gas: 2n ** 63n, maxFeePerGas: 2n ** 193n }),
      'fee_above_256_bits',
    ],
  ])('%s', (_, bytes, problem) => {
    expect(problemOf(bytes)).toBe(problem)
  })

  test('anything at all, without a throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(problemOf(bytes)).toBeTypeOf('string')
        expect(problemOf(Uint8Array.from([2, ...bytes]))).toBeTypeOf('string')
      }),
      { numRuns: 5000 },
    )
  })

  test('more than nodes pass on', () => {
    expect(problemOf(hexToBytes(serialize({ data: `0x${'00'.repeat(140_000)}` })))).toBe(
      'too_large',
    )
  })
})

test('a call is told as unknown, never as a transfer', () => {
  const decoded = decodeTransaction(
    hexToBytes(serializeTransaction({ ...fields, data: '0xa9059cbb00' })),
  )
  expect(decoded).toMatchObject({
    ok: true,
    transfer: null,
    steps: [
      { kind: 'fee_limit' },
      { kind: 'fee_price' },
      {
        kind: 'unknown',
        facts: {
          call: { code: 'call', params: { selector: '0xa9059cbb', call: 'irregular_transfer' } },
          bytes: countFact(5),
        },
      },
    ],
  })
})

const GWEI = { symbol: 'gwei', decimals: 9 }

test('the steps are told in the words of the network’s own currency', () => {
  const decoded = decodeTransaction(evmReviewed, { ...evmIntent.asset, symbol: 'POL' })
  expect(decoded).toMatchObject({
    steps: [
      {},
      {
        facts: {
          maxFeePerGas: amountFact(3n * 10n ** 9n, GWEI),
          maxPriorityFeePerGas: amountFact(10n ** 9n, GWEI),
        },
      },
      {
        kind: 'transfer',
        facts: {
          to: addressFact(evmIntent.recipient),
          amount: amountFact(10n ** 16n, { symbol: 'POL', decimals: 18 }),
        },
      },
    ],
  })
})
