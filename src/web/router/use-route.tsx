import {
  startTransition,
  useEffect,
  useMemo,
  useState,
  type ReactNode,
  createContext,
  use,
} from 'react'
import { getLocation, onLocation, restoreScroll } from './location.ts'
import {
  matchPath,
  type RouteMatch,
  type ParamsOf,
  type RouteName,
  type SearchOf,
} from './paths.ts'

const RouteContext = createContext<RouteMatch | undefined>(undefined)

/** The page in view; nothing when the address belongs to none. */
export function useRoute(): RouteMatch | undefined {
  return use(RouteContext)
}

export function useParams<K extends RouteName>(name: K): ParamsOf<K> {
  return useMatch(name).params
}

/** The search parameters of the page in view, read by its schema. */
export function useSearch<K extends RouteName>(name: K): SearchOf<K> {
  return useMatch(name).search
}

function useMatch<K extends RouteName>(name: K): { params: ParamsOf<K>; search: SearchOf<K> } {
  const match = useRoute()
  if (!isMatch(match, name)) throw new Error(`The page ${name} is not in view.`)
  return match
}

function isMatch<K extends RouteName>(
  match: RouteMatch | undefined,
  name: K,
): match is RouteMatch & { name: K; params: ParamsOf<K>; search: SearchOf<K> } {
  return match?.name === name
}

export type RouterProviderProps = {
  children: (view: {
    match: RouteMatch | undefined
    pageKey: string
    onShown: () => void
  }) => ReactNode
}

/** Follows the address bar. The old page stays until the new one's code is there. */
export function RouterProvider({ children }: RouterProviderProps) {
  const [location, setLocation] = useState(getLocation)
  useEffect(() => onLocation((next) => startTransition(() => setLocation(next))), [])

  const match = useMemo(
    () => matchPath(location.path, location.query),
    [location.path, location.query],
  )
  // Filters change the address, not the page: what is open stays open.
  const pageKey = match ? `${match.name} ${Object.values(match.params).join(' ')}` : location.path
  return (
    <RouteContext value={match}>
      {children({ match, pageKey, onShown: () => restoreScroll(location.key) })}
    </RouteContext>
  )
}
