import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { NUMBER_STYLES, setPreferences } from '../../local-data/preferences.ts'
import { readCap, writeCap } from './cap-text.ts'

beforeEach(() => vi.stubGlobal('document', { documentElement: { dataset: {} } }))
afterEach(() => {
  setPreferences({ numbers: 'auto' })
  vi.unstubAllGlobals()
})

const asset = { decimals: 6 }

test.each(NUMBER_STYLES)('the field of a limit reads what it shows, as %s writes it', (numbers) => {
  setPreferences({ numbers })
  for (const atomic of ['0', '1', '1234000', '1000000000', '1234567890123'])
    expect(readCap(writeCap(atomic, asset), asset), atomic).toEqual({ ok: true, atomic })
  expect(readCap(writeCap(undefined, asset), asset)).toEqual({ ok: true, atomic: undefined })
  // 1000 with one digit more, and with one less.
  const shown = writeCap('1000000000', asset)
  expect(readCap(`${shown}0`, asset)).toEqual({ ok: true, atomic: '10000000000' })
  expect(readCap(shown.slice(0, -1), asset)).toEqual({ ok: true, atomic: '100000000' })
})
