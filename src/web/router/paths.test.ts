import { expect, test } from 'vitest'
import { LISTED_STATUSES } from '#contract/payment.ts'
import { pagePaths } from './page-paths.ts'
import { matchPath, pathTo, readSearch } from './paths.ts'

test('a link leads to the page it was made for, with its parameters', () => {
  const search = {
    type: 'received',
    status: 'confirmed',
    q: 'https://shop.example/a b?c=1&d',
  } as const
  const [path = '', query = ''] = pathTo('payments', { search }).split(/(?=\?)/)
  expect(matchPath(path, query)).toEqual({
    name: 'payments',
    params: {},
    search: { ...search, network: undefined },
  })
  expect(matchPath(pathTo('payment', { params: { paymentId: 'pay_a/b%' } }), '')).toMatchObject({
    name: 'payment',
    params: { paymentId: 'pay_a/b%' },
  })
})

test('a parameter that cannot be read is left out, and the page still opens', () => {
  expect(matchPath('/payments', '?type=stolen&status=paid&q=x&more=1')).toEqual({
    name: 'payments',
    params: {},
    search: { q: 'x' },
  })
  expect(matchPath('/', '?days=31')).toEqual({ name: 'overview', params: {}, search: {} })
  expect(readSearch('payments', { q: '', type: 'sent' })).toEqual({ type: 'sent' })
})

test('an address of no page matches none', () => {
  expect(matchPath('/payments/a/b', '')).toBeUndefined()
  expect(matchPath('/nowhere', '')).toBeUndefined()
  expect(matchPath('/payments/', '')?.name).toBe('payments')
  expect(matchPath('/payments/%E0%A4%A', '')).toMatchObject({
    name: 'payment',
    params: { paymentId: '%E0%A4%A' },
  })
})

test('the list is narrowed to any statuses there are, or to drafts, and to nothing else', () => {
  const statusOf = (status: string) => readSearch('payments', { status }).status
  for (const text of [...LISTED_STATUSES, LISTED_STATUSES.join(','), 'incomplete'])
    expect(statusOf(text)).toBe(text)
  for (const text of ['paid', 'pending,', ',pending', 'pending,paid', 'pendingfailed'])
    expect(statusOf(text)).toBeUndefined()
})

test('a page is at most one level down: hosts serve nested.html for those, and deeper ones find none of their files', () => {
  expect(Object.values(pagePaths).filter((path) => path.split('/').length > 3)).toEqual([])
})
