import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

const E2E = new URL('../../e2e/', import.meta.url)

test('axe reads every state of every page', async () => {
  const states = [
    ...(await readFile(new URL('states.ts', E2E), 'utf8')).matchAll(/^ {2}'([^']+)',$/gm),
  ].map(([, state = '']) => state)
  expect(states.length).toBeGreaterThan(90)
  expect(new Set(states).size).toBe(states.length)
  const stories = (await readdir(E2E)).filter((name) => name.endsWith('.e2e.ts'))
  const lines = (
    await Promise.all(stories.map((name) => readFile(new URL(name, E2E), 'utf8')))
  ).flatMap((text) => text.split('\n'))
  // Named where it is read, or beside the path of a page that anybody may open.
  const isRead = (state: string) =>
    lines.some(
      (line) =>
        !/^\s*\/\//.test(line) &&
        /expectAccessible\(|^ {2}'\/\w*': /.test(line) &&
        line.includes(`'${state}'`),
    )
  expect(states.filter((state) => !isRead(state))).toEqual([])
})
