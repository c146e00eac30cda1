import { expect, test } from 'vitest'
import { i18n } from '../../../locales/i18n.ts'
import { NATIVE_ETH, NATIVE_SOL, SOLANA_DEVNET, type Network } from '#contract/network.ts'
import { encodeHeader } from '#x402/header.ts'
import { writeChallenge, type Requirements } from '#x402/requirements.ts'
import type { ResourceResponse } from './send-request.ts'
import { isChallenge, isSameWay, readChallenge, type PaymentChallenge } from './challenge.ts'
import { lintChallenge } from '../ChallengeCard.tsx'
import { validateForPayer, validateTerms, UNUSABLE } from './usable.ts'

const USDC = {
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const chain = {
  name: 'Chain',
  rpcUrls: ['http://127.0.0.1:1'],
  testnet: true,
  blockTimeMs: 1000,
  confirmations: 1,
}
const networks: Network[] = [
  { ...chain, network: 'eip155:31337', assets: [NATIVE_ETH, USDC] },
  { ...chain, network: SOLANA_DEVNET, assets: [NATIVE_SOL] },
]
const ETH_PAYEE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const SOL_PAYEE = 'So11111111111111111111111111111111111111112'
const resource = {
  url: 'https://shop.example/a',
  description: 'An article',
  mimeType: 'text/plain',
}

function entry(change: Partial<Requirements> = {}): Requirements {
  const extra = { assetTransferMethod: 'txid', paymentFlow: 'upfront' }
  return {
    scheme: 'exact',
    network: 'eip155:31337',
    amount: '10',
    asset: NATIVE_ETH.address,
    payTo: ETH_PAYEE,
    maxTimeoutSeconds: 300,
    extra,
    ...change,
  }
}

function answerOf(
  accepts: readonly Requirements[],
  part: 'both' | 'header' | 'body' = 'both',
): ResourceResponse {
  const { header, body } = writeChallenge({ error: 'Payment required', resource, accepts })
  const headers: [string, string][] = part === 'body' ? [] : [['PAYMENT-REQUIRED', header]]
  return {
    status: 402,
    headers,
    body: new TextEncoder().encode(part === 'header' ? '{}' : JSON.stringify(body)),
    ms: 1,
  }
}

function challengeOf(answer: ResourceResponse): PaymentChallenge {
  const read = readChallenge(answer)
  if (!isChallenge(read)) throw new Error(JSON.stringify(read))
  return read
}

test('both versions of one offer are one offer', () => {
  const { offers, versions, error } = challengeOf(answerOf([entry(), entry({ amount: '20' })]))
  expect(versions).toEqual([2, 1])
  expect(error).toBe('Payment required')
  expect(offers.map(({ terms, entries }) => [terms.amountAtomic, Object.keys(entries)])).toEqual([
    [10n, ['1', '2']],
    [20n, ['1', '2']],
  ])
})

test.each(['header', 'body'] as const)('the %s alone is enough', (part) => {
  const { offers, versions } = challengeOf(answerOf([entry()], part))
  expect(versions).toEqual([part === 'header' ? 2 : 1])
  expect(offers[0]?.terms).toMatchObject({
    network: 'eip155:31337',
    payTo: ETH_PAYEE,
    amountAtomic: 10n,
    method: 'txid',
    resource,
  })
})

test('an entry that nobody can act on is told with its problem, and the others stay', () => {
  const { offers, unreadable } = challengeOf(
    answerOf([entry({ scheme: 'upto' }), entry()], 'header'),
  )
  expect(offers).toHaveLength(1)
  expect(unreadable).toEqual([
    { version: 2, problem: { code: 'offer_scheme', params: { scheme: 'upto' } } },
  ])
})

test.each<[string, ResourceResponse, unknown]>([
  [
    'nothing at all',
    { status: 402, headers: [], body: new Uint8Array(), ms: 0 },
    ['absent', 'absent'],
  ],
  [
    'an empty object',
    { status: 402, headers: [], body: new TextEncoder().encode('{}'), ms: 0 },
    ['absent', 'absent'],
  ],
  [
    'a page',
    { status: 402, headers: [], body: new TextEncoder().encode('<html>'), ms: 0 },
    ['absent', 'absent'],
  ],
  [
    'a header that is no base64',
    { status: 402, headers: [['payment-required', '{']], body: new Uint8Array(), ms: 0 },
    ['unreadable', 'absent'],
  ],
  [
    'a header of another version',
    {
      status: 402,
      headers: [['payment-required', encodeHeader({ x402Version: 3, accepts: [] })]],
      body: new Uint8Array(),
      ms: 0,
    },
    ['unreadable', 'absent'],
  ],
  [
    'a body without a list',
    {
      status: 402,
      headers: [],
      body: new TextEncoder().encode('{"x402Version":1,"accepts":{}}'),
      ms: 0,
    },
    ['absent', 'unreadable'],
  ],
])('%s is no challenge', (_, answer, problems) => {
  const read = readChallenge(answer)
  expect(isChallenge(read) ? 'a challenge' : read.problems.map(({ problem }) => problem)).toEqual(
    problems,
  )
})

const SOLANA = { network: SOLANA_DEVNET, asset: NATIVE_SOL.address, payTo: SOL_PAYEE }
const DOMAIN = { name: 'USD Coin', version: '2' }

test.each<[string, Partial<Requirements>, string]>([
  ['native ETH', {}, 'transaction_then_proof'],
  [
    'native SOL',
    { ...SOLANA, extra: { assetTransferMethod: 'native-transfer', memo: 'm' } },
    'signed_transfer',
  ],
  ['native SOL by default', { ...SOLANA, extra: { memo: 'm' } }, 'signed_transfer'],
  [
    'native SOL already sent',
    { ...SOLANA, extra: { assetTransferMethod: 'txid', paymentId: 'm' } },
    'transaction',
  ],
  ['USDC', { asset: USDC.address, extra: DOMAIN }, 'authorization'],
  ['USDC without its domain', { asset: USDC.address, extra: {} }, 'no_domain'],
  [
    'USDC by Permit2',
    { asset: USDC.address, extra: { ...DOMAIN, assetTransferMethod: 'permit2' } },
    'permit',
  ],
  [
    'USDC by a method nobody knows',
    { asset: USDC.address, extra: { ...DOMAIN, assetTransferMethod: 'other' } },
    'method',
  ],
  [
    'ETH as a signed transaction',
    { extra: { assetTransferMethod: 'signed-transaction' } },
    'method',
  ],
  ['SOL without a memo', { ...SOLANA, extra: {} }, 'no_memo'],
  ['SOL with a fee payer', { ...SOLANA, extra: { memo: 'm', feePayer: SOL_PAYEE } }, 'sponsored'],
  [
    'SOL already sent, with a fee payer',
    { ...SOLANA, extra: { memo: 'm', feePayer: SOL_PAYEE, assetTransferMethod: 'txid' } },
    'fee_payer',
  ],
  ['an unknown chain', { network: 'eip155:1' }, 'network'],
  ['an unknown token', { asset: ETH_PAYEE }, 'asset'],
  ['a payee of the other family', { payTo: SOL_PAYEE }, 'payee'],
])('%s: %s', (_, change, expected) => {
  const [offer] = challengeOf(answerOf([entry(change)], 'header')).offers
  if (!offer) throw new Error('The offer was not read.')
  const usable = validateTerms(offer.terms, networks)
  expect(usable.ok ? usable.way : usable.reason).toBe(expected)
})

test.each<[string, Partial<Requirements>, string, bigint, string]>([
  ['enough', {}, ETH_PAYEE.replace('7', '8'), 11n, 'ok'],
  ['too little', {}, 'me', 9n, 'short'],
  ['nothing for the fee', {}, 'me', 10n, 'short_fee'],
  [
    'exactly enough USDC, which needs no fee',
    { asset: USDC.address, extra: DOMAIN },
    'me',
    10n,
    'ok',
  ],
  ['one’s own account', {}, ETH_PAYEE, 100n, 'own'],
])('%s is judged by what the account holds', (_, change, address, held, expected) => {
  const [offer] = challengeOf(answerOf([entry(change)], 'header')).offers
  if (!offer) throw new Error('The offer was not read.')
  const usable = validateForPayer(offer.terms, validateTerms(offer.terms, networks), {
    address,
    balance: () => held,
  })
  expect(usable.ok ? 'ok' : usable.reason).toBe(expected)
})

test('a price that rose is the same way to pay; another payee is not', () => {
  const [first, dearer, other] = challengeOf(
    answerOf([entry(), entry({ amount: '20' }), entry({ payTo: USDC.address })], 'header'),
  ).offers
  if (!first || !dearer || !other) throw new Error('The offers were not read.')
  expect(isSameWay(first.terms, dearer.terms)).toBe(true)
  expect(isSameWay(first.terms, other.terms)).toBe(false)
})

test('a good challenge has nothing to better; a bare one has', () => {
  const good = answerOf([entry()])
  const kept: ResourceResponse = {
    ...good,
    headers: [...good.headers, ['cache-control', 'no-store']],
  }
  expect(lintChallenge(challengeOf(kept), kept, true)).toEqual([])
  const bare = answerOf([entry({ maxTimeoutSeconds: 5 })], 'body')
  expect(lintChallenge(challengeOf(bare), bare, true).map(({ fix }) => fix.split(':')[0])).toEqual([
    'Access-Control-Expose-Headers',
    'Cache-Control',
    '"maxTimeoutSeconds"',
  ])
})

test('every reason has words', () => {
  expect(Object.values(UNUSABLE).filter((words) => i18n._(words).length < 10)).toEqual([])
})
