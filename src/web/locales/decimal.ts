/** A decimal as a person typed it, in plain digits with a point; or why it cannot be told what they mean. */
export type TypedDecimal =
  | { ok: true; plain: string }
  | { ok: false; problem: 'not_a_number' | 'ambiguous' }

/**
 * Reads `1.234,5` or `1,234.5` by the reader's own separators. The other way round is understood where it can mean only one thing (`0.5` in
 * Spanish); where it could be a thousand times more or less (`1.234`), it is refused: money is never guessed.
 */
export function readDecimal(text: string, locale: string): TypedDecimal {
  const { group, point } = separators(locale)
  // Spaces and apostrophes only ever group.
  const typed = text.trim().replace(/(?<=[0-9])[\s\u00a0\u202f'’](?=[0-9]{3}(?![0-9]))/g, '')
  const marks = typed.replace(/[0-9]/g, '')
  if (/[^.,]/.test(marks) || !/[0-9]/.test(typed)) return { ok: false, problem: 'not_a_number' }
  if (marks === '') return plain(typed, '')
  if (marks.length === 1) return readOneMark(typed, marks, point)

  const last = marks.at(-1) ?? ''
  const first = marks[0] ?? ''
  if (marks.slice(0, -1).replaceAll(first, '') !== '') return { ok: false, problem: 'not_a_number' }
  const [whole, fraction] =
    last === first
      ? [typed, '']
      : [typed.slice(0, typed.lastIndexOf(last)), typed.slice(typed.lastIndexOf(last) + 1)]
  const digits = whole.replaceAll(first, '')
  const grouped = first === '.' ? /^[1-9][0-9]{0,2}(\.[0-9]{3})+$/ : /^[1-9][0-9]{0,2}(,[0-9]{3})+$/
  const isGrouped =
    grouped.test(whole) || (whole[0] !== '0' && groupWhole(digits, locale) === whole)
  if (!isGrouped || (first === point && first === group))
    return { ok: false, problem: 'not_a_number' }
  return plain(digits, fraction)
}

function readOneMark(typed: string, mark: string, point: string): TypedDecimal {
  const [whole = '', fraction = ''] = typed.split(mark)
  if (mark !== point && /^[1-9][0-9]{0,2}$/.test(whole) && fraction.length === 3)
    return { ok: false, problem: 'ambiguous' }
  return plain(whole, fraction)
}

function plain(whole: string, fraction: string): TypedDecimal {
  return { ok: true, plain: fraction ? `${whole || '0'}.${fraction}` : whole }
}

/** A whole number in groups: `1,234,567` in English, `12,34,567` in India. */
export function groupWhole(whole: string, locale: string): string {
  const { group, size } = separators(locale)
  const places = size === 2 ? /\B(?=(..)*...$)/g : /\B(?=(...)+$)/g
  return whole.replace(places, group)
}

type Separators = {
  group: string
  point: string
  /** Digits of a group above the thousands. */
  size: number
}

/** What groups thousands and what begins the decimals, `,` and `.` in English. */
export function separators(locale: string): Separators {
  const known = separatorsOf.get(locale)
  if (known) return known
  const parts = new Intl.NumberFormat(locale, {
    useGrouping: true,
    minimumFractionDigits: 1,
    numberingSystem: 'latn',
  }).formatToParts(1234567.5)
  const found = {
    group: parts.find((part) => part.type === 'group')?.value ?? '',
    point: parts.find((part) => part.type === 'decimal')?.value ?? '.',
    size: parts.filter((part) => part.type === 'integer')[1]?.value.length ?? 3,
  }
  separatorsOf.set(locale, found)
  return found
}

const separatorsOf = new Map<string, Separators>()
