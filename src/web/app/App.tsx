import { useLingui, Trans } from '@lingui/react/macro'
import { QueryClientProvider, useQuery } from '@tanstack/react-query'
import { useEffect, lazy, Suspense, useRef, useState, type ReactNode, Component } from 'react'
import { setServerTime } from '../api/clock.ts'
import { ApiError } from '../api/errors.ts'
import { useLiveEvents } from '../api/events.ts'
import { reloadForNewVersion } from '../api/new-version.ts'
import { configQuery } from '../api/queries.ts'
import { queryClient } from '../api/query-client.ts'
import { useSession, type SessionState } from '../api/session.ts'
import { ConfigContext } from '../api/use-config.ts'
import { describeError } from '../errors/codes.ts'
import { useOpenPurchases } from '../local-data/open-purchases.ts'
import { loadMessages } from '../locales/language.ts'
import { RouterProvider } from '../router/use-route.tsx'
import { routes, type RouteMatch, type RouteName } from '../router/paths.ts'
import { PreloadContext } from '../router/preload.ts'
import { PageSkeleton } from '../shell/PageSkeleton.tsx'
import { PayMain } from '../shell/PayMain.tsx'
import { QueryError } from '../shell/QueryError.tsx'
import { SearchButton, isSearchKey } from '../shell/SearchButton.tsx'
import { Shell, useInDashboard } from '../shell/Shell.tsx'
import { Button } from '../ui/Button.tsx'
import { ErrorState } from '../ui/ErrorState.tsx'
import { toast } from '../ui/Toast.tsx'
import type { WebConfig } from './config.ts'
import { preloadPage, pageOf, forgetPage } from './pages.ts'

const load = async () =>
  (
    await Promise.all([
      import('../palette/Palette.tsx'),
      loadMessages('palette'),
      loadMessages('payment-view'),
    ])
  )[0].Palette

type UsePalette = {
  open: () => void
  /** Somebody is about to open it. */
  preload: () => void
  /** The palette, where it is open. */
  palette: ReactNode
}

/**
 * The command palette of the dashboard: its code is fetched when it is first wanted. Its keys do nothing while a dialog is
 * open: what somebody is about to sign is never covered.
 */
function usePalette(): UsePalette {
  const [requested, setRequested] = useState(false)
  const [Palette, setPalette] = useState<Awaited<ReturnType<typeof load>>>()

  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (!isSearchKey(event)) return
      event.preventDefault()
      if (!document.querySelector('dialog[open]')) setRequested(true)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])

  // Where its code cannot be fetched, the page says so, and the next press tries again.
  useEffect(() => {
    if (!requested) return
    load().then(
      (loaded) => setPalette(() => loaded),
      async () => {
        setRequested(false)
        if (!(await reloadForNewVersion()))
          toast(describeError(new ApiError({ code: 'OFFLINE' })).title, { tone: 'bad' })
      },
    )
  }, [requested])

  return {
    open: () => setRequested(true),
    preload: () => void load().catch(() => undefined),
    palette: requested && Palette && <Palette onClose={() => setRequested(false)} />,
  }
}

type Props = {
  /** None of an address that nothing is at. */
  name?: RouteName
  siteTitle: string
  children: ReactNode
}

/** What browsers say of a page's code that did not come. */
const NOT_LOADED = /dynamically imported module|importing a module script/i

/** A page that breaks, or whose code cannot be fetched, takes nothing else down. */
class PageBoundary extends Component<Props, { error: Error | null }> {
  override state: { error: Error | null } = { error: null }

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error }
  }

  override componentDidCatch(): void {
    // A page whose code is gone may be of an earlier version.
    void reloadForNewVersion()
  }

  retry = (): void => {
    if (this.props.name) forgetPage(this.props.name)
    this.setState({ error: null })
  }

  override render(): ReactNode {
    const { error } = this.state
    if (!error) return this.props.children
    const unloaded = NOT_LOADED.test(error.message)
    return (
      <Framed title={this.props.siteTitle}>
        <ErrorState
          action={
            <>
              <Button onClick={this.retry} variant="primary">
                <Trans>Try again</Trans>
              </Button>
              <Button onClick={() => location.reload()}>
                <Trans>Reload</Trans>
              </Button>
            </>
          }
          body={
            unloaded ? (
              <Trans>Check your connection.</Trans>
            ) : (
              <Trans>Check your payments before you pay again.</Trans>
            )
          }
          title={unloaded ? <Trans>Server unreachable</Trans> : <Trans>Page error</Trans>}
        />
      </Framed>
    )
  }
}

export function App({ config }: { config: WebConfig }) {
  return (
    <QueryClientProvider client={queryClient}>
      <PreloadContext value={preloadPage}>
        <Fixture title={config.title} />
      </PreloadContext>
    </QueryClientProvider>
  )
}

