import { expect, test } from 'vitest'
import { parsePreferences } from './preferences.ts'

const defaults = {
  theme: 'system',
  language: 'auto',
  hideAmounts: false,
  timeZone: 'local',
  numbers: 'auto',
  dates: 'auto',
  hours: 'auto',
  rpcUrls: {},
}

test('what was stored comes back', () => {
  const stored = {
    theme: 'dark',
    language: 'es',
    hideAmounts: true,
    timeZone: 'utc',
    numbers: 'de-CH',
    dates: 'iso',
    hours: 'h23',
    rpcUrls: { 'eip155:1': 'https://rpc.example.org' },
  }
  expect(parsePreferences(JSON.stringify(stored))).toEqual(stored)
})

test.each([
  null,
  '',
  'x',
  'null',
  '[]',
  '7',
  '{"theme":"pink","language":"tlh","numbers":"xx","dates":7,"hours":"h11","hideAmounts":"yes","rpcUrls":{"eip155:1":"not a url","eip155:2":7}}',
])('%s falls back to the defaults', (text) => {
  expect(parsePreferences(text)).toEqual(defaults)
})
