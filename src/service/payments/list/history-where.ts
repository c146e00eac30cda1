import { and, eq, inArray, not, or, sql, type SQL, isNotNull } from 'drizzle-orm'
import { parseAddress } from '#contract/address.ts'
import { stringifyJson } from '#contract/json.ts'
import { PAYMENT_STATUSES, isPaymentId } from '#contract/payment.ts'
import { isRefunded, REFUND_STATES } from '../../db/refunds.ts'
import { searchExpressions, SEARCHED } from '../../db/schema/columns.ts'
import { payment } from '../../db/schema/payment.ts'
import { kindOf, type Filters } from './filters.ts'

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
type Words = {
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

/** Everything the filters require of a row, except the text. */
export function whereOf(filters: Filters): SQL | undefined {
  return and(
    eq(payment.accountId, filters.accountId),
    seen(filters),
    or(...statusesOf(filters)),
    narrowed(filters),
  )
}

/** What is read of a list. */
export type ListPart = {
  /** So many rows, the newest first. */
  rows: number
  /** Where a page begins. */
  from?: SQL | undefined
  /** Which rows does not matter: they are only counted. */
  counted?: true
}

/**
 * Everything they require, as conditions of which a row meets one or more. Each is a range of one
 * index that is already in list order, so a page of each costs a page's work however many payments
 * there are. An `or` over them would be read whole and sorted.
 */
export function branchesOf(filters: Filters, part: ListPart): SQL[] {
  const own = and(eq(payment.accountId, filters.accountId), narrowed(filters))
  if (filters.text !== undefined) {
    const rest = and(seen(filters), or(...statusesOf(filters)))
    const drivers = [...searchBranches(filters.text), ...partiesOf(filters)]
    const words = wordsOf(filters.accountId, filters.text)
    return [
      ...(words
        ? [matchingWords(words, { ...part, where: and(own, rest), time: timeOf(filters) })]
        : []),
      ...drivers,
    ].flatMap((driver) => and(own, driver, rest) ?? [])
  }
  // Only the index of an account is in the order of landing.
  if (filters.by === 'landed')
    return [and(own, seen(filters), or(...statusesOf(filters)))].flatMap((branch) => branch ?? [])
  const [drivers, rest] = filters.wallets
    ? [sidesOf(filters), or(...statusesOf(filters))]
    : [statusesOf(filters), seen(filters)]
  return drivers.flatMap((driver) => and(own, driver, rest) ?? [])
}

/** So many of the newest are looked through for common words. A word that fewer than one in 200 of them have is rare. */
const NEWEST = 10_000
/** To count a thousand at most, which a rarer word's index tells as quickly. */
const NEWEST_COUNTED = 3_000

/** More have a word that was common once: then all are read in the order of the list until the page is full. */
const MOST_RARE = 20_000

/**
 * Common words are found among the newest payments, and all where these are few; rare ones by their
 * index, whose rows have no order. Left to choose, Postgres reads a million payments for a word that none of them has.
 */
function matchingWords(
  { indexed, within }: Words,
  { rows, from, counted, where, time }: ListPart & { where: SQL | undefined; time: SQL },
): SQL {
  const looked = counted ? NEWEST_COUNTED : NEWEST
  const written = sql.raw(searchExpressions.written)
  const newest = sql`select id, ${written} as written from ${payment} where ${and(where, from)} order by ${time} desc, ${payment.id} desc limit ${looked}`
  const found = within(sql`written`)
  // A bound keeps Postgres from looking at each row twice.
  const seenRows = sql`select id, ${found} as has from (${newest}) as newest limit ${looked}`
  const common = sql`select coalesce(array_agg(id) filter (where has), '{}') from (${seenRows}) as looked having count(*) < ${looked} or count(*) filter (where has) >= ${rows}`
  const mine = and(where, from)
  if (counted)
    return sql`${payment.id} = any(coalesce((${common}), array(select id from ${payment} where ${and(mine, indexed)} limit ${rows})))`
  const rare = sql`select coalesce(array_agg(id), '{}') from (select id from ${payment} where ${and(mine, indexed)} limit ${MOST_RARE + 1}) as rare having count(*) <= ${MOST_RARE}`
  const earlierMatches = sql`select id from (select id, ${written} as written from ${payment} where ${mine} order by ${time} desc, ${payment.id} desc) as older where ${found} limit ${rows}`
  return sql`${payment.id} = any(coalesce((${common}), (${rare}), array(${earlierMatches})))`
}

/** One wallet, one side: the indexes of sender and recipient are in list order. */
function sidesOf(filters: Filters): SQL[] {
  const { wallets = [], type } = filters
  const sent = wallets.map((wallet) => eq(payment.sender, wallet))
  const received = wallets.map((wallet) => eq(payment.recipient, wallet))
  const sides = type === 'received' ? received : type === 'all' ? [...sent, ...received] : sent
  const rest = type === 'all' ? undefined : seen(filters)
  return sides.flatMap((side) => and(side, rest) ?? [])
}

/** Whose payments a search finds besides: a branch for each address and side, as for the wallets of a list. */
function partiesOf({ parties }: Filters): SQL[] {
  return parties.flatMap((party) => [eq(payment.sender, party), eq(payment.recipient, party)])
}

/** One status, or what went back: its payments are found from their refunds. */
function statusesOf({ accountId, statuses }: Filters): SQL[] {
  if (!statuses) return [sql`true`]
  const parts = REFUND_STATES.filter((part) => statuses.includes(part))
  return [
    ...PAYMENT_STATUSES.filter((status) => statuses.includes(status)).map((status) =>
      eq(payment.status, status),
    ),
    ...(parts.length > 0 ? [isRefunded(accountId, parts)] : []),
  ]
}

/** From the point of view of the given wallets, if any; else of those that the account owns. */
export function seen({ wallets, type }: Pick<Filters, 'wallets' | 'type'>): SQL | undefined {
  if (!wallets) return type === 'all' ? undefined : eq(payment.direction, type)
  const paying = inArray(payment.sender, [...wallets])
  const paid = inArray(payment.recipient, [...wallets])
  switch (type) {
    case 'all':
      return or(paying, paid)
    case 'internal':
      return and(paying, paid)
    case 'sent':
      return and(paying, not(paid))
    case 'received':
      return and(paid, not(paying))
    case 'external':
      return sql`false`
  }
}

/** Written as in the indexes, which leave drafts out: a parameter would not match them. */
export function listed({ drafts }: Pick<Filters, 'drafts'>): SQL {
  return drafts ? sql`${payment.draft}` : sql`not ${payment.draft}`
}

/** The time that a list is ordered by and that its period means, written as in the indexes. */
export function timeOf({ by }: Pick<Filters, 'by'>): SQL {
  return by === 'landed' ? sql.raw(searchExpressions.landedAt) : sql`${payment.createdAt}`
}

const scaledAmount = sql.raw(searchExpressions.scaledAmount)

/** What every branch requires alike: all but the text, the wallets and the status. */
function narrowed(filters: Filters): SQL | undefined {
  const { by, since, until, minAmount, maxAmount, from, to } = filters
  const time = timeOf(filters)
  return and(
    listed(filters),
    by === 'landed' ? sql.raw(searchExpressions.hasLanded) : undefined,
    kindOf({ ...filters, statuses: undefined }, payment),
    from === undefined ? undefined : eq(payment.sender, from),
    to === undefined ? undefined : eq(payment.recipient, to),
    since && sql`${time} >= ${since.toISOString()}::timestamptz`,
    until && sql`${time} < ${until.toISOString()}::timestamptz`,
    minAmount === undefined ? undefined : sql`${scaledAmount} >= ${minAmount}::numeric`,
    maxAmount === undefined ? undefined : sql`${scaledAmount} <= ${maxAmount}::numeric`,
  )
}
