import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { feeOf, isUsedByAuthorization } from './landed.ts'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const { address } = account

test.each([
  ['its chain', 8453, true],
  ['every chain', 0, true],
  ['another chain', 1, false],
])('an authorization for %s uses a nonce: %s, %s', async (_, chainId, isUsed) => {
  const authorizationList = [
    await account.signAuthorization({ chainId, nonce: 7, address: `0x${'22'.repeat(20)}` }),
  ]
  const transactions = [{ chainId: 8453, authorizationList }]
  expect(await isUsedByAuthorization(transactions, { address, nonce: 7 })).toBe(isUsed)
  expect(await isUsedByAuthorization(transactions, { address, nonce: 8 })).toBe(false)
  const other = privateKeyToAccount(`0x${'33'.repeat(32)}`)
  expect(await isUsedByAuthorization(transactions, { address: other.address, nonce: 7 })).toBe(
    false,
  )
})

const CHARGED = { gasUsed: 21_000n, effectiveGasPrice: 7n, l1Fee: '0x10' }

test.each([
  ['no charge of the operator', {}, 0n],
  ['Isthmus', { operatorFeeScalar: '0x5b8d80', operatorFeeConstant: '0x3' }, 126_003n],
  [
    'Jovian',
    { operatorFeeScalar: '0x2', operatorFeeConstant: '0x3', daFootprintGasScalar: '0x190' },
    4_200_003n,
  ],
])('the fee of a receipt of a rollup has the charge of its operator: %s', (_, named, charge) => {
  expect(feeOf({ ...CHARGED, ...named })).toBe(21_000n * 7n + 16n + charge)
})
