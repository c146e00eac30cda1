import { expect, onTestFinished, test, vi } from 'vitest'
import { setPreferences } from '../../local-data/preferences.ts'
import { TestDependencies } from '../testing/test-dependencies.ts'
import { buttonAmountOf, describeSimulator, describeSlowBuild, progressOf } from './words.ts'

const usdc = { address: 'usdc', symbol: 'USDC', name: 'USD Coin', decimals: 6, native: false }

test('the button writes an amount with the decimal point of the reader, short or cut', () => {
  // The theme is set on the document.
  vi.stubGlobal('document', { documentElement: { dataset: {} } })
  onTestFinished(() => {
    setPreferences({ numbers: 'auto' })
    vi.unstubAllGlobals()
  })
  setPreferences({ numbers: 'de-DE' })
  expect(buttonAmountOf({ amountAtomic: 1_234_000n, asset: usdc })).toBe('1,234 USDC')
  expect(buttonAmountOf({ amountAtomic: 1_234_000_000n, asset: usdc })).toBe('1.234 USDC')
  expect(buttonAmountOf({ amountAtomic: 1_234_567_891_234n, asset: usdc })).toBe(
    '1.234.567,891234 USDC',
  )
  setPreferences({ numbers: 'en-US' })
  expect(buttonAmountOf({ amountAtomic: 1_234_000n, asset: usdc })).toBe('1.234 USDC')
})

test('a payment that takes long to prepare points to the wallet where it may ask to switch networks', () => {
  const [evm, solana] = [
    new TestDependencies('evm').order(),
    new TestDependencies('solana').order(),
  ]
  expect(describeSlowBuild(evm)).toContain('Test Wallet asks to switch networks')
  expect(describeSlowBuild(solana)).toBe('The network is slow.')
  // The wallet that reads a code is not connected here.
  expect(describeSlowBuild({ ...evm, byCode: true })).toBe('The network is slow.')
})

test('only a simulation that an endpoint ran is said to be one, and only a sole endpoint is named', () => {
  const one = ['https://one.example/key']
  const two = [...one, 'https://two.example']
  expect(describeSimulator({ state: 'passed' }, one)).toBe('By your RPC endpoint one.example')
  expect(describeSimulator({ state: 'failed' }, two)).toBe('By your RPC endpoint')
  expect(describeSimulator({ state: 'running' }, one)).toBe('Simulating')
  expect(describeSimulator({ state: 'unavailable' }, one)).toBe('Not available')
})

test('a payment that no node has is not told like one that no node could be asked for, and sent only where that is certain', () => {
  const order = new TestDependencies('evm').order()
  const built = {
    paymentId: 'pay_1',
    bytes: new Uint8Array(),
    lastValidBlockHeight: 10,
    deadlineAt: 1,
    builtHeight: 1,
    nonce: 0,
    maxFeeAtomic: 1n,
    digest: '',
  }
  const words = (
    bytes: Uint8Array | null,
    more: { unavailable?: boolean; reason?: 'wallet_lost' | 'not_seen' } = {},
  ) => {
    const { title, body } = progressOf({
      step: 'unknown',
      reason: 'not_seen',
      order,
      attempt: 1,
      built,
      sent: { bytes, signature: '0xabc' },
      absentSince: null,
      keepsNonce: false,
      ...more,
    })
    return `${title}. ${body}`
  }
  const signed = new Uint8Array(1)
  expect(words(null)).toBe('Checking the chain. Not visible yet. Do not pay again.')
  expect(words(null, { unavailable: true })).toBe(
    'RPC endpoint does not answer. Your payment was sent. Do not pay again.',
  )
  expect(words(signed, { unavailable: true })).toBe(
    'RPC endpoint does not answer. It may have been sent. Do not pay again.',
  )
  expect(words(null, { unavailable: true, reason: 'wallet_lost' })).toBe(
    'Checking whether it was sent. Test Wallet did not answer. RPC endpoint does not answer. Do not pay again.',
  )
})
