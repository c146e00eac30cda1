import { startTransition, useEffect, useMemo, useState, type ReactNode } from 'react'
import { matchPath, type RouteMatch } from './paths.ts'
import { getLocation, onLocation, restoreScroll } from './location.ts'
import { RouteContext } from './use-route.ts'

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
