import type * as v from 'valibot'
import { describe } from './fields.ts'

/**
 * What a schema refused, as a sentence for the sender: the schema's own words where it has some, otherwise what it expected and what it received.
 * `missing`: what the field would have had to be, where the issue is that there is none.
 */
export function explainIssue(issue: v.BaseIssue<unknown>, missing?: string | null): string {
  // Valibot's own words begin with "Invalid".
  if (!issue.message.startsWith('Invalid ')) return issue.message
  const expected = isMissing(issue) ? (missing ?? 'a value') : issue.expected
  return `Expected ${expected ? inWords(expected) : 'another value'}, received ${describe(isMissing(issue) ? undefined : issue.input)}.`
}

/** Whether the issue is a field that is not there. */
export function isMissing(issue: v.BaseIssue<unknown>): boolean {
  const [place] = issue.path?.slice(-1) ?? []
  return (
    place !== undefined && 'origin' in place && place.origin === 'key' && issue.expected !== 'never'
  )
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  Object: 'an object',
  Array: 'an array',
  '(number | LosslessNumber)': 'a number',
}

function inWords(expects: string): string {
  const word = WORDS[expects]
  if (word) return word
  const choices = /^\(((?:"|\d).*)\)$/.exec(expects)?.[1]
  return choices ? `one of ${choices.replaceAll(' | ', ', ')}` : expects
}
