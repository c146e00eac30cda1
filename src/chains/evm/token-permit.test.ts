import { hexToBytes, pad, recoverTypedDataAddress, toEventSelector, toHex, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { addressFact, amountFact, textFact } from '#contract/facts.ts'
import type { Asset } from '#contract/network.ts'
import { EXACT_PERMIT2_PROXY } from '#x402/authorization.ts'
import type { PaymentIntent } from '../match.ts'
import { digestOf, type Authorization } from './authorization.ts'
import { PERMIT2 } from './signed-types.ts'
import {
  countCarried,
  decodePermit,
  describePermit,
  encodePermit,
  matchPermit,
  permitSignerOf,
  permitTypedData,
  type TokenPermit,
} from './token-permit.ts'

const payer = privateKeyToAccount(generatePrivateKey())
const payee = privateKeyToAccount(generatePrivateKey()).address
const WETH: Asset = {
  address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
  symbol: 'WETH',
  name: 'Wrapped Ether',
  decimals: 18,
  native: false,
}
const intent: PaymentIntent = {
  paymentId: 'x',
  network: 'eip155:31337',
  asset: WETH,
  sender: payer.address,
  recipient: payee,
  amountAtomic: 25n * 10n ** 15n,
  maxFeeAtomic: 0n,
}
const LATEST = 2_000_000_000n

function permit(change: Partial<TokenPermit> = {}): TokenPermit {
  return {
    chainId: 31337,
    verifyingContract: PERMIT2,
    from: payer.address,
    token: WETH.address as `0x${string}`,
    amount: intent.amountAtomic,
    spender: EXACT_PERMIT2_PROXY,
    nonce: 7n,
    validAfter: 0n,
    deadline: LATEST,
    to: payee,
    ...change,
  }
}

const matchOf = (one: TokenPermit) => matchPermit(intent, encodePermit(one), LATEST)

test('a permit comes back from its bytes, and from no other spelling of them', () => {
  expect(decodePermit(encodePermit(permit()))).toEqual({ ok: true, permit: permit() })
  const text = new TextDecoder().decode(encodePermit(permit()))
  for (const other of [
    text.replace(',', ', '),
    text.replace('"nonce":"7"', '"nonce":"07"'),
    text.replace('{', '{"extra":1,'),
    text.slice(0, 50),
  ]) {
    expect(other).not.toBe(text)
    expect(decodePermit(new TextEncoder().encode(other)).ok).toBe(false)
  }
})

test('the payment that was asked for matches, whatever its nonce', () => {
  const match = matchOf(permit())
  expect(match.rows.filter(({ ok }) => !ok)).toEqual([])
  expect(match.ok).toBe(true)
  expect(matchOf(permit({ nonce: 8n })).digest).toBe(match.digest)
})

test.each<[string, Partial<TokenPermit>, string]>([
  ['another payer', { from: payee }, 'sender'],
  ['another payee', { to: PERMIT2 }, 'recipient'],
  ['one unit more', { amount: intent.amountAtomic + 1n }, 'amount'],
  ['another token', { token: payee }, 'asset'],
  ['a spender that could send it anywhere', { spender: payee }, 'spender'],
  ['another contract than Permit2', { verifyingContract: payee }, 'contract'],
  ['another chain', { chainId: 1 }, 'network'],
  ['a second too long', { deadline: LATEST + 1n }, 'expiry'],
  ['a window that never opens', { validAfter: LATEST }, 'expiry'],
])('%s does not match', (_, change, field) => {
  const match = matchOf(permit(change))
  expect(match.ok).toBe(false)
  expect(match.rows.filter(({ ok }) => !ok).map((row) => row.field)).toEqual([field])
})

test('native currency, and a payee that is the payer, are never permitted', () => {
  const fields = (changed: PaymentIntent, one: TokenPermit) =>
    matchPermit(changed, encodePermit(one), LATEST)
      .rows.filter(({ ok }) => !ok)
      .map(({ field }) => field)
  expect(fields({ ...intent, asset: { ...WETH, native: true } }, permit())).toEqual(['asset'])
  expect(fields({ ...intent, recipient: payer.address }, permit({ to: payer.address }))).toEqual([
    'recipient',
  ])
})

test('what a wallet signs is what the service checks, to the last bit', async () => {
  const typed = permitTypedData(permit())
  const signature = await payer.signTypedData(typed)
  const { token, amount: amountAtomic, from, to, validAfter, deadline: validBefore } = permit()
  const nonce = `0x${'00'.repeat(31)}07` as const
  const authorization = {
    method: 'permit2',
    token,
    from,
    to,
    amountAtomic,
    nonce,
    validAfter,
    validBefore,
    signature,
  } as const
  expect(await recoverTypedDataAddress({ ...typed, signature })).toBe(payer.address)
  expect(permitSignerOf(permit(), hexToBytes(signature))).toBe(payer.address)
  expect(permitSignerOf(permit({ to: PERMIT2 }), hexToBytes(signature))).not.toBe(payer.address)
  const digest = digestOf(authorization, { chainId: 31337, name: '', version: '' })
  expect(await payer.sign({ hash: digest })).toBe(signature)
})

test('the review tells who gets how much, and who may carry it out', () => {
  const [step] = describePermit(encodePermit(permit()), WETH)
  expect(step?.facts).toEqual({
    from: addressFact(payer.address),
    to: addressFact(payee),
    amount: amountFact(25n * 10n ** 15n, WETH),
    token: addressFact(WETH.address),
    spender: addressFact(EXACT_PERMIT2_PROXY),
    nonce: textFact('7'),
  })
})

describe('what a permit moved', () => {
  const event = (name: string, address: string, topics: string[] = [], data = '0x') => ({
    address,
    topics: [toEventSelector(name), ...topics] as Hex[],
    data: data as Hex,
  })
  const word = (address: string) => pad(address as Hex).toLowerCase()
  const moved = () =>
    event(
      'Transfer(address,address,uint256)',
      WETH.address,
      [word(payer.address), word(payee)],
      toHex(intent.amountAtomic, { size: 32 }),
    )
  const used = () =>
    event('AuthorizationUsed(address,bytes32)', WETH.address, [word(payer.address), pad('0x01')])
  const settled = () => event('Settled()', EXACT_PERMIT2_PROXY)
  const { from, to, token, amount: amountAtomic } = permit()
  const count = (...logs: ReturnType<typeof moved>[]) =>
    countCarried({ from, to, token, amountAtomic } as Authorization, logs)

  test('is told from what an authorization of its payer moved, on whichever side of the transfer the token writes the use', () => {
    const [before, after] = [
      [used(), moved()],
      [moved(), used()],
    ]
    const permitted = [moved(), settled()]
    for (const authorized of [before, after]) {
      expect(count(...authorized, ...permitted)).toBe(1)
      expect(count(...permitted, ...authorized)).toBe(1)
      expect(count(...authorized, ...authorized, ...permitted, ...permitted)).toBe(2)
      // The permit moved another token, which is silent.
      expect(count(...authorized, settled())).toBe(0)
      expect(count(...authorized, ...authorized, settled())).toBe(0)
    }
  })
})
