import { createContext, use } from 'react'
import type { ParamsOf, RouteMatch, RouteName, SearchOf } from './paths.ts'

export const RouteContext = createContext<RouteMatch | undefined>(undefined)

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
