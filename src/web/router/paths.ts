import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import * as v from 'valibot'
import { INVOICE_STATES } from '#contract/invoice-state.ts'
import { DIRECTIONS } from '#contract/payment.ts'
import { pagePaths } from './page-paths.ts'

/**
 * Every page's title and search parameters, as data. Links, the router and the filters are derived from it.
 * A parameter that cannot be read falls back to nothing: an old link still opens.
 */

const text = (max: number) =>
  v.fallback(v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(max))), undefined)
const choice = <const T extends readonly string[]>(values: T) =>
  v.fallback(v.optional(v.picklist(values)), undefined)

const spelled = (pattern: RegExp) =>
  v.fallback(v.optional(v.pipe(v.string(), v.regex(pattern))), undefined)
const day = spelled(/^[12][0-9]{3}-[01][0-9]-[0-3][0-9]$/)
const decimal = spelled(/^[0-9]{1,30}(\.[0-9]{1,36})?$/)

/** Periods that move with the calendar. */
export const PERIODS = ['today', '7d', '30d', 'month', 'last-month'] as const

export const routes = {
  overview: {
    title: msg`Overview`,
    search: v.object({
      days: choice(['7', '30', '90']),
      /** The asset whose figures are shown: a symbol, or an address where two have it. */
      network: text(64),
      asset: text(64),
      show: choice(['unmatched', 'undelivered', 'refundRequests']),
    }),
  },
  checkout: {
    title: msg`Pay`,
    search: v.object({
      to: text(64),
      amount: text(80),
      network: text(64),
      resource: text(2048),
      description: text(200),
      reference: text(100),
      /** An address or a configured symbol; native otherwise. */
      asset: text(64),
      /** For operators: the managed wallet that pays. */
      from: text(64),
      /** A payment already begun in this browser: its page is this one until it is done. */
      payment: text(40),
    }),
  },
  payLink: {
    title: msg`Pay`,
    search: v.object({
      payment: text(40),
      /** Of a short link: what another device had chosen. */
      pieces: spelled(/^[1-9][0-9]{0,3}$/),
      network: text(64),
      asset: text(64),
    }),
  },
  links: {
    title: msg`Payment links`,
    search: v.object({
      /** Begins with the form of a new one. */
      create: choice(['link']),
      /** The id of the one link to show, where the list has it. */
      link: text(64),
      /** A product to make a link from. */
      product: spelled(/^prd_[1-9A-HJ-NP-Za-km-z]{22}$/),
    }),
  },
  files: { title: msg`Files`, search: v.object({}) },
  /** `payment`: the payment that the reader comes back from. */
  file: { title: msg`File`, search: v.object({ payment: text(40) }) },
  products: { title: msg`Products`, search: v.object({}) },
  invoices: {
    title: msg`Invoices`,
    search: v.object({ state: choice(INVOICE_STATES), q: text(100) }),
  },
  invoice: { title: msg`Invoice`, search: v.object({}) },
  payments: {
    title: msg`Payments`,
    search: v.object({
      type: choice(DIRECTIONS),
      /** One or several with commas. Beside `incomplete`, drafts, which no other list shows, no other counts. */
      status: spelled(
        /^((created|pending|confirmed|finalized|expired|failed|rolled_back|refunded|partly_refunded|incomplete)(,(?!$)|$))+$/,
      ),
      network: text(64),
      /** A configured symbol. */
      asset: text(64),
      when: choice(PERIODS),
      /** Days, both inclusive, in the reader's time zone; in place of `when`. */
      from: day,
      to: day,
      /** The days are those of UTC, whatever the reader's time zone: as in the figures of the overview. */
      zone: choice(['utc']),
      min: decimal,
      max: decimal,
      q: text(300),
      /** What the reader's side wrote beside payments; the proxy keeps it. */
      label: text(40),
      reconciled: choice(['yes', 'no']),
    }),
  },
  payment: { title: msg`Payment`, search: v.object({}) },
  refund: {
    title: msg`Refund`,
    search: v.object({
      /** With it the review comes first; all that is left otherwise. */
      amount: text(80),
      reason: text(300),
      /** The managed wallet that pays. */
      from: text(64),
      /** The refund already begun in this browser. */
      payment: text(40),
    }),
  },
  customers: {
    title: msg`Customers`,
    search: v.object({ q: text(100), sort: choice(['last', 'first', 'payments']) }),
  },
  customer: { title: msg`Customer`, search: v.object({}) },
  /** `wallet` on `network`: where money is to be sent. */
  balances: { title: msg`Balances`, search: v.object({ wallet: text(64), network: text(64) }) },
  developers: {
    title: msg`Developers`,
    search: v.object({
      period: choice(['hour', 'day']),
      key: text(40),
      endpoint: text(120),
      /** Opens the logs of the webhooks that have failed deliveries. */
      deliveries: choice(['failed']),
    }),
  },
  verify: {
    title: msg`Verify`,
    search: v.object({
      /** A settlement of this browser that is not finished. */
      settlement: text(40),
    }),
  },
  explore: {
    title: msg`Explore`,
    search: v.object({
      url: text(2048),
      /** A paid request of this browser. */
      visit: text(40),
    }),
  },
  people: { title: msg`People`, search: v.object({}) },
  join: { title: msg`Invitation`, search: v.object({}) },
  settings: { title: msg`Settings`, search: v.object({}) },
} as const satisfies Record<RouteName, Route>

