import { useLingui } from '@lingui/react/macro'
import { lazy, Suspense, useEffect, useRef, type ReactNode } from 'react'
import { routes, type RouteMatch } from '../router/paths.ts'
import { PageBoundary } from './PageBoundary.tsx'
import { pageOf } from './pages.ts'

const NotFoundPage = lazy(async () => ({
  default: (await import('../shell/NotFoundPage.tsx')).NotFoundPage,
}))

export type OutletProps = {
  match: RouteMatch | undefined
  /** The page's place in the history: a new one is a new page. */
  pageKey: string
  siteTitle: string
  /** While a page's code is on its way. */
  fallback: ReactNode
  onShown: () => void
}

/** Shows the page of the address; title and focus move with it. */
export function Outlet({ match, pageKey, siteTitle, fallback, onShown }: OutletProps) {
  const { t } = useLingui()
  const title = match ? t(routes[match.name].title) : t`Not found`
  useEffect(() => {
    document.title = `${title} · ${siteTitle}`
  }, [title, siteTitle, pageKey])

  const Page = match ? pageOf(match.name) : NotFoundPage
  return (
    <PageBoundary key={pageKey} name={match?.name}>
      <Suspense fallback={fallback}>
        <Arrival onShown={onShown}>
          <Page />
        </Arrival>
      </Suspense>
    </PageBoundary>
  )
}

/** Tells once a page stands. */
function Arrival({ onShown, children }: { onShown: () => void; children: ReactNode }) {
  const shown = useRef(onShown)
  useEffect(() => shown.current(), [])
  return children
}
