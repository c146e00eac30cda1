import { beforeEach, expect, test, vi } from 'vitest'
import type { Mispaid } from './mispaid.ts'

const found: Mispaid = {
  transaction: '0xabc',
  network: 'eip155:31337',
  asset: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
  payer: '0xpayer',
  wallet: '0xwallet',
  cameAtomic: '20',
  expectedAtomic: '10',
  at: 1,
}
const KEY = 'paydesk.mispaid'

beforeEach(() => {
  const kept = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  })
  vi.resetModules()
  return () => vi.unstubAllGlobals()
})

/** As the next visit reads it. */
const kept = () => JSON.parse(localStorage.getItem(KEY) ?? '[]') as Mispaid[]

test('what was found twice is listed once, and comes back where it was after its undo', async () => {
  const { rememberMispaid, forgetMispaid } = await import('./mispaid.ts')
  rememberMispaid(found)
  rememberMispaid({ ...found, transaction: '0xdef' })
  rememberMispaid({ ...found, expectedAtomic: '15' })
  expect(kept().map(({ transaction, expectedAtomic }) => [transaction, expectedAtomic])).toEqual([
    ['0xabc', '15'],
    ['0xdef', '10'],
  ])
  const undo = forgetMispaid({ ...found, transaction: '0xdef' })
  expect(kept()).toHaveLength(1)
  undo()
  undo()
  expect(kept().map(({ transaction }) => transaction)).toEqual(['0xabc', '0xdef'])
})

test.each(['{', '[{"transaction":1}]', '[{"transaction":"x","cameAtomic":"-1"}]'])(
  'what this browser kept as %s counts as nothing',
  async (text) => {
    localStorage.setItem(KEY, text)
    const { rememberMispaid } = await import('./mispaid.ts')
    rememberMispaid(found)
    expect(kept()).toEqual([found])
  },
)
