import { hexToBytes, recoverTypedDataAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { addressFact, amountFact } from '#contract/facts.ts'
import type { Asset } from '#contract/network.ts'
import type { PaymentIntent } from '../match.ts'
import {
  authorizationTypedData,
  decodeAuthorization,
  describeAuthorization,
  encodeAuthorization,
  matchAuthorization,
  recoverSigner,
  signerOf,
  type TokenAuthorization,
} from './token-authorization.ts'

const payer = privateKeyToAccount(generatePrivateKey())
const payee = privateKeyToAccount(generatePrivateKey()).address
const USDC: Asset = {
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
}
const intent: PaymentIntent = {
  paymentId: 'x',
  network: 'eip155:31337',
  asset: USDC,
  sender: payer.address,
  recipient: payee,
  amountAtomic: 1_500_000n,
  maxFeeAtomic: 0n,
}
const LATEST = 2_000_000_000n

function authorization(
  change: Partial<TokenAuthorization['message']> = {},
  domain: Partial<TokenAuthorization['domain']> = {},
): TokenAuthorization {
  return {
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId: 31337,
      verifyingContract: USDC.address as `0x${string}`,
      ...domain,
    },
    message: {
      from: payer.address,
      to: payee,
      value: 1_500_000n,
      validAfter: 0n,
      validBefore: LATEST,
      nonce: `0x${'ab'.repeat(32)}`,
      ...change,
    },
  }
}

const matchOf = (one: TokenAuthorization) =>
  matchAuthorization(intent, encodeAuthorization(one), LATEST)

test('an authorization comes back from its bytes', () => {
  const decoded = decodeAuthorization(encodeAuthorization(authorization()))
  expect(decoded).toEqual({ ok: true, authorization: authorization() })
})

test.each([
  ['a space', (text: string) => text.replace(',', ', ')],
  [
    'another order',
    (text: string) =>
      text.replace('"domain"', '"message"').replace('"message":{"from"', '"domain":{"from"'),
  ],
  ['a field more', (text: string) => text.replace('"value"', '"extra":"1","value"')],
  ['a number with a zero in front', (text: string) => text.replace('"1500000"', '"01500000"')],
  ['a negative number', (text: string) => text.replace('"1500000"', '"-1500000"')],
  ['half of it', (text: string) => text.slice(0, 60)],
])('%s is not its one spelling', (_, change) => {
  const text = new TextDecoder().decode(encodeAuthorization(authorization()))
  expect(change(text)).not.toBe(text)
  expect(decodeAuthorization(new TextEncoder().encode(change(text))).ok).toBe(false)
})

test('the payment that was asked for matches, whatever its nonce', () => {
  const match = matchOf(authorization())
  expect(match.rows.filter(({ ok }) => !ok)).toEqual([])
  expect(match.ok).toBe(true)
  expect(matchOf(authorization({ nonce: `0x${'cd'.repeat(32)}` })).digest).toBe(match.digest)
})

test.each<[string, TokenAuthorization, string]>([
  ['another payer', authorization({ from: payee }), 'sender'],
  ['another payee', authorization({ to: USDC.address as `0x${string}` }), 'recipient'],
  ['one unit more', authorization({ value: 1_500_001n }), 'amount'],
  ['another token', authorization({}, { verifyingContract: payee }), 'asset'],
  ['another chain', authorization({}, { chainId: 1 }), 'network'],
  ['a second too long', authorization({ validBefore: LATEST + 1n }), 'expiry'],
  ['a window that never opens', authorization({ validAfter: LATEST }), 'expiry'],
])('%s does not match, and means something else', (_, one, field) => {
  const match = matchOf(one)
  expect(match.ok).toBe(false)
  expect(match.rows.filter(({ ok }) => !ok).map((row) => row.field)).toContain(field)
  if (field !== 'expiry') expect(match.digest).not.toBe(matchOf(authorization()).digest)
})

test('who signed is read from the signature, as viem reads it', async () => {
  const signature = await payer.signTypedData(authorizationTypedData(authorization()))
  expect(
    await recoverTypedDataAddress({ ...authorizationTypedData(authorization()), signature }),
  ).toBe(payer.address)
  expect(signerOf(authorization(), hexToBytes(signature))).toBe(payer.address)
  expect(signerOf(authorization({ value: 1n }), hexToBytes(signature))).not.toBe(payer.address)
})

test('a malleated signature, a short one and an odd last byte are nobody’s', async () => {
  const bytes = hexToBytes(await payer.signTypedData(authorizationTypedData(authorization())))
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const s = BigInt(
    `0x${Array.from(bytes.subarray(32, 64), (byte) => byte.toString(16).padStart(2, '0')).join('')}`,
  )
  const high = hexToBytes(`0x${(order - s).toString(16).padStart(64, '0')}`)
  const twin = Uint8Array.from([...bytes.subarray(0, 32), ...high, bytes[64] === 27 ? 28 : 27])
  expect(signerOf(authorization(), twin)).toBeUndefined()
  expect(signerOf(authorization(), bytes.subarray(0, 64))).toBeUndefined()
  expect(signerOf(authorization(), Uint8Array.from([...bytes.subarray(0, 64), 99]))).toBeUndefined()
  expect(recoverSigner(`0x${'00'.repeat(32)}`, new Uint8Array(65))).toBeUndefined()
})

test('the review tells it as one transfer', () => {
  expect(describeAuthorization(encodeAuthorization(authorization()), USDC)).toEqual([
    {
      kind: 'token_transfer',
      facts: {
        from: addressFact(payer.address),
        to: addressFact(payee),
        amount: amountFact(1_500_000n, USDC),
        token: addressFact(USDC.address),
      },
    },
  ])
})
