import { afterEach, expect, test, vi } from 'vitest'
import { callProxy, configureClient } from './client.ts'

afterEach(() => vi.unstubAllGlobals())

test('a read has no header for which the browser would ask the proxy first, and a state change has the one that the proxy asks for', async () => {
  const sent = vi.fn<typeof fetch>(async () => Response.json({ session: null }))
  vi.stubGlobal('fetch', sent)
  configureClient('https://pay-api.example.org')
  await callProxy('session', {})
  await callProxy('sessionDelete', {})
  const headers = sent.mock.calls.map(([, options]) => Object.keys(options?.headers ?? {}))
  expect(headers).toEqual([['Accept'], ['Accept', 'X-Requested-By']])
})
