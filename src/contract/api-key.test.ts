import { describe, expect, test } from 'vitest'
import { apiKeyHint, createApiKey, isApiKey, PLANS } from './api-key-body.ts'

describe('createApiKey', () => {
  test('makes keys of one shape that never repeat', () => {
    const keys = Array.from({ length: 5000 }, (_, index) =>
      createApiKey(index % 2 ? 'live' : 'test'),
    )
    expect(new Set(keys).size).toBe(keys.length)
    for (const key of keys) expect(key).toMatch(/^pk_(live|test)_[0-9A-Za-z]{46}$/)
    expect(keys.every(isApiKey)).toBe(true)
  })

  test('leans to no character', () => {
    const counts = new Map<string, number>()
    const draws = 5000
    for (let index = 0; index < draws; index++)
      for (const char of createApiKey('test').slice(8, 48))
        counts.set(char, (counts.get(char) ?? 0) + 1)
    const expected = (draws * 40) / 62
    const chiSquare = [...counts.values()].reduce(
      (sum, count) => sum + (count - expected) ** 2 / expected,
      0,
    )
    expect(counts.size).toBe(62)
    // 61 degrees of freedom: a fair draw is above 130 less than once in a million runs; `byte % 62` alone gives thousands.
    expect(chiSquare).toBeLessThan(130)
  })
})

describe('isApiKey', () => {
  test('refuses a key with any one character changed', () => {
    const key = createApiKey('live')
    for (let at = 8; at < key.length; at++) {
      const other = key[at] === 'A' ? 'B' : 'A'
      expect(isApiKey(key.slice(0, at) + other + key.slice(at + 1)), `character ${at}`).toBe(false)
    }
  })

  test('refuses two neighbours swapped, another environment, and another length', () => {
    const key = createApiKey('live')
    for (let at = 8; at < key.length - 1; at++) {
      const swapped = key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2)
      if (swapped !== key) expect(isApiKey(swapped)).toBe(false)
    }
    expect(isApiKey(key.replace('live', 'test'))).toBe(false)
    for (const text of [
      '',
      'pk_live_',
      key.slice(0, -1),
      `${key}0`,
      `${key}\n`,
      ` ${key}`,
      key.toUpperCase(),
    ])
      expect(isApiKey(text)).toBe(false)
  })
})

test('a hint shows eight characters of the secret at most', () => {
  const key = createApiKey('test')
  expect(apiKeyHint(key)).toBe(`pk_test_${key.slice(8, 12)}…${key.slice(-4)}`)
})

test('the plans are those of the specification', () => {
  expect(PLANS.standard.requestsPerMinute).toBe(100)
  expect(PLANS.premium.requestsPerMinute).toBe(1000)
})
