import { afterAll, expect, test, vi } from 'vitest'
import { encodeFunctionData, erc20Abi } from 'viem'
import { intentTypedData } from '#contract/hosted-intent.ts'
import { EVM_NATIVE } from '#contract/address.ts'

// The wallet is a script of a page.
vi.stubGlobal('HTMLScriptElement', Event)
vi.stubGlobal('document', { currentScript: null })
vi.stubGlobal('location', new URL('http://shop.example/'))
afterAll(() => vi.unstubAllGlobals())
const { describeRequest } = await import('./questions.ts')

const TOKEN = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const USDC = {
  address: TOKEN,
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  native: false,
} as const
const MERCHANT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const OTHER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const domain = { name: 'Test', chainId: 31337, verifyingContract: USDC.address.toLowerCase() }

const ask = (primaryType: string, message: Record<string, unknown>, of = domain) =>
  describeRequest(
    { kind: 'typed_data', data: { types: {}, primaryType, domain: of, message } },
    'Buyer',
    [USDC],
  )

const hosted = intentTypedData({
  nonce: 'n',
  network: 'eip155:31337',
  from: OTHER,
  to: MERCHANT,
  asset: EVM_NATIVE,
  symbol: 'ETH',
  decimals: 18,
  amountAtomic: '20000000000000000',
  priorityFee: '',
  resource: '',
  description: '',
  reference: '',
  refundOf: '',
  expiresAt: 1,
})

const PAYING = [
  [
    'TransferWithAuthorization',
    { from: OTHER, to: MERCHANT.toLowerCase(), value: '1500000' },
    '1.5 USDC',
  ],
  [
    'PermitWitnessTransferFrom',
    {
      permitted: { token: USDC.address, amount: '2500000' },
      spender: OTHER,
      witness: { to: MERCHANT },
    },
    '2.5 USDC',
  ],
  ['HostedPayment', hosted.message, '0.02 ETH'],
] as const

test.each(PAYING)(
  '%s: the wallet shows what is paid to whom, and never says that it is free',
  (type, message, amount) => {
    const { title, explanation, facts, folded } = ask(type, message)
    expect(title).toBe('Sign this payment?')
    expect(explanation).toContain('This signature authorizes the payment.')
    expect(explanation).not.toContain('moves no money')
    expect(facts).toEqual(
      expect.arrayContaining([
        ['Amount', amount],
        ['To', MERCHANT],
      ]),
    )
    expect(folded?.text).toContain(type)
  },
)

test('a payment from a managed wallet never says that the signer pays', () => {
  const { explanation } = ask('HostedPayment', hosted.message)
  expect(explanation).toContain('Buyer approves a payment from a managed wallet')
  expect(explanation).not.toContain('From Buyer')
})

const encode = (functionName: 'transfer' | 'approve') =>
  encodeFunctionData({ abi: erc20Abi, functionName, args: [MERCHANT, 1_500_000n] })

test.each([
  ['a transfer of ETH', { to: MERCHANT, value: 1n, data: '0x' }, 'payment'],
  ['a transfer of a token', { to: TOKEN, value: 0n, data: encode('transfer') }, 'payment'],
  ['an approval', { to: TOKEN, value: 0n, data: encode('approve') }, 'transaction'],
  ['other data', { to: MERCHANT, value: 0n, data: '0x1234' }, 'transaction'],
] as const)('%s is called what it is, with the most that its fee can be', (_, call, kind) => {
  const { title, facts } = describeRequest(
    {
      kind: 'transaction',
      call: {
        from: OTHER,
        ...call,
        gas: 21_000n,
        maxFeePerGas: 10n ** 9n,
        maxPriorityFeePerGas: 0n,
      },
    },
    'Buyer',
    [USDC],
  )
  expect(title).toBe(`Send this ${kind}?`)
  expect(facts).toContainEqual(['Network fee', 'up to 0.000021 ETH'])
})

test.each(PAYING)('%s that cannot be read is not signed', (type) => {
  expect(() => ask(type, { value: 'all' })).toThrow('This wallet cannot read the payment.')
})

test.each([
  ['PaymentProof', 'It moves no money.'],
  ['PaymentEvidence', 'It moves no money.'],
  ['Permit', 'It may permit payments. Read it before you sign.'],
])('%s: the wallet says “%s”', (type, meaning) => {
  const { title, explanation, facts } = ask(type, { spender: OTHER })
  expect({ title, facts }).toEqual({ title: 'Sign this message?', facts: undefined })
  expect(explanation).toContain(meaning)
})

test('of texts only a sign-in is called free', () => {
  const meaning = (text: string) =>
    describeRequest({ kind: 'message', text }, 'Buyer', []).explanation
  expect(meaning('shop.example wants you to sign in with your Ethereum account:')).toContain(
    'It moves no money.',
  )
  expect(meaning('Pay from a managed wallet. Signing this moves money.')).not.toContain('no money')
})
