import { expect, test } from 'vitest'
import { pickLanguage, regionOf } from './languages.ts'

test.each([
  [['es-MX', 'en'], 'es'],
  [['fr-CA', 'zh-SG', 'en'], 'zh-CN'],
  [['zh-Hans-HK'], 'zh-CN'],
  [['zh-TW', 'en-GB'], 'en'],
  [['zh-TW', 'es'], 'es'],
  [['pt-BR', 'not a tag', ''], 'en'],
  [[], 'en'],
])('a browser that asks for %j is answered in %s', (preferred, language) => {
  expect(pickLanguage(preferred)).toBe(language)
})

test('numbers and dates follow the reader’s own variant of the language', () => {
  expect(regionOf('es', ['en-US', 'es-MX'])).toBe('es-MX')
  expect(regionOf('en', ['fr', 'en-GB', 'en-US'])).toBe('en-GB')
  expect(regionOf('zh-CN', ['en-US', 'zh-TW'])).toBe('zh-CN')
})
