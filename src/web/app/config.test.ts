import { expect, test } from 'vitest'
import { readConfig } from './config.ts'

const url = new URL('https://shop.example.org/desk/config.json')

test('the proxy may be elsewhere, or a path of this host', () => {
  expect(readConfig('{"proxyUrl":"https://pay-api.example.org","title":"Shop"}', url)).toEqual({
    ok: true,
    config: { proxyUrl: 'https://pay-api.example.org/', title: 'Shop' },
  })
  expect(readConfig('{"proxyUrl":"/pay"}', url)).toEqual({
    ok: true,
    config: { proxyUrl: 'https://shop.example.org/pay' },
  })
})

test.each([
  ['<!doctype html>', 'is not JSON'],
  ['{}', 'proxyUrl'],
  ['{"proxyUrl":"http://"}', 'Expected an address'],
])('%s is refused with what is missing', (text, words) => {
  expect(readConfig(text, url)).toMatchObject({
    ok: false,
    problem: expect.stringContaining(words),
  })
})
