import { Trans, useLingui } from '@lingui/react/macro'
import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import { Fragment, type ReactNode } from 'react'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { StaleBanner } from '../../shell/StaleBanner.tsx'
import { Button } from '../../ui/Button.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'

type InboxListProps<Page, Item> = {
  title: ReactNode
  subtitle?: ReactNode
  query: UseInfiniteQueryResult<{ pages: Page[] }>
  itemsOf: (page: Page) => readonly Item[]
  keyOf: (item: Item) => string
  /** One list item. */
  children: (item: Item) => ReactNode
}

/** A list of the inbox on a separate page: what was read, and more on request. */
export function InboxList<Page, Item>({ title, subtitle, ...list }: InboxListProps<Page, Item>) {
  return (
    <>
      <Link
        className={buttonClass({ variant: 'quiet', size: 'sm' }, 'mb-4 -ms-2.5')}
        to={pathTo('overview', {})}
      >
        <Icon name="arrowLeft" /> <Trans>Overview</Trans>
      </Link>
      <PageHeader subtitle={subtitle} title={title} />
      <Items {...list} />
    </>
  )
}

function Items<Page, Item>({
  query,
  itemsOf,
  keyOf,
  children,
}: Omit<InboxListProps<Page, Item>, 'title' | 'subtitle'>) {
  const { t } = useLingui()
  const { data, error, refetch, isFetching } = query
  if (!data) {
    if (error) return <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
    return (
      <div aria-busy="true" aria-label={t`Loading`} className="grid gap-4" role="status">
        <Skeleton className="h-40 rounded-xl" />
        <Skeleton className="h-40 rounded-xl" />
      </div>
    )
  }
  // Between two pages one may have moved down.
  const items = new Map(
    data.pages.flatMap((page) => itemsOf(page).map((item) => [keyOf(item), item])),
  )
  return (
    <>
      <StaleBanner error={error} onRetry={() => void refetch()} readAt={query.dataUpdatedAt} />
      {items.size === 0 ? (
        <Card>
          <EmptyState icon="check" title={<Trans>All done</Trans>} />
        </Card>
      ) : (
        <ul className="grid gap-4">
          {[...items].map(([key, item]) => (
            <Fragment key={key}>{children(item)}</Fragment>
          ))}
        </ul>
      )}
      {query.hasNextPage && (
        <Button
          busy={query.isFetchingNextPage}
          className="mt-4"
          onClick={() => void query.fetchNextPage()}
          size="sm"
        >
          <Trans>Show more</Trans>
        </Button>
      )}
    </>
  )
}
