import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** docs/THREATS.md names the file and the test that hold against each threat. Both must exist, so that neither is removed or renamed alone. */

const ROOT = join(import.meta.dirname, '../..')
const COUNT = 149
const STATUS = /^(?:Defended|Partly: \S.*|Open: \S.*)$/
const SOURCE = '`([^`]+)`'
const TEST = new RegExp(`^${SOURCE} "([^"]+)"$`)

type Row = { id: string; status: string; defences: string[]; tests: string[] }
const rows = readRows(readFileSync(join(ROOT, 'docs/THREATS.md'), 'utf8'))

test('every threat stands in the table once', () => {
  // By subject, not by number: a number never changes, and a section gains rows.
  const numbers = rows.map(({ id }) => Number(id.slice(1))).toSorted((a, b) => a - b)
  expect(numbers).toEqual(Array.from({ length: COUNT }, (_, index) => index + 1))
})

test('every row has a status, and says what is missing where it is not defended', () => {
  expect(rows.filter(({ status }) => !STATUS.test(status))).toEqual([])
})

test('every row that is not open names a defence, and every defence is a file', () => {
  expect(
    rows.filter(({ status, defences }) => defences.length === 0 && !status.startsWith('Open')),
  ).toEqual([])
  expect(
    rows.flatMap(({ defences }) => defences).filter((path) => !existsSync(join(ROOT, path))),
  ).toEqual([])
})

test('every row that is defended names a test', () => {
  expect(rows.filter(({ status, tests }) => status === 'Defended' && tests.length === 0)).toEqual(
    [],
  )
})

test('every test that is named exists under that title', () => {
  expect(
    rows.flatMap(({ id, tests }) =>
      tests.filter((named) => !isTest(named)).map((named) => `${id}: ${named}`),
    ),
  ).toEqual([])
})

test('a row without its file, its test or its reason is found', () => {
  const row = (...cells: string[]) => readRows(`| T1 | Attack. | ${cells.join(' | ')} |`)[0]
  const own = 'src/testing/threats.test.ts'
  expect(row('Partly', '`none.ts`', `\`${own}\` "a"<br>\`${own}\` "b"`)).toEqual({
    id: 'T1',
    status: 'Partly',
    defences: ['none.ts'],
    tests: [`\`${own}\` "a"`, `\`${own}\` "b"`],
  })
  expect(STATUS.test('Partly')).toBe(false)
  expect(isTest(`\`${own}\` "every threat stands in the table once"`)).toBe(true)
  // The words stand in this file, and name no test.
  expect(isTest(`\`${own}\` "The words stand in this file"`)).toBe(false)
  expect(isTest(`\`${own}\` "every threat stands"`)).toBe(false)
  expect(isTest('`src/testing/none.test.ts` "every threat stands in the table once"')).toBe(false)
  expect(isTest('without a file')).toBe(false)
})

function readRows(text: string): Row[] {
  return text
    .split('\n')
    .filter((line) => /^\| T\d/.test(line))
    .map((line) => {
      const [id = '', , status = '', defence = '', tests = ''] = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim())
      const defences = [...defence.matchAll(new RegExp(SOURCE, 'g'))].map(([, path = '']) => path)
      return { id, status, defences, tests: tests === 'none' ? [] : tests.split('<br>') }
    })
}

/** Whether the title is the first argument of `test`, `describe` or their `each` in the file named before it. */
function isTest(named: string): boolean {
  const [, path = '', title = ''] = TEST.exec(named) ?? []
  if (!/\.(?:test\.tsx?|e2e\.ts)$/.test(path) || !existsSync(join(ROOT, path))) return false
  const call = /(?:\b(?:test|describe)|\))\(\s*$/
  const source = readFileSync(join(ROOT, path), 'utf8')
  return ["'", '"', '`'].some((quote) => {
    const [before = '', ...after] = source.split(`${quote}${title}${quote}`)
    return after.length > 0 && call.test(before) && /^\s*,/.test(after[0] ?? '')
  })
}
