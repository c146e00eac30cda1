import { afterEach, expect, test, vi } from 'vitest'
import { BackgroundReads, Recent, remember } from './recent.ts'

/** What is read once is read again in time, whatever happens to the clock of the machine. */

const HOUR_MS = 3_600_000

afterEach(() => void vi.useRealTimers())

/** Sets the machine's clock; the time since the start of the process goes on as before. */
function setClock(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: ms })
}

test('a value is read again after the clock was set back', async () => {
  const now = Date.now()
  let readings = 0
  const recent = new Recent(0, async () => ++readings)
  setClock(now + 26 * HOUR_MS)
  expect(await recent.fresh()).toBe(1)
  setClock(now)
  expect(await recent.fresh()).toBe(2)
})

test('an answer is loaded again after the clock was set back', async () => {
  const now = Date.now()
  let readings = 0
  const read = remember(0, async () => ++readings)
  setClock(now + 26 * HOUR_MS)
  expect(await read('a')).toBe(1)
  setClock(now)
  expect(await read('a')).toBe(2)
})

test('background reads of a queue run one after another, a failed one holds up none, and each is due again in time', async () => {
  const reads = new BackgroundReads<string>(60_000, 10)
  const order: string[] = []
  const first = Promise.withResolvers<string>()
  const second = Promise.withResolvers<void>()
  reads.start('first', 'queue', () => first.promise)
  reads.start('second', 'queue', async () => {
    order.push('second')
    second.resolve()
    return 'found'
  })
  const other = Promise.withResolvers<void>()
  reads.start('third', 'other', async () => {
    order.push('third')
    other.resolve()
    return 'found'
  })
  await other.promise
  expect(order).toEqual(['third'])
  expect(reads.last('second')).toMatchObject({ value: undefined })
  first.reject(new Error('no answer'))
  await second.promise
  await vi.waitFor(() => expect(reads.last('second')).toMatchObject({ value: 'found' }))
  expect(reads.last('first')).toMatchObject({ value: undefined })
  const now = performance.now()
  const later = vi.spyOn(performance, 'now').mockImplementation(() => now + 61_000)
  expect(reads.last('first')).toBeUndefined()
  expect(reads.last('second')).toBeUndefined()
  later.mockRestore()
})

test('background reads remember no more keys than their limit, and forget none that counts', () => {
  const reads = new BackgroundReads<string>(60_000, 2)
  for (const key of ['a', 'b', 'c']) reads.set(key, key)
  expect(['a', 'b', 'c'].map((key) => reads.last(key)?.value)).toEqual(['a', 'b', undefined])
  const now = performance.now()
  const later = vi.spyOn(performance, 'now').mockImplementation(() => now + 61_000)
  reads.set('c', 'c')
  expect(['a', 'b', 'c'].map((key) => reads.last(key)?.value)).toEqual([undefined, undefined, 'c'])
  later.mockRestore()
})
