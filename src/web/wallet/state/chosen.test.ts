import { expect, test } from 'vitest'
import { ChosenAccount } from './chosen.ts'

test('the wallet’s first account is meant until another one is chosen, and again once the wallet’s first changes', () => {
  const chosen = new ChosenAccount()
  expect(chosen.pick(['a', 'b'])).toBe('a')
  chosen.choose('b', ['a', 'b'])
  expect(chosen.pick(['a', 'b'])).toBe('b')
  expect(chosen.pick(['c', 'a', 'b'])).toBe('c')
  expect(chosen.pick(['a', 'b'])).toBe('a')
  chosen.choose('b', ['a', 'b'])
  expect(chosen.pick(['a'])).toBe('a')
  chosen.choose('b', ['a', 'b'])
  chosen.forget()
  expect(chosen.pick(['a', 'b'])).toBe('a')
  expect(chosen.pick([])).toBeUndefined()
})
