import { format } from 'node:util'
import { afterAll, afterEach, beforeEach, expect } from 'vitest'

/** Runs in every test file: a test fails when it prints an error or a warning, a file fails when it leaves a server or a process behind. */

const printed: string[] = []
const original = { error: console.error, warn: console.warn }

for (const level of ['error', 'warn'] as const) {
  console[level] = (...args: unknown[]) => {
    const text = format(...args)
    printed.push(`console.${level}: ${text}`)
    original[level](...args)
  }
}

beforeEach(() => {
  printed.length = 0
})

afterEach(() => {
  expect(printed, 'unexpected output on the console').toEqual([])
})

/** Handles that keep a program alive: a listening socket, a child process. Closing takes a moment, so this waits for it up to a deadline. */
const LEFTOVERS = new Set(['TCPServerWrap', 'ProcessWrap'])

afterAll(async () => {
  const deadline = Date.now() + 5_000
  while (leftovers().length > 0 && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 20))
  expect(leftovers(), 'left running by this file').toEqual([])
})

function leftovers(): string[] {
  return process.getActiveResourcesInfo().filter((name) => LEFTOVERS.has(name))
}
