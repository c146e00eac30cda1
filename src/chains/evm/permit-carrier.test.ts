import { expect, test } from 'vitest'
import { callOf, type VerifiedAuthorization } from './authorization.ts'
import { noncesWithin } from './token-permit.ts'

const word = (digit: string) => `0x${digit.repeat(40)}` as const
const permit: VerifiedAuthorization = {
  method: 'permit2',
  token: word('1'),
  from: word('2'),
  to: word('3'),
  amountAtomic: 5n,
  nonce: `0x${'4'.repeat(64)}`,
  validAfter: 0n,
  validBefore: 9n,
  signature: `0x${'5'.repeat(130)}`,
  signedBy: 'key',
}
const call = callOf(permit).data.slice(2)

test('a permit is found wherever it stands in the data, another of the same payment too', () => {
  const other = callOf({ ...permit, nonce: `0x${'6'.repeat(64)}` }).data.slice(2)
  expect(noncesWithin(permit, `0xabcd${call}00${other}`)).toEqual(
    new Set([permit.nonce, `0x${'6'.repeat(64)}`]),
  )
})

test('data of nothing but beginnings names no permit, and holds nobody up', () => {
  // Without its bounds this reads for more than a minute: the test's own time limit tells.
  expect(noncesWithin(permit, `0x${call.slice(0, 8).repeat(32_000)}${call}`).size).toBe(0)
})
