import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { NATIVE_ETH } from '#contract/network.ts'
import { setPreferences } from '../../local-data/preferences.ts'
import { readPrices } from './file-prices.ts'

beforeEach(() => vi.stubGlobal('document', { documentElement: { dataset: {} } }))
afterEach(() => {
  setPreferences({ numbers: 'auto' })
  vi.unstubAllGlobals()
})

const read = (amount: string, numbers: 'en-US' | 'de-DE') => {
  setPreferences({ numbers })
  return readPrices([{ asset: NATIVE_ETH, amount }])
}
const sold = (amount: string) => ({ ok: true, prices: [{ currency: 'ETH', amount }] })

test('a price is read in the reader’s number format', () => {
  expect(read('1,50', 'de-DE')).toEqual(sold('1.5'))
  expect(read('1.500,25', 'de-DE')).toEqual(sold('1500.25'))
  expect(read('1,500.25', 'en-US')).toEqual(sold('1500.25'))
  expect(read(' 0.01 ', 'en-US')).toEqual(sold('0.01'))
})

test('a price that may be a thousand times more or less is refused beside its field', () => {
  expect(read('1.500', 'de-DE')).toEqual({
    ok: false,
    errors: { 'prices.0.amount': 'Omit thousands separators. Use “,” for decimals.' },
  })
  for (const amount of ['1,500', '0', '-1', 'one', '0.0000000000000000001'])
    expect(read(amount, 'en-US').ok, amount).toBe(false)
})
