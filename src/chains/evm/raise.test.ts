import { hexToBytes, serializeTransaction } from 'viem'
import { expect, test } from 'vitest'
import { decodeTransaction } from './decode.ts'
import { feeBoundAtomic, maxFeeAtomic, priceOfPriorityFee } from './fee.ts'
import { raiseFees } from './raise.ts'

const GWEI = 10n ** 9n
const GAS = 21_000n
const NAMED = 10n ** 14n
const TIP = priceOfPriorityFee(NAMED, GAS)

function transferOf(maxFeePerGas: bigint): Uint8Array {
  const fees = { gas: GAS, maxFeePerGas, maxPriorityFeePerGas: TIP }
  const to = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
  return hexToBytes(serializeTransaction({ type: 'eip1559', chainId: 1, nonce: 3, to, ...fees }))
}

/** The base fee has risen to this, and the payer's own priority fee is offered again. */
function raisedAt(baseFee: bigint, previous: Uint8Array) {
  const market = { maxFeePerGas: 2n * baseFee + TIP, maxPriorityFeePerGas: TIP }
  const bytes = raiseFees(previous, market, { maxFeeAtomic: maxFeeAtomic(NAMED), pooled: true })
  const decoded = bytes && decodeTransaction(bytes)
  return decoded && decoded.ok ? { ...decoded, bytes } : undefined
}

test('a replacement offers an eighth more than the priority fee that was named, and never more than the cap of all that its gas may cost', () => {
  let newest = transferOf(2n * GWEI + TIP)
  let leastTip = TIP
  let replacements = 0
  for (let baseFee = 2n * GWEI; baseFee < 1_000n * GWEI; baseFee *= 2n) {
    const raised = raisedAt(baseFee, newest)
    if (!raised) break
    leastTip = (leastTip * 9n + 7n) / 8n
    expect(raised).toMatchObject({ nonce: 3, maxPriorityFeePerGas: leastTip })
    expect(feeBoundAtomic(raised)).toBeLessThanOrEqual(maxFeeAtomic(NAMED))
    newest = raised.bytes
    replacements++
  }
  expect(replacements).toBeGreaterThan(3)
  expect(raisedAt(1_000n * GWEI, newest)).toBeUndefined()
})

test('nothing is replaced while the first offer is still good', () => {
  expect(raisedAt(GWEI, transferOf(2n * GWEI + TIP))).toBeUndefined()
})
