import {
  keccak256,
  parseTransaction,
  toHex,
  type Hex,
  type TransactionSerializedEIP1559,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { readSignedEvm, readSignedSolana } from './signed-transaction.ts'

const account = privateKeyToAccount(generatePrivateKey())
const transaction = {
  type: 'eip1559',
  chainId: 31337,
  nonce: 3,
  gas: 21_000n,
  maxFeePerGas: 10n ** 10n,
  maxPriorityFeePerGas: 10n ** 9n,
  to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  value: 10n ** 16n,
} as const

/** What a node tells of a transaction that was sent. */
async function told(): Promise<{ answer: Record<string, string>; hash: string; raw: Hex }> {
  const raw = await account.signTransaction(transaction)
  const parsed = parseTransaction(raw as TransactionSerializedEIP1559)
  const { chainId, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, to, value } = transaction
  const fields = {
    chainId,
    nonce,
    gas,
    maxFeePerGas,
    maxPriorityFeePerGas,
    value,
    yParity: parsed.yParity ?? 0,
  }
  const quantities = Object.fromEntries(
    Object.entries(fields).map(([name, figure]) => [name, toHex(figure)]),
  )
  return {
    answer: {
      type: '0x2',
      ...quantities,
      to: to.toLowerCase(),
      input: '0x',
      r: parsed.r ?? '',
      s: parsed.s ?? '',
    },
    hash: keccak256(raw),
    raw,
  }
}

test('the bytes a payer signed come out of what a node tells, to the last bit', async () => {
  const { answer, hash, raw } = await told()
  expect(readSignedEvm(answer, hash)).toEqual({
    encoding: 'evm-rlp-signed',
    bytes: Buffer.from(raw.slice(2), 'hex').toString('base64'),
  })
})

test.each([
  ['another value', { value: '0x1' }],
  ['another signature', { r: `0x${'1'.repeat(64)}` }],
  ['another type', { type: '0x0' }],
  ['nonsense', { to: 'me' }],
])('%s is left out, since it is not the transaction of that hash', async (_, change) => {
  const { answer, hash } = await told()
  expect(readSignedEvm({ ...answer, ...change }, hash)).toBeNull()
})

test('an answer that is no transaction is left out', () => {
  expect(readSignedEvm(null, '0x')).toBeNull()
  expect(readSignedSolana(null, 'x')).toBeNull()
  expect(readSignedSolana({ transaction: ['AAAA', 'base64'] }, 'x')).toBeNull()
})
