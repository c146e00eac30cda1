import { expect, test } from 'vitest'
import { amountFact, fact } from '#contract/facts.ts'
import { NATIVE_ETH, type Network } from '#contract/network.ts'
import type { Check } from '../../payment-view/check.ts'
import { refundPath } from '../../payment-view/mispaid.ts'
import { mispaidOf } from './ProofView.tsx'

const network: Network = {
  network: 'eip155:31337',
  name: 'Chain',
  rpcUrls: ['http://127.0.0.1:1'],
  testnet: true,
  blockTimeMs: 1000,
  confirmations: 1,
  assets: [NATIVE_ETH],
}
const expected = {
  network,
  asset: NATIVE_ETH,
  wallet: '0xwallet',
  amountAtomic: 10n,
  resource: null,
  memo: null,
}
const check = (
  name: string,
  state: Check['state'],
  got: Check['got'] = fact('none'),
  source: Check['source'] = 'chain',
): Check => ({
  name,
  source,
  state,
  expected: fact('none'),
  got,
})
const came = amountFact('20000000000000000', NATIVE_ETH)
const checks = [
  check('transaction', 'ok'),
  check('recipient', 'ok'),
  check('asset', 'ok'),
  check('amount', 'bad', came),
]
const known = { checks, transaction: '0xabc', payer: '0xpayer' }

test('what came in another amount leads to the checkout with all of it filled in', () => {
  const found = mispaidOf(known, expected, 1)
  expect(found).toMatchObject({
    cameAtomic: '20000000000000000',
    expectedAtomic: '10',
    wallet: '0xwallet',
    at: 1,
  })
  const path = found ? refundPath(found, { decimals: 18, description: 'Back' }) : ''
  expect(Object.fromEntries(new URL(path, 'http://x').searchParams)).toMatchObject({
    to: '0xpayer',
    amount: '0.02',
    network: 'eip155:31337',
    asset: NATIVE_ETH.address,
    reference: '0xabc',
  })
})

const without = (name: string, ...instead: Check[]) => [
  ...checks.filter((each) => each.name !== name),
  ...instead,
]
test.each([
  ['the right amount', { ...known, checks: without('amount', check('amount', 'ok', came)) }],
  [
    'an amount that only the proof claims',
    { ...known, checks: without('amount', check('amount', 'bad', came, 'local')) },
  ],
  [
    'another currency',
    {
      ...known,
      checks: without(
        'amount',
        check('amount', 'bad', amountFact('20000', { symbol: 'USDC', decimals: 6 })),
      ),
    },
  ],
  [
    'a transaction that failed',
    { ...known, checks: without('transaction', check('transaction', 'bad')) },
  ],
  [
    'the money of another account',
    { ...known, checks: without('recipient', check('recipient', 'bad')) },
  ],
  ['a payer nobody knows', { ...known, payer: null }],
  ['nothing on the chain', { ...known, checks: [] }],
])('%s is not sent back', (_, of) => {
  expect(mispaidOf(of, expected, 1)).toBeUndefined()
})