function Fixture({ title }: { title: string | undefined }) {
  const { data, error, dataUpdatedAt, refetch, isFetching } = useQuery(configQuery)
  const session = useSession()
  const siteTitle = title ?? data?.title ?? 'Paydesk'
  useLiveEvents(session.kind === 'known' && session.session ? session.session.wallets.join() : null)
  useEffect(() => {
    if (data) setServerTime(data.now, dataUpdatedAt)
  }, [data, dataUpdatedAt])

  return (
    <RouterProvider>
      {(view) => {
        const page = data ? (
          <ConfigContext value={data}>
            {view.match?.name !== 'explore' && <Purchases key={view.pageKey} />}
            <Outlet {...view} fallback={<Loading title={siteTitle} />} siteTitle={siteTitle} />
          </ConfigContext>
        ) : error ? (
          <Framed title={siteTitle}>
            <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
          </Framed>
        ) : (
          <Loading title={siteTitle} />
        )
        if (view.match && OWN_FRAME.has(view.match.name)) return page
        if (view.match?.name === 'checkout')
          return (
            <CheckoutFrame session={session} title={siteTitle}>
              {page}
            </CheckoutFrame>
          )
        return <Dashboard title={siteTitle}>{page}</Dashboard>
      }}
    </RouterProvider>
  )
}

/** A customer with a payment link or a file sees the merchant's page, which brings its own frame. */
const OWN_FRAME: ReadonlySet<RouteName> = new Set(['payLink', 'file'])

/**
 * People of the account pay from the dashboard; to everyone else the checkout is the merchant's
 * page. Once it is shown, the frame stays: signing in or out takes no form and no payment away.
 */
function CheckoutFrame({
  session,
  title,
  children,
}: {
  session: SessionState
  title: string
  children: ReactNode
}) {
  const [shown, setShown] = useState<'dashboard' | 'page'>()
  const requested =
    session.kind === 'known' && session.session?.role
      ? 'dashboard'
      : session.kind === 'loading'
        ? undefined
        : 'page'
  const frame = shown ?? requested
  if (shown === undefined && requested !== undefined) setShown(requested)
  if (frame === 'dashboard') return <Dashboard title={title}>{children}</Dashboard>
  return frame === 'page' ? children : <Loading title={title} />
}

/** The pages of the merchant's side, with the search of all of them. */
function Dashboard({ title, children }: { title: string; children: ReactNode }) {
  const { open, preload, palette } = usePalette()
  return (
    <Shell search={<SearchButton onNear={preload} onOpen={open} />} title={title}>
      {children}
      {palette}
    </Shell>
  )
}

const PurchaseNotice = lazy(async () => {
  const [module] = await Promise.all([
    import('../pages/explore/PurchaseNotice.tsx'),
    loadMessages('explore'),
  ])
  return { default: module.PurchaseNotice }
})

/** Frames what is shown until a page that brings its own frame is loaded, under the heading of that page. */
function Framed({ title, children }: { title: string; children: ReactNode }) {
  if (useInDashboard()) return children
  return (
    <PayMain>
      <h1 className="sr-only">{title}</h1>
      {children}
    </PayMain>
  )
}

function Loading({ title }: { title: string }) {
  return (
    <Framed title={title}>
      <PageSkeleton />
    </Framed>
  )
}

/** On each page but Explore, which says it itself. Nothing is loaded for it where nothing was bought. */
function Purchases() {
  const inDashboard = useInDashboard()
  if (useOpenPurchases().length === 0) return null
  const notice = (
    <Suspense>
      <PurchaseNotice />
    </Suspense>
  )
  if (inDashboard) return notice
  // Above the merchant's page, in its column.
  return (
    <aside className="no-print mx-auto w-full max-w-[520px] px-4 pt-4 empty:hidden">{notice}</aside>
  )
}

const NotFoundPage = lazy(async () => ({
  default: (await import('../shell/NotFoundPage.tsx')).NotFoundPage,
}))

type OutletProps = {
  match: RouteMatch | undefined
  /** The page's place in the history: a new one is a new page. */
  pageKey: string
  siteTitle: string
  /** While a page's code is on its way. */
  fallback: ReactNode
  onShown: () => void
}

/** Shows the page of the address; title and focus move with it. */
function Outlet({ match, pageKey, siteTitle, fallback, onShown }: OutletProps) {
  const { t } = useLingui()
  const title = match ? t(routes[match.name].title) : t`Not found`
  useEffect(() => {
    document.title = `${title} · ${siteTitle}`
  }, [title, siteTitle, pageKey])

  const Page = match ? pageOf(match.name) : NotFoundPage
  return (
    <PageBoundary key={pageKey} name={match?.name} siteTitle={siteTitle}>
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
