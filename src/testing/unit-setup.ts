import 'fake-indexeddb/auto'
import { IDBFactory } from 'fake-indexeddb'
import { env } from 'node:process'
import { afterAll, expect } from 'vitest'
import { pauseSeconds } from '#web/api/rate-limit-pause.ts'
import { getPreferences, parsePreferences } from '#web/local-data/preferences.ts'
import { i18n } from '#web/locales/i18n.ts'

/**
 * Runs in every file of the project `unit`, whose files share globals and modules: a file fails when it leaves something changed that
 * the next one would see.
 */

// A browser that has stored nothing yet.
globalThis.indexedDB = new IDBFactory()

const before = readGlobals()
const variables = { ...env }

afterAll(() => {
  const after = readGlobals()
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) => !Object.is(before.get(key), after.get(key)),
  )
  expect(changed, 'globals left changed by this file').toEqual([])
  expect({ ...env }, 'the environment left by this file').toEqual(variables)
  expect(i18n.locale, 'the language left by this file').toBe('en')
  expect(getPreferences(), 'the preferences left by this file').toEqual(parsePreferences(null))
  expect(pauseSeconds(), 'the pause left by this file, in seconds').toBe(0)
})

/** The value of each global; names that begin so are of the test runner and of libraries. */
function readGlobals(): Map<string, unknown> {
  const names = Object.getOwnPropertyNames(globalThis).filter((name) => !name.startsWith('_'))
  return new Map(names.map((name) => [name, Reflect.get(globalThis, name) as unknown]))
}
