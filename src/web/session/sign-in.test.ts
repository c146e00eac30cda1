import { beforeEach, expect, test } from 'vitest'
import { sessionQuery } from '../api/queries.ts'
import { queryClient } from '../api/query-client.ts'
import { acceptSession } from './sign-in.ts'

const session = (wallets: string[], role: 'operator' | null = 'operator') => ({
  wallets,
  role,
  expiresAt: 0,
})
const key = ['hostedWallets']

beforeEach(() => {
  queryClient.clear()
  queryClient.setQueryData(sessionQuery.queryKey, session(['A']))
  queryClient.setQueryData(key, ['read before'])
})

test('a second wallet that signs in keeps what the pages show, and has it read again', async () => {
  await acceptSession(session(['A', 'B']))
  expect(queryClient.getQueryData(sessionQuery.queryKey)).toEqual(session(['A', 'B']))
  expect(queryClient.getQueryData(key)).toEqual(['read before'])
  expect(queryClient.getQueryState(key)?.isInvalidated).toBe(true)
})

test.each([
  ['another account', session(['A']), session(['B'])],
  ['one wallet fewer and another', session(['A']), session(['B', 'C'])],
  ['another role', session(['A']), session(['A', 'B'], null)],
  ['after the session ended', null, session(['A'])],
  ['a buyer who had proved no wallet', session([], null), session(['A'], null)],
])('nothing that was read before stays in view: %s', async (_, before, after) => {
  queryClient.setQueryData(sessionQuery.queryKey, before)
  await acceptSession(after)
  expect(queryClient.getQueryData(sessionQuery.queryKey)).toEqual(after)
  expect(queryClient.getQueryState(key)).toBeUndefined()
})
