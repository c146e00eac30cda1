import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { isUsedByAuthorization } from './landed.ts'

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
