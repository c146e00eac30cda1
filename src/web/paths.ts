import * as v from 'valibot'
import { PAYMENT_STATUSES } from '#contract/payment.ts'

/**
 * Every page's address and search parameters, as data. Links, the router and the filters are derived from it.
 * A parameter that cannot be read falls back to nothing: an old link still opens.
 */

const text = (max: number) => v.fallback(v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(max))), undefined)
const choice = <const T extends readonly string[]>(values: T) => v.fallback(v.optional(v.picklist(values)), undefined)

export const routes = {
  overview: { path: '/', title: 'Overview', search: v.object({ days: choice(['7', '30', '90']) }) },
  checkout: {
    path: '/pay',
    title: 'Pay',
    search: v.object({
      to: text(64),
      amount: text(80),
      network: text(64),
      resource: text(2048),
      description: text(300),
      reference: text(100),
      /** A payment already begun in this browser: its page is this one until it is done. */
      payment: text(40),
    }),
  },
  payments: {
    path: '/payments',
    title: 'Payments',
    search: v.object({ type: choice(['sent', 'received']), status: choice(PAYMENT_STATUSES), network: text(64), q: text(300) }),
  },
  payment: { path: '/payments/:paymentId', title: 'Payment', search: v.object({}) },
  settings: { path: '/settings', title: 'Settings', search: v.object({}) },
} as const satisfies Record<string, Route>

type Route = { path: `/${string}`; title: string; search: v.GenericSchema<Record<string, unknown>, Record<string, string | undefined>> }

export type RouteName = keyof typeof routes
export type SearchOf<K extends RouteName> = v.InferOutput<(typeof routes)[K]['search']>
export type ParamsOf<K extends RouteName> = Record<ParamNames<(typeof routes)[K]['path']>, string>

type ParamNames<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<Rest>
  : P extends `${string}:${infer Name}`
    ? Name
    : never

/** Reads foreign parameters of a page; what is empty or unknown is left out. */
export function readSearch<K extends RouteName>(name: K, values: Readonly<Record<string, string | undefined>>): SearchOf<K> {
  return v.parse(routes[name].search, values)
}

type Target<K extends RouteName> = { search?: Partial<SearchOf<K>> } & ([ParamNames<(typeof routes)[K]['path']>] extends [never]
  ? { params?: undefined }
  : { params: ParamsOf<K> })

/** The path below the app's base: `/payments?type=sent`. */
export function pathTo<K extends RouteName>(name: K, target: Target<K>): string {
  const params: Partial<Record<string, string>> = target.params ?? {}
  const path = routes[name].path.replace(/:([a-zA-Z]+)/g, (_, key: string) => encodeURIComponent(params[key] ?? ''))
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries<unknown>({ ...target.search })) if (typeof value === 'string' && value) search.set(key, value)
  const query = search.toString()
  return query ? `${path}?${query}` : path
}

export type RouteMatch = { [K in RouteName]: { name: K; params: ParamsOf<K>; search: SearchOf<K> } }[RouteName]

/** The page a path below the base belongs to, or nothing. */
export function matchPath(path: string, query: string): RouteMatch | undefined {
  const parts = segments(path)
  for (const name of Object.keys(routes) as RouteName[]) {
    const params = matchParams(segments(routes[name].path), parts)
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
