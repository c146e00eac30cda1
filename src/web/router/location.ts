import { wantHeading } from './heading-focus.ts'

/** The address bar as a store. Paths in the app are below the base that index.html names. */
export type Location = {
  path: string
  query: string
  /** Differs for every entry of the history. */ key: string
}

type Move = 'push' | 'replace' | 'pop'

const base =
  typeof document === 'undefined' ? '' : new URL(document.baseURI).pathname.replace(/\/[^/]*$/, '')
const listeners = new Set<(location: Location, move: Move) => void>()
const scrolls = new Map<string, number>()
let shownKey = ''

export function getLocation(): Location {
  const { pathname, search } = window.location
  const path = pathname.startsWith(base) ? pathname.slice(base.length) : pathname
  return { path: path || '/', query: search, key: currentKey() }
}

/** The URL of a path below the base, as used in links. */
export function hrefOf(path: string): string {
  return `${base}${path}`
}

/**
 * Goes to a page of the app. `replace` adds no history entry: for filters, and after a step that
 * must not be repeated.
 */
export function navigate(path: string, options: { replace?: boolean } = {}): void {
  rememberScroll()
  const state = { key: crypto.randomUUID() }
  if (options.replace) history.replaceState(state, '', hrefOf(path))
  else history.pushState(state, '', hrefOf(path))
  notify(options.replace ? 'replace' : 'push')
}

export function onLocation(listener: (location: Location, move: Move) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The scroll position when the reader left this entry; the top for a new one. */
export function restoreScroll(key: string): void {
  shownKey = key
  window.scrollTo(0, scrolls.get(key) ?? 0)
}

function rememberScroll(): void {
  scrolls.set(shownKey || currentKey(), window.scrollY)
}

function currentKey(): string {
  const state: unknown = history.state
  return typeof state === 'object' &&
    state !== null &&
    'key' in state &&
    typeof state.key === 'string'
    ? state.key
    : 'first'
}

function notify(move: Move): void {
  if (move !== 'replace') wantHeading()
  const location = getLocation()
  for (const listener of listeners) listener(location, move)
}

if (typeof window !== 'undefined') {
  // A host without rewrite rules sends deep links here as `#/payments/…`.
  if (window.location.hash.startsWith('#/'))
    history.replaceState(null, '', hrefOf(window.location.hash.slice(1)))
  history.scrollRestoration = 'manual'
  window.addEventListener('popstate', () => {
    rememberScroll()
    notify('pop')
  })
}
