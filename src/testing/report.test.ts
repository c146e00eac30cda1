import { expect, test } from 'vitest'
import { listSlowest } from './report.ts'

test('the slowest tests and files are listed in seconds, ten of each, the slowest first', () => {
  const durations = Array.from({ length: 24 }, (_, index) => ({
    file: `${index % 12}.test.ts`,
    title: `test ${index}`,
    ms: index * 1000,
  }))
  const lines = listSlowest(durations)
  expect(lines).toHaveLength(20)
  expect(lines[0]).toBe('    23.0 s  11.test.ts › test 23')
  expect(lines[9]).toBe('    14.0 s  2.test.ts › test 14')
  // 11 + 23 seconds.
  expect(lines[10]).toBe('    34.0 s  11.test.ts')
})
