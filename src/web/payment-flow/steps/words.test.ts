import { expect, test, vi } from 'vitest'
import { setPreferences } from '../../local-data/preferences.ts'
import { buttonAmountOf } from './words.ts'

const usdc = { address: 'usdc', symbol: 'USDC', name: 'USD Coin', decimals: 6, native: false }

test('the button writes an amount with the decimal point of the reader, short or cut', () => {
  // The theme is set on the document.
  vi.stubGlobal('document', { documentElement: { dataset: {} } })
  setPreferences({ numbers: 'de-DE' })
  expect(buttonAmountOf({ amountAtomic: 1_234_000n, asset: usdc })).toBe('1,234 USDC')
  expect(buttonAmountOf({ amountAtomic: 1_234_000_000n, asset: usdc })).toBe('1.234 USDC')
  expect(buttonAmountOf({ amountAtomic: 1_234_567_891_234n, asset: usdc })).toBe(
    '1.234.567,891234 USDC',
  )
  setPreferences({ numbers: 'en-US' })
  expect(buttonAmountOf({ amountAtomic: 1_234_000n, asset: usdc })).toBe('1.234 USDC')
  setPreferences({ numbers: 'auto' })
})
