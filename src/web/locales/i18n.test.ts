import { msg, plural, select, selectOrdinal, t } from '@lingui/core/macro'
import { afterEach, expect, test } from 'vitest'
import { i18n } from './i18n.ts'

afterEach(() => i18n.activate('en'))

const said = (count: number) =>
  t`${plural(count, { offset: 0, 0: 'no payment', one: '# payment', other: '# payments' })} today`

test('plurals choose by exact value, then by the rules of the language, and write the count in its way', () => {
  expect([0, 1, 2, 12345].map(said)).toEqual([
    'no payment today',
    '1 payment today',
    '2 payments today',
    '12,345 payments today',
  ])
  const place = 3
  expect(t`${selectOrdinal(place, { one: '#st', two: '#nd', few: '#rd', other: '#th' })}`).toBe(
    '3rd',
  )
  const who = 'seller'
  expect(t`${select(who, { seller: 'yours', other: 'theirs' })}`).toBe('yours')
})

test('a value that is not there leaves nothing, and a hash outside of a plural is a hash', () => {
  i18n.load('en', { order: ['Order #5', ['gone'], '.'] })
  expect(i18n._('order')).toBe('Order #5.')
})

test('a catalog takes over where it has the message; where it has not, English stands', () => {
  const both = msg`Paid`
  i18n.load('es', { [both.id]: ['Pagado'] })
  i18n.activate('es', 'es-ES')
  expect(i18n._(both)).toBe('Pagado')
  expect(t`Not in the catalog ${7}`).toBe('Not in the catalog 7')
  i18n.load('es', { n: [['n', 'plural', { one: ['uno'], other: ['#'] }]] })
  expect([1, 12345].map((n) => i18n._('n', { n }))).toEqual(['uno', '12.345'])
})
