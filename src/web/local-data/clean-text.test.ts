import { expect, test } from 'vitest'
import { cleanText } from './clean-text.ts'

test.each([
  ['a right-to-left override', 'invoice\u202Egpj.exe', 'invoicegpj.exe'],
  ['isolates', '\u2066safe\u2069', 'safe'],
  ['zero-width characters', 'pay\u200Bpal\u200D\uFEFF', 'paypal'],
  ['tag characters', `a${String.fromCodePoint(0xe0041)}b`, 'ab'],
  ['a soft hyphen and controls', 'a\u00ADb\u0007c', 'abc'],
])('%s is taken out and counted', (_, hostile, clean) => {
  const result = cleanText(hostile)
  expect(result.text).toBe(clean)
  expect(result.removed).toBe([...hostile].length - [...clean].length)
})

test('honest text in any script stays as it is', () => {
  for (const text of [
    'Café – 12 €',
    'سلام',
    'שלום',
    '日本語',
    '🎉 party',
    '❤️ 👩‍🚀',
    'line\nbreak\ttab',
  ])
    expect(cleanText(text)).toEqual({ text, removed: 0 })
})
