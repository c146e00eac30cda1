import { parseAddress } from './address.ts'
import { parseAmount } from './amount.ts'
import { describe } from './fields.ts'
import { isPaymentId, LISTED_STATUSES, type ListedStatus } from './payment.ts'

/** The words before a colon that narrow a search, each with an example of what follows. */
export const SEARCH_OPERATORS = {
  amount: 'amount:>1, amount:<=2.5 or amount:1..5',
  status: `status: and ${LISTED_STATUSES.join(', ')}, several with commas, or incomplete alone`,
  asset: 'asset:ETH',
  network: 'network:eip155:1',
  from: 'from: and a whole address',
  to: 'to: and a whole address',
} as const
export type SearchOperator = keyof typeof SEARCH_OPERATORS

/** At most so many payments are counted that a search finds. */
export const SEARCH_COUNTED = 1_000
/** At most so many addresses may be looked for beside a text. */
export const SEARCHED_PARTIES = 10

/** A bound of an amount: a decimal in the asset. */
export type AmountBound = { value: string; inclusive: boolean }

export type PaymentSearch = {
  text?: string
  minAmount?: AmountBound
  maxAmount?: AmountBound
  status?: readonly ListedStatus[] | 'incomplete'
  asset?: string
  network?: string
  from?: string
  to?: string
}

/** The word that cannot be read, and what was expected of it. */
export type SearchProblem = { word: string; expected: SearchOperator | 'operator' | 'once' }

export type ParsedSearch =
  | { ok: true; search: PaymentSearch }
  | { ok: false; problem: SearchProblem }

/** An operator begins a word and is outside of quotes. */
const PIECE = /"[^"]*"|[^\s"]+(?:"[^"]*"[^\s"]*)*|"/g

/**
 * Reads what a person types to find payments: text, and operators such as `amount:>1` or
 * `status:failed,expired`. Quotes make text of what looks like an operator. A URL, and any other
 * word before a colon, is text, unless it compares: `amout:>1` is a spelling mistake.
 */
export function parseSearch(query: string): ParsedSearch {
  const search: PaymentSearch = {}
  let text = ''
  let end = 0
  for (const { 0: piece, index } of query.matchAll(PIECE)) {
    const [, name, value] = /^([a-z]+):(.*)$/is.exec(piece) ?? []
    const operator = name?.toLowerCase()
    if (operator === undefined || value === undefined) continue
    if (!isOperator(operator)) {
      if (/^[<>=]/.test(value)) return refuse(piece, 'operator')
      continue
    }
    const given = operator === 'amount' ? (search.minAmount ?? search.maxAmount) : search[operator]
    if (given !== undefined && !completes(search, operator, value)) return refuse(piece, 'once')
    const read = readers[operator](unquoted(value))
    if (!read) return refuse(piece, operator)
    Object.assign(search, read)
    text += query.slice(end, index)
    end = index + piece.length
  }
  text = `${text}${query.slice(end)}`.trim()
  // Quotes around an operator only say that it is text.
  const literal = /^"([a-z]+:[^"]*)"$/is.exec(text)?.[1]
  if (text !== '') search.text = literal ?? text
  return { ok: true, search }
}

/** The text of a search that may name a customer: undefined for an address, an id, and a single letter. */
export function customerTextOf(query: string): string | undefined {
  const parsed = parseSearch(query)
  const text = parsed.ok ? parsed.search.text : undefined
  const named = text !== undefined && text.length >= 2 && text.length <= 100
  return named && !isPaymentId(text) && !parseAddress(text).ok ? text : undefined
}

/** What is wrong, in a sentence for programs. */
export function describeSearchProblem({ word, expected }: SearchProblem): string {
  switch (expected) {
    case 'operator':
      return `Expected one of ${Object.keys(SEARCH_OPERATORS).join(', ')} before the colon, received ${describe(word)}. Quotes make it text.`
    case 'once':
      return `Expected each operator once, received ${describe(word)} again.`
    default:
      return `Expected ${SEARCH_OPERATORS[expected]}, received ${describe(word)}. Quotes make it text.`
  }
}

/** `amount:>1 amount:<5` are two ends of one range. */
function completes(search: PaymentSearch, operator: SearchOperator, value: string): boolean {
  if (operator !== 'amount') return false
  if (value.startsWith('>')) return search.minAmount === undefined
  return value.startsWith('<') && search.maxAmount === undefined
}

const readers: Record<SearchOperator, (value: string) => PaymentSearch | undefined> = {
  amount: readAmount,
  status: readStatus,
  asset: (asset) => (asset !== '' && asset.length <= 64 ? { asset } : undefined),
  network: (network) => (/^[-:_a-zA-Z0-9]{1,41}$/.test(network) ? { network } : undefined),
  from: (value) => {
    const parsed = parseAddress(value)
    return parsed.ok ? { from: parsed.address } : undefined
  },
  to: (value) => {
    const parsed = parseAddress(value)
    return parsed.ok ? { to: parsed.address } : undefined
  },
}

const MOST_DECIMALS = 36

function readAmount(value: string): PaymentSearch | undefined {
  const [, sign = '', first = '', last] = /^(>=|<=|>|<|=|)([^.<>=]*(?:\.\d+)?)(?:\.\.(.+))?$/.exec(
    value,
  ) ?? [undefined, undefined, '']
  const bound = (text: string, inclusive = true): AmountBound | undefined =>
    /^0(\.0+)?$/.test(text) || parseAmount(text, MOST_DECIMALS).ok
      ? { value: text, inclusive }
      : undefined
  const from = bound(first, sign !== '>' && sign !== '<')
  if (!from) return undefined
  if (last !== undefined) {
    const to = bound(last)
    return sign === '' && to ? { minAmount: from, maxAmount: to } : undefined
  }
  if (sign.startsWith('>')) return { minAmount: { ...from, inclusive: sign === '>=' } }
  if (sign.startsWith('<')) return { maxAmount: { ...from, inclusive: sign === '<=' } }
  return { minAmount: from, maxAmount: from }
}

function readStatus(value: string): PaymentSearch | undefined {
  const names = value.toLowerCase().split(',')
  if (names.length === 1 && names[0] === 'incomplete') return { status: 'incomplete' }
  const statuses = names.flatMap((name) => LISTED_STATUSES.filter((status) => status === name))
  return statuses.length === names.length ? { status: statuses } : undefined
}

function refuse(word: string, expected: SearchProblem['expected']): ParsedSearch {
  return { ok: false, problem: { word, expected } }
}

function unquoted(value: string): string {
  return /^"(.*)"$/s.exec(value)?.[1] ?? value
}

function isOperator(name: string): name is SearchOperator {
  return Object.hasOwn(SEARCH_OPERATORS, name)
}
