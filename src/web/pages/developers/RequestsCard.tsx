import { Plural, Trans, useLingui } from '@lingui/react/macro'
import {
  infiniteQueryOptions,
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query'
import { useId, useState } from 'react'
import { REQUEST_LOG_DAYS, type LoggedRequestBody } from '#contract/request-log.ts'
import { call } from '../../api/client.ts'
import { apiKeysQuery } from '../../api/queries.ts'
import { QueryError } from '../../shell/QueryError.tsx'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Checkbox } from '../../ui/Checkbox.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Disclosure } from '../../ui/Disclosure.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Input } from '../../ui/Input.tsx'
import { Select } from '../../ui/Select.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Time } from '../../ui/Time.tsx'

type Filter = { keyId?: string; result?: 'error'; requestId?: string }

/** The log of requests under a filter, 50 at a time. */
function requestsQuery(filter: Filter) {
  return infiniteQueryOptions({
    queryKey: ['requestList', filter],
    queryFn: ({ signal, pageParam }) =>
      call(
        'requestList',
        { query: { ...filter, ...(pageParam && { cursor: pageParam }) } },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: 5_000,
    placeholderData: keepPreviousData,
  })
}

const REQUEST_ID = /^[0-9A-Za-z_-]{8,64}$/

/** What the account's keys asked and were answered, the newest first. */
export function RequestsCard() {
  const { t } = useLingui()
  const [keyId, setKeyId] = useState('')
  const [errorsOnly, setErrorsOnly] = useState(false)
  const [typedId, setTypedId] = useState('')
  const hint = useId()
  const requestId = typedId.trim()
  const isId = REQUEST_ID.test(requestId)
  const query = useInfiniteQuery(
    requestsQuery({
      ...(keyId !== '' && { keyId }),
      ...(errorsOnly && { result: 'error' }),
      ...(isId && { requestId }),
    }),
  )
  const { data: keys = [] } = useQuery(apiKeysQuery)
  const requests = query.data?.pages.flatMap((page) => page.requests)
  const nameOf = (id: string) => keys.find((key) => key.id === id)?.name
  return (
    <Card
      subtitle={<Trans>Kept for {REQUEST_LOG_DAYS} days. Secrets are hidden.</Trans>}
      title={<Trans>Requests</Trans>}
    >
      <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
        <Select
          aria-label={t`Key of the requests`}
          className="min-w-44"
          onChange={(event) => setKeyId(event.target.value)}
          value={keyId}
        >
          <option value="">{t`All keys`}</option>
          {keys.map(({ id, name, hint: ends }) => (
            <option key={id} value={id}>
              {ends ? `${name} (${ends.slice(-4)})` : name}
            </option>
          ))}
        </Select>
        <Input
          aria-describedby={hint}
          aria-label={t`Request ID`}
          className="max-w-72"
          mono
          onChange={(event) => setTypedId(event.target.value)}
          placeholder={t`Request ID`}
          value={typedId}
        />
        <Checkbox
          checked={errorsOnly}
          label={<Trans>Errors only</Trans>}
          onChange={(event) => setErrorsOnly(event.target.checked)}
        />
        {requestId !== '' && !isId && (
          <p className="w-full text-xs text-muted" id={hint}>
            <Trans>Enter the whole request ID.</Trans>
          </p>
        )}
      </div>
      {requests ? (
        requests.length === 0 && !query.hasNextPage ? (
          <EmptyState icon="clock" title={<Trans>Nothing found</Trans>} />
        ) : (
          <ul
            aria-label={t`Requests`}
            className="divide-y divide-line rounded-lg border border-line px-3"
          >
            {requests.map((request) => (
              <RequestItem keyName={nameOf(request.keyId)} key={request.id} request={request} />
            ))}
          </ul>
        )
      ) : query.error ? (
        <QueryError
          busy={query.isFetching}
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      ) : (
        <Skeleton className="h-52" />
      )}
      {query.hasNextPage && (
        <Button
          busy={query.isFetchingNextPage}
          className="mt-3"
          onClick={() => void query.fetchNextPage()}
          size="sm"
        >
          <Trans>Show more</Trans>
        </Button>
      )}
    </Card>
  )
}

function RequestItem({
  request: { requestId, keyId, at, method, path, status, code, durationMs, skipped, ...texts },
  keyName,
}: {
  request: LoggedRequestBody
  keyName: string | undefined
}) {
  const { t } = useLingui()
  const tone = status >= 500 ? 'bad' : code === null ? 'good' : 'warn'
  return (
    <li className="py-2.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Badge tone={tone}>{status}</Badge>
        <span className="min-w-0 font-mono text-[13px] [overflow-wrap:anywhere]">
          {method} {path}
        </span>
        <span className="ms-auto text-xs text-muted">
          <Time at={at} look="relative" />
        </span>
      </div>
      <Disclosure
        className="mt-1"
        label={
          <span className="min-w-0 [overflow-wrap:anywhere]">
            {code !== null && <span className="font-mono text-xs">{code} · </span>}
            <Trans>{durationMs} ms</Trans>
          </span>
        }
      >
        <dl className="mt-2 grid gap-1 text-xs text-muted">
          <div className="flex flex-wrap items-center gap-x-2">
            <dt>
              <Trans>Request ID</Trans>
            </dt>
            <dd className="flex min-w-0 items-center gap-1 font-mono [overflow-wrap:anywhere]">
              {requestId}
              <CopyButton label={t`Copy request ID`} value={requestId} />
            </dd>
          </div>
          <div className="flex flex-wrap gap-x-2">
            <dt>
              <Trans>API key</Trans>
            </dt>
            <dd>{keyName ?? keyId}</dd>
          </div>
        </dl>
        <LoggedText label={t`Request`} text={texts.request ?? ''} />
        <LoggedText label={t`Response`} text={texts.response ?? ''} />
      </Disclosure>
      {skipped > 0 && (
        <p className="mt-1 text-xs text-muted">
          <Plural
            one="# request before this one was not recorded."
            other="# requests before this one were not recorded."
            value={skipped}
          />
        </p>
      )}
    </li>
  )
}

/** What was sent or answered, as it is, in a box that scrolls. */
export function LoggedText({ label, text }: { label: string; text: string }) {
  if (text === '') return null
  return (
    <div className="mt-2">
      <p className="text-xs font-medium text-muted">{label}</p>
      <pre
        aria-label={label}
        className="mt-1 max-h-48 overflow-auto rounded-md bg-sunken p-2 font-mono text-xs [overflow-wrap:anywhere] whitespace-pre-wrap"
        role="region"
        tabIndex={0}
      >
        {text}
      </pre>
    </div>
  )
}
