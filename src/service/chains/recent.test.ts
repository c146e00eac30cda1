import { afterEach, expect, test, vi } from 'vitest'
import { Recent, remember } from './recent.ts'

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
