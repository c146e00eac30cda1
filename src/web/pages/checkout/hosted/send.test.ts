import 'fake-indexeddb/auto'
import { afterEach, expect, test, vi } from 'vitest'
import type { HostedIntent } from '#contract/hosted-intent.ts'
import { storeSigned, undelivered } from './send.ts'

const intent = { nonce: 'n' } as HostedIntent
const signed = { type: 'signed', signature: 's' } as const

afterEach(() => vi.restoreAllMocks())

test('a signature that this browser cannot store is not sent: the review says so', async () => {
  vi.spyOn(IDBObjectStore.prototype, 'put').mockImplementation(() => {
    throw new DOMException('full', 'QuotaExceededError')
  })
  expect(await storeSigned(intent, signed)).toMatchObject({
    type: 'not_signed',
    userError: { body: expect.stringContaining('Nothing was sent.') },
  })
  expect(await undelivered()).toBeUndefined()
})

test('a signature is stored before it is sent', async () => {
  expect(await storeSigned(intent, signed)).toBe(signed)
  expect(await undelivered()).toEqual({ nonce: 'n', intent, signature: 's' })
})