type Route = {
  title: MessageDescriptor
  search: v.GenericSchema<Record<string, unknown>, Record<string, string | undefined>>
}

export type RouteName = keyof typeof pagePaths
export type SearchOf<K extends RouteName> = v.InferOutput<(typeof routes)[K]['search']>
export type ParamsOf<K extends RouteName> = Record<ParamNames<(typeof pagePaths)[K]>, string>

type ParamNames<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<Rest>
  : P extends `${string}:${infer Name}`
    ? Name
    : never

/** Reads foreign parameters of a page; what is empty or unknown is left out. */
export function readSearch<K extends RouteName>(
  name: K,
  values: Readonly<Record<string, string | undefined>>,
): SearchOf<K> {
  return v.parse(routes[name].search, values)
}

type Target<K extends RouteName> = { search?: Partial<SearchOf<K>> } & ([
  ParamNames<(typeof pagePaths)[K]>,
] extends [never]
  ? { params?: undefined }
  : { params: ParamsOf<K> })

/** The path below the app's base: `/payments?type=sent`. */
export function pathTo<K extends RouteName>(name: K, target: Target<K>): string {
  const params: Partial<Record<string, string>> = target.params ?? {}
  const path = pagePaths[name].replace(/:([a-zA-Z]+)/g, (_, key: string) =>
    encodeURIComponent(params[key] ?? ''),
  )
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries<unknown>({ ...target.search }))
    if (typeof value === 'string' && value) search.set(key, value)
  const query = search.toString()
  return query ? `${path}?${query}` : path
}

export type RouteMatch = {
  [K in RouteName]: { name: K; params: ParamsOf<K>; search: SearchOf<K> }
}[RouteName]

/** The page a path below the base belongs to, or nothing. */
export function matchPath(path: string, query: string): RouteMatch | undefined {
  const parts = segments(path)
  for (const name of Object.keys(pagePaths) as RouteName[]) {
    const params = matchParams(segments(pagePaths[name]), parts)
    if (!params) continue
    const search = v.parse(routes[name].search, Object.fromEntries(new URLSearchParams(query)))
    // The table ties the three together; the compiler cannot follow it through the loop.
    return { name, params, search } as RouteMatch
  }
  return undefined
}

function matchParams(pattern: string[], parts: string[]): Record<string, string> | undefined {
  if (pattern.length !== parts.length) return undefined
  const params: Record<string, string> = {}
  for (const [index, expected] of pattern.entries()) {
    const part = parts[index] ?? ''
    if (expected.startsWith(':')) params[expected.slice(1)] = part
    else if (expected !== part) return undefined
  }
  return params
}

function segments(path: string): string[] {
  return path.split('/').filter(Boolean).map(decode)
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
