import { expect, test } from 'vitest'
import { planFiles, type Module } from './page-chunks.ts'

const options = {
  isPage: (id: string) => id.endsWith('Page'),
  isFirst: (id: string) => id === 'FirstPage',
}

/** The modules of each file, in the order in which they are made. */
function filesOf(table: Record<string, { imports?: string[]; bytes?: number }>): string[][] {
  const modules = new Map<string, Module>(
    Object.entries(table).map(([id, { imports = [], bytes = 100 }]) => [
      id,
      { id, imports, bytes },
    ]),
  )
  const files: string[][] = []
  for (const [id, index] of planFiles(modules, options)) (files[index] ??= []).push(id)
  return files.map((ids) => ids.toSorted())
}

test('small parts that the same pages load are one file, and a large one that a page does not need stays apart', () => {
  const files = filesOf({
    APage: { imports: ['form', 'fees', 'large'] },
    BPage: { imports: ['form', 'fees'] },
    CPage: { imports: ['form', 'large'] },
    form: {},
    fees: {},
    large: { bytes: 100_000 },
    own: {},
  })
  expect(new Set(files)).toEqual(new Set([['fees', 'form'], ['large']]))
})

test('the first page loads nothing for other pages', () => {
  const pages = { APage: { imports: ['icon', 'card'] }, BPage: { imports: ['icon', 'card'] } }
  const files = filesOf({ ...pages, FirstPage: { imports: ['icon'] }, icon: {}, card: {} })
  expect(new Set(files)).toEqual(new Set([['card'], ['icon']]))
})

test('a file imports earlier files only, so no two import each other', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const table = randomModules(seed)
    const files = filesOf(table)
    const fileOf = (id: string) => files.findIndex((ids) => ids.includes(id))
    const later = files.flatMap((ids, index) =>
      ids.flatMap((id) => (table[id]?.imports ?? []).filter((each) => fileOf(each) > index)),
    )
    expect(later, `seed ${seed}`).toEqual([])
  }
})

/** Eight pages and twenty modules of any sizes, each of which imports some of those after it. */
function randomModules(seed: number): Record<string, { imports: string[]; bytes: number }> {
  let state = seed
  const below = (limit: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % limit
  }
  const ids = Array.from({ length: 28 }, (_, index) => (index < 8 ? `${index}Page` : `m${index}`))
  return Object.fromEntries(
    ids.map((id, index) => [
      id,
      {
        imports: ids.slice(Math.max(8, index + 1)).filter(() => below(8) === 0),
        bytes: below(30_000),
      },
    ]),
  )
}
