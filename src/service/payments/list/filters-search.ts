import { and, eq, inArray, isNotNull, sql, type SQL } from 'drizzle-orm'
import { parseAddress } from '#contract/address.ts'
import { stringifyJson } from '#contract/json.ts'
import { isPaymentId } from '#contract/payment.ts'
import { payment } from '../../db/schema/payment.ts'
import { SEARCHED, searchExpressions } from '../../db/schema/search-expressions.ts'

/**
 * The conditions a text can be found by, each with a separate index: payment id, address, the start
 * of the resource with or without its scheme, signature, and `metadata.referenceId`.
 */
export function searchBranches(text: string): SQL[] {
  // Postgres text cannot hold this character, so nothing can match it.
  if (text.includes('\0')) return [sql`false`]
  if (isPaymentId(text)) return [eq(payment.id, text)]
  const parsed = parseAddress(text)
  const branches = [
    ...(parsed.ok
      ? [eq(payment.sender, parsed.address), eq(payment.recipient, parsed.address)]
      : []),
    startsWith(text),
    and(
      isNotNull(payment.signature),
      inArray(payment.signature, [...new Set([text, text.toLowerCase()])]),
    ),
    // Stored metadata is JSON without spaces. The index holds the start of the value; the full
    // value is compared afterwards.
    and(
      sql`${sql.raw(searchExpressions.referenceStart)} = ${[...stringifyJson(text)].slice(0, SEARCHED).join('')}`,
      sql`strpos(${payment.metadata}, ${`"referenceId":${stringifyJson(text)}`}) > 0`,
    ),
  ]
  return branches.flatMap((branch) => (branch ? [branch] : []))
}

/** From so many characters on, the beginning of a word finds it. */
const PREFIX = 3
const LONGEST_WORD = 100
/** What divides words in `payment_words`: all of ASCII that is neither letter nor digit. */
const DIVIDER = '[ \\t\\n\\r!-/:-@\\[-`{-~]'

/** Every word of a text, or a word that begins so: of the metadata, an address or the hash. */
export type Words = {
  /** Of the index. It has no order, and Postgres cannot know how many payments have a beginning of a word. */
  indexed: SQL
  /** The same of what a row has written, much quicker than the words of the index are made. */
  within: (written: SQL) => SQL
}

/** Undefined where a text has none, or is found as something else. */
export function wordsOf(accountId: string, text: string): Words | undefined {
  if (text.includes('\0') || isPaymentId(text) || parseAddress(text).ok) return undefined
  const words = text
    .split(/[ \t\n\r!-/:-@[-`{-~]+/)
    .filter((word) => word !== '')
    .map((word) => [...word].slice(0, LONGEST_WORD))
  if (words.length === 0) return undefined
  const lexemes = words.map((word) => `'${word.join('')}'${word.length < PREFIX ? '' : ':*'}`)
  const query = [`'@${accountId}'`, ...lexemes].join(' & ')
  // A pattern is matched only where its word stands somewhere: it is slow on a long hash.
  const patterns = words.map((word) => ({
    word: word.join(''),
    pattern: `(^|${DIVIDER})${word.join('')}${word.length < PREFIX ? `($|${DIVIDER})` : ''}`,
  }))
  return {
    indexed: sql`${sql.raw(searchExpressions.words)} @@ lower(${query})::tsquery`,
    within: (written) =>
      sql.join(
        patterns.map(
          ({ word, pattern }) =>
            sql`strpos(${written}, lower(${word})) > 0 and ${written} ~ lower(${pattern})`,
        ),
        sql` and `,
      ),
  }
}

/**
 * People copy a URL with or without its scheme, and host names ignore case. The index only needs
 * the two ends of a range; after a `like`, Postgres would compute the expression again for every
 * row it found.
 */
function startsWith(text: string): SQL | undefined {
  const bare = text.replace(/^https?:\/\//i, '').toLowerCase()
  if (bare === '') return undefined
  const start = [...bare].slice(0, SEARCHED).join('')
  const [indexed, end] = [sql.raw(searchExpressions.resourceStart), endOf(start)]
  return and(
    sql`${indexed} ~>=~ ${start}`,
    end === undefined ? undefined : sql`${indexed} ~<~ ${end}`,
    start === bare ? undefined : sql`starts_with(${sql.raw(searchExpressions.resource)}, ${bare})`,
  )
}

const [LAST_BELOW_SURROGATES, SURROGATES_END, LAST_CHARACTER] = [0xd7ff, 0xe000, 0x10ffff]

/**
 * The first text after all that begin with this one, in code point order, which is the order of
 * UTF-8; undefined when they are the last of all.
 */
export function endOf(start: string): string | undefined {
  const points = [...start].map((character) => character.codePointAt(0) ?? 0)
  while (points.at(-1) === LAST_CHARACTER) points.pop()
  const last = points.pop()
  return last === undefined
    ? undefined
    : String.fromCodePoint(...points, last === LAST_BELOW_SURROGATES ? SURROGATES_END : last + 1)
}
