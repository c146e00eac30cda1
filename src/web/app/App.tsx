import { QueryClientProvider, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { configQuery } from '../api/queries.ts'
import { queryClient } from '../api/query-client.ts'
import { useLiveEvents } from '../api/events.ts'
import { useSession } from '../api/session.ts'
import { setServerTime } from '../api/clock.ts'
import type { WebConfig } from './config.ts'
import { Outlet } from './Outlet.tsx'
import { preloadPage } from './pages.ts'
import { PreloadContext } from '../router/preload.ts'
import { RouterProvider } from '../router/RouterProvider.tsx'
import { ConfigContext } from '../api/use-config.ts'
import { PageSkeleton } from '../shell/PageSkeleton.tsx'
import { QueryError } from '../shell/QueryError.tsx'
import { Shell } from '../shell/Shell.tsx'

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
      {(view) => (
        <Shell title={siteTitle}>
          {data ? (
            <ConfigContext value={data}>
              <Outlet {...view} fallback={<PageSkeleton />} siteTitle={siteTitle} />
            </ConfigContext>
          ) : error ? (
            <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
          ) : (
            <PageSkeleton />
          )}
        </Shell>
      )}
    </RouterProvider>
  )
}
