import { expect, test } from 'vitest'
import { parsePreferences } from './preferences.ts'

const defaults = { theme: 'system', hideAmounts: false, timeZone: 'local', rpcUrls: {} }

test('what was stored comes back', () => {
  const stored = { theme: 'dark', hideAmounts: true, timeZone: 'utc', rpcUrls: { 'eip155:1': 'https://rpc.example.org' } }
  expect(parsePreferences(JSON.stringify(stored))).toEqual(stored)
})

test.each([null, '', 'x', 'null', '[]', '7', '{"theme":"pink","hideAmounts":"yes","rpcUrls":{"eip155:1":"not a url","eip155:2":7}}'])(
  '%s falls back to the defaults',
  (text) => {
    expect(parsePreferences(text)).toEqual(defaults)
  },
)
