import { hexToBytes, serializeTransaction, type Hex } from 'viem'
import { expect, test } from 'vitest'
import { addressFact, amountFact } from '#contract/facts.ts'
import type { Asset } from '#contract/network.ts'
import type { PaymentIntent } from '../match.ts'
import { callOf, type VerifiedAuthorization } from './authorization.ts'
import { describeSettlement, matchSettlement } from './settlement.ts'

const USDC: Asset = {
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const PAYER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const PAYEE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const authorization: VerifiedAuthorization = {
  method: 'eip3009',
  token: USDC.address as Hex,
  from: PAYER,
  to: PAYEE,
  amountAtomic: 1_000_000n,
  nonce: `0x${'ab'.repeat(32)}`,
  validAfter: 0n,
  validBefore: 2_000_000_000n,
  signature: `0x${'11'.repeat(64)}1b`,
  signedBy: 'key',
}
const intent: PaymentIntent = {
  paymentId: 'x',
  network: 'eip155:31337',
  asset: USDC,
  sender: PAYEE,
  recipient: PAYEE,
  amountAtomic: 1_000_000n,
  maxFeeAtomic: 10n ** 15n,
}

function transaction(
  change: { to?: Hex; data?: Hex; value?: bigint; gas?: bigint; chainId?: number } = {},
): Uint8Array {
  const fields = {
    chainId: 31337,
    nonce: 3,
    gas: 100_000n,
    maxFeePerGas: 1_000_000_000n,
    maxPriorityFeePerGas: 1n,
    value: 0n,
    ...callOf(authorization),
    ...change,
  }
  return hexToBytes(serializeTransaction({ type: 'eip1559', ...fields }))
}

test('the call that carries the authorization out matches', () => {
  const match = matchSettlement(intent, authorization, transaction())
  expect(match.rows.filter(({ ok }) => !ok)).toEqual([])
  expect(match.ok).toBe(true)
})

test.each([65, 130])(
  'the call for a contract’s signature of %i bytes matches as well',
  (length) => {
    const signed = {
      ...authorization,
      signature: `0x${'1f'.repeat(length)}`,
      signedBy: 'contract',
    } as const
    expect(matchSettlement(intent, signed, transaction(callOf(signed))).ok).toBe(true)
    expect(
      matchSettlement(intent, { ...signed, amountAtomic: 2_000_000n }, transaction(callOf(signed)))
        .ok,
    ).toBe(false)
  },
)

test.each<[string, Uint8Array, string]>([
  ['another contract', transaction({ to: PAYER }), 'instructions'],
  [
    'another call',
    transaction({ data: callOf({ ...authorization, to: PAYER }).data }),
    'instructions',
  ],
  ['ether beside it', transaction({ value: 1n }), 'instructions'],
  ['one byte more', transaction({ data: `${callOf(authorization).data}00` }), 'instructions'],
  ['another chain', transaction({ chainId: 1 }), 'network'],
  ['a fee above the cap', transaction({ gas: 10_000_000n }), 'fee'],
])('%s does not', (_, bytes, field) => {
  const match = matchSettlement(intent, authorization, bytes)
  expect(match.ok).toBe(false)
  expect(match.rows.filter(({ ok }) => !ok).map((row) => row.field)).toContain(field)
})

test.each<[string, Partial<VerifiedAuthorization>, string]>([
  ['to another recipient', { to: PAYER }, 'recipient'],
  ['of less', { amountAtomic: 1n }, 'amount'],
  ['of another token', { token: PAYER }, 'asset'],
])('an authorization %s does not, even by its own call', (_, change, field) => {
  const other = { ...authorization, ...change }
  const match = matchSettlement(intent, other, transaction(callOf(other)))
  expect(match.rows.filter(({ ok }) => !ok).map((row) => row.field)).toContain(field)
})

test('the review tells whose tokens move where', () => {
  expect(describeSettlement(authorization, USDC)[0]?.facts).toEqual({
    from: addressFact(PAYER),
    to: addressFact(PAYEE),
    amount: amountFact(1_000_000n, USDC),
    token: addressFact(USDC.address),
  })
})
