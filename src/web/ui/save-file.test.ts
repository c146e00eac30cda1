import { resolveObjectURL } from 'node:buffer'
import { afterEach, expect, test, vi } from 'vitest'
import { saveFile } from './CopyButton.tsx'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('a file that is being saved can be read for a minute, and is released then', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const clicked: string[] = []
  const link = { href: '', download: '', click: () => clicked.push(link.download) }
  vi.stubGlobal('document', { createElement: () => link })
  saveFile(new Blob(['{}']), 'receipt.json')
  expect(clicked).toEqual(['receipt.json'])
  vi.advanceTimersByTime(59_000)
  expect(await resolveObjectURL(link.href)?.text()).toBe('{}')
  vi.advanceTimersByTime(1000)
  expect(resolveObjectURL(link.href)).toBeUndefined()
})
