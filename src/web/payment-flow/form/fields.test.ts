import { expect, test } from 'vitest'
import { NATIVE_ETH, NATIVE_SOL, type Network } from '#contract/network.ts'
import {
  checkAmount,
  checkPriorityFee,
  validateRecipient,
  checkResource,
  customFeeAtomic,
  readAmount,
} from './fields.ts'

const base = { rpcUrls: ['http://127.0.0.1:1'], testnet: true, blockTimeMs: 400, confirmations: 1 }
const solana: Network = {
  ...base,
  network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  name: 'Solana',
  assets: [NATIVE_SOL],
}
const evm: Network = { ...base, network: 'eip155:31337', name: 'Ethereum', assets: [NATIVE_ETH] }

test('an amount is read to its last digit, in the reader’s own way of writing numbers', () => {
  for (const [text, atomic] of [
    ['0.1', 100_000_000n],
    ['0,1', 100_000_000n],
    ['.5', 500_000_000n],
    ['007.5', 7_500_000_000n],
    ['1,000.5', 1_000_500_000_000n],
    ['0.000000001', 1n],
    [' 2 ', 2_000_000_000n],
  ] as const) {
    expect(readAmount(text, NATIVE_SOL)).toEqual({ ok: true, atomic })
  }
  for (const text of ['0.0000000001', '0', '-1', 'one', '', '1e3', '1.0.0'])
    expect(readAmount(text, NATIVE_SOL).ok).toBe(false)
  expect(readAmount('1.234,5', NATIVE_SOL, 'es-ES')).toEqual({
    ok: true,
    atomic: 1_234_500_000_000n,
  })
  expect(readAmount('1,234', NATIVE_SOL, 'es-ES')).toEqual({ ok: true, atomic: 1_234_000_000n })
  expect(readAmount('1.234', NATIVE_SOL, 'es-ES')).toEqual({ ok: false, problem: 'ambiguous' })
})

test('an amount above the balance names the shortfall to the last unit', () => {
  expect(checkAmount('1', NATIVE_SOL, { balanceAtomic: 999_999_999n })).toBe(
    'You hold 0.999999999 SOL. You need 0.000000001 SOL more.',
  )
  expect(checkAmount('1', NATIVE_SOL)).toBe(true)
  expect(checkAmount('1', NATIVE_SOL, { refundableAtomic: 1_000_000_000n })).toBe(true)
  expect(checkAmount('1', NATIVE_SOL, { refundableAtomic: 999_999_999n })).toBe(
    'At most 0.999999999 SOL can be refunded.',
  )
  expect(checkAmount('1', NATIVE_SOL, { balanceAtomic: 1_000_000_000n })).toContain('network fee')
  expect(
    checkAmount('1', { ...NATIVE_SOL, native: false }, { balanceAtomic: 1_000_000_000n }),
  ).toBe(true)
})

test('a recipient must fit the network, carry its checksum, and be someone else', () => {
  const key = 'So11111111111111111111111111111111111111112'
  expect(validateRecipient(`\u200b${key} `, solana, undefined)).toBe(true)
  expect(validateRecipient(key, evm, undefined)).toContain('Ethereum address')
  expect(validateRecipient(key, solana, key)).toContain('your paying wallet')
  expect(validateRecipient('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', evm, undefined)).toBe(true)
  expect(validateRecipient('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD', evm, undefined)).toContain(
    'checksum',
  )
  expect(validateRecipient('hello', evm, undefined)).toContain('whole address')
})

test('a resource is a whole web address, a fee of one’s own has a limit', () => {
  expect(checkResource('')).toBe(true)
  expect(checkResource('https://example.org/a')).toBe(true)
  for (const text of ['example.org', 'javascript:alert(1)', 'https://a b'])
    expect(checkResource(text)).not.toBe(true)
  expect(checkPriorityFee('0.000001', NATIVE_SOL)).toBe(true)
  expect(checkPriorityFee('0.01', NATIVE_ETH)).toBe(true)
  for (const text of ['', '0', '0.0100000001', '0.02', 'x'])
    expect(checkPriorityFee(text, NATIVE_SOL)).not.toBe(true)
  expect(customFeeAtomic({ fee: 'custom', priorityFee: '0.001' }, solana)).toBe(1_000_000n)
  expect(customFeeAtomic({ fee: 'auto', priorityFee: '0.001' }, solana)).toBeUndefined()
})
