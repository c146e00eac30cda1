import type { MessageDescriptor } from '@lingui/core'

/**
 * What the macros of Lingui call (`runtimeConfigModule` in lingui.config.ts). Messages arrive compiled, English in the code and the others in their
 * catalogs, so that nothing has to be parsed here; Lingui's own runtime also formats dates and measures, and is three times as large.
 */

type Values = Readonly<Record<string, unknown>>
/** A value's name alone, or with the branches of a choice by it. */
type Place = readonly [
  name: string,
  kind?: string,
  branches?: Readonly<Record<string, Words | number | undefined>>,
]
type Words = string | readonly (string | Place)[]
/** Compiled messages by their ids. */
export type Catalog = Readonly<Record<string, Words>>

let locale = 'en'
let region = 'en'
const catalogs = new Map<string, Catalog>()
const listeners = new Set<() => void>()

/** The words of a message in the language of now; English where a catalog does not have it. */
function translate(
  message: string | MessageDescriptor,
  values?: Values,
  options?: { message?: string },
): string {
  // A macro that was handed on as an argument is no macro any more, and its words are in no catalog.
  if (Array.isArray(message))
    throw new Error(`"${message.join('…')}" was not compiled: import t where it is used.`)
  const {
    id,
    message: english,
    values: own,
  } = typeof message === 'string' ? { id: message, message: options?.message, values } : message
  const words = catalogs.get(locale)?.[id ?? ''] ?? compiled(english)
  return words === undefined ? (id ?? '') : fill(words, own ?? values ?? {})
}

/** The build puts a compiled message where the types know its text. */
function compiled(message: Words | undefined): Words | undefined {
  return message
}

/** `count`: what stands for `#` in the branch of a plural. */
function fill(words: Words, values: Values, count = '#'): string {
  if (typeof words === 'string') return words
  let text = ''
  for (const word of words) {
    if (typeof word === 'string') text += word === '#' ? count : word
    else text += fillPlace(word, values, count)
  }
  return text
}

function fillPlace([name, kind, branches]: Place, values: Values, count: string): string {
  const value = values[name]
  if (!kind) return value === undefined || value === null ? '' : String(value)
  if (typeof branches !== 'object')
    throw new Error(`A message formats ${name} by itself; formats.ts does that.`)
  if (kind === 'select')
    return fillBranch(branches[String(value)] ?? branches['other'], values, count)
  const number = Number(value) - Number(branches['offset'] ?? 0)
  const rule = new Intl.PluralRules(region, {
    type: kind === 'selectordinal' ? 'ordinal' : 'cardinal',
  }).select(number)
  return fillBranch(
    branches[String(value)] ?? branches[rule] ?? branches['other'],
    values,
    new Intl.NumberFormat(region).format(number),
  )
}

function fillBranch(branch: Words | number | undefined, values: Values, count: string): string {
  return branch === undefined
    ? ''
    : fill(typeof branch === 'number' ? String(branch) : branch, values, count)
}

export const i18n = {
  get locale(): string {
    return locale
  },
  _: translate,
  load(language: string, messages: Catalog): void {
    catalogs.set(language, { ...catalogs.get(language), ...messages })
    notify()
  },
  /** `tag`: the regional variant by which plurals are chosen and counts are written. */
  activate(language: string, tag = language): void {
    locale = language
    region = tag
    notify()
  },
  on(_event: 'change', listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

function notify(): void {
  for (const listener of listeners) listener()
}
