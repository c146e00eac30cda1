import type * as v from 'valibot'
import { describe } from './fields.ts'
import { LosslessNumber } from './json.ts'
import { FIELD_FORMATS, FIELD_TYPES, type FieldProblem } from './reasons.ts'

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

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  Object: 'an object',
  Array: 'an array',
  '(number | LosslessNumber)': 'a number',
}

function inWords(expects: string): string {
  const word = TYPE_NAMES[expects]
  if (word) return word
  const choices = /^\(((?:"|\d).*)\)$/.exec(expects)?.[1]
  return choices ? `one of ${choices.replaceAll(' | ', ', ')}` : expects
}

/** Of these schemas the message is the code of the format: `FieldFormat`. */
export function fieldProblemOf(issue: v.BaseIssue<unknown>): FieldProblem {
  if (isMissing(issue)) return { code: 'field_missing', params: {} }
  const received = shortJson(issue.input)
  const format = FIELD_FORMATS.find((each) => each === issue.message)
  if (format) return { code: 'field_format', params: { format, received } }
  const bound = Number('requirement' in issue ? issue.requirement : Number.NaN)
  switch (issue.type) {
    case 'max_length':
      return { code: 'field_too_long', params: { max: bound } }
    case 'min_length':
      return { code: 'field_too_short', params: { min: bound } }
    case 'max_value':
      return { code: 'field_above', params: { max: bound, received } }
    case 'min_value':
      return { code: 'field_below', params: { min: bound, received } }
    case 'integer':
      return { code: 'field_not_integer', params: { received } }
    case 'literal':
    case 'picklist':
    case 'variant': {
      const values = (issue.expected ?? '').replace(/^\(|\)$/g, '').split(' | ')
      return { code: 'field_one_of', params: { values, received } }
    }
    default: {
      const expected = FIELD_TYPES.find((type) => type === issue.expected?.toLowerCase())
      return expected
        ? { code: 'field_type', params: { expected, received } }
        : { code: 'field_not_expected', params: { received } }
    }
  }
}

const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD]/gu

/** A foreign value, short and the same in every language. */
function shortJson(value: unknown): string {
  if (value instanceof LosslessNumber) return value.value.slice(0, 60)
  if (Array.isArray(value)) return '[…]'
  if (typeof value === 'object' && value !== null) return '{…}'
  return describe(value).replace(UNPRINTABLE, '').slice(0, 100)
}

/** The name of a field in `details` of a refusal. `details.reason` is always the reason: a field of that name is told with its part. */
export function detailKey(field: string, part: 'params' | 'query' | 'body'): string {
  return field === 'reason' ? `${part}.reason` : field
}
