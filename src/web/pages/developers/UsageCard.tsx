import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { t } from '@lingui/core/macro'
import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { serviceCalls } from '#contract/calls.ts'
import type { EndpointResponse } from '#contract/endpoints.ts'
import { USAGE_PERIODS } from '#contract/usage.ts'
import { apiKeysQuery, usageQuery } from '../../api/queries.ts'
import { pathTo } from '../../router/paths.ts'
import { usePreferences } from '../../local-data/preferences.ts'
import { navigate } from '../../router/location.ts'
import { useSearch } from '../../router/use-route.tsx'
import { formatDate, formatNumber } from '../../locales/formats.ts'
import { QueryError } from '../../shell/QueryError.tsx'
import { Card } from '../../ui/Card.tsx'
import { BarChart } from '../../ui/chart/BarChart.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Select } from '../../ui/Select.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Table, Td, Th } from '../../ui/Table.tsx'
import { countBuckets, countEndpoints } from './count-usage.ts'

/** Requests over time, for all keys or one, and the endpoints they called. */
export function UsageCard() {
  const { t } = useLingui()
  const search = useSearch('developers')
  const period = search.period ?? 'hour'
  const { data, error, isFetching, refetch } = useQuery({
    ...usageQuery(period),
    placeholderData: keepPreviousData,
  })
  const { data: keys = [] } = useQuery(apiKeysQuery)
  const endpointNames = [
    ...new Set([
      ...(data?.usage ?? []).map(({ endpoint }) => endpoint),
      ...(search.endpoint ? [search.endpoint] : []),
    ]),
  ].toSorted()
  const go = (next: Partial<typeof search>) =>
    navigate(pathTo('developers', { search: { ...search, ...next } }), { replace: true })
  return (
    <Card title={<Trans>Usage</Trans>}>
      <div className="mb-3 flex flex-wrap gap-2">
        <Segmented
          label={t`Time range`}
          onChange={(value) => go({ period: value })}
          options={[
            { value: 'hour', label: t`24 hours` },
            { value: 'day', label: t`30 days` },
          ]}
          value={period}
        />
        <Select
          aria-label={t`API key`}
          className="min-w-44 max-w-full"
          onChange={(event) => go({ key: event.target.value || undefined })}
          value={search.key ?? ''}
        >
          <option value="">{t`All keys`}</option>
          {keys.map(({ id, name, hint }) => (
            <option key={id} value={id}>
              {hint ? `${name} (${hint.slice(-4)})` : name}
            </option>
          ))}
        </Select>
        <Select
          aria-label={t`Endpoint`}
          className="min-w-44 max-w-full"
          onChange={(event) => go({ endpoint: event.target.value || undefined })}
          value={search.endpoint ?? ''}
        >
          <option value="">{t`All endpoints`}</option>
          {endpointNames.map((each) => (
            <option key={each} value={each}>
              {nameEndpoint(each)}
            </option>
          ))}
        </Select>
      </div>
      {data ? (
        <Usage data={data} endpoint={search.endpoint} keyId={search.key} period={period} />
      ) : error ? (
        <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton className="h-52" />
      )}
    </Card>
  )
}

type UsageProps = {
  data: EndpointResponse<'usage'>
  keyId: string | undefined
  /** The endpoint whose requests are charted; all of them otherwise. */
  endpoint: string | undefined
  period: 'hour' | 'day'
}

/** The outcome of the requests over time, and the endpoints they called. */
function Usage({ data, keyId, endpoint, period }: UsageProps) {
  const { t } = useLingui()
  const zone = usePreferences().timeZone
  const rows = data.usage.filter((row) => keyId === undefined || row.keyId === keyId)
  const endpoints = countEndpoints(rows)
  const charted = endpoint === undefined ? rows : rows.filter((row) => row.endpoint === endpoint)
  const total = charted.reduce((sum, { requests }) => sum + requests, 0)
  // A day of usage is a UTC day, regardless of the reader's time zone.
  const timeZone = period === 'day' || zone === 'utc' ? 'UTC' : undefined
  const nameOf = (at: number) =>
    formatDate(
      at,
      period === 'day'
        ? { day: 'numeric', month: 'short', timeZone }
        : { hour: '2-digit', minute: '2-digit', timeZone },
    )
  return (
    <>
      <p className="mb-1 text-sm text-muted">
        <Plural one="# request" other="# requests" value={total} />
      </p>
      <BarChart
        bars={countBuckets(charted, {
          since: data.since,
          until: data.until,
          ms: USAGE_PERIODS[period].ms,
        }).map(({ at, answered, refused, failed }) => ({
          id: String(at),
          name: nameOf(at),
          values: [answered, refused, failed].map(BigInt),
        }))}
        renderValue={formatCount}
        label={t`Requests`}
        sentenceOf={({ name, values }) => {
          const [answered, refused, failed] = values.map(formatCount)
          return t`${name}: ${answered} answered, ${refused} refused, ${failed} failed`
        }}
        series={[
          { name: <Trans>Answered</Trans>, fill: 'received' },
          { name: <Trans>Refused</Trans>, fill: 'warn' },
          { name: <Trans context="requests">Failed</Trans>, fill: 'bad' },
        ]}
        tick={formatCount}
        unit={<Trans>Time</Trans>}
      />
      {endpoints.length > 0 && (
        <div className="-mx-5 mt-4">
          <Table caption={t`Endpoint`}>
            <thead className="border-t border-line">
              <tr>
                <Th>
                  <Trans>Endpoint</Trans>
                </Th>
                <Th className="max-sm:px-1.5" end>
                  <Trans>Requests</Trans>
                </Th>
                <Th className="max-sm:px-1.5" end>
                  <Trans>Refused</Trans>
                </Th>
                <Th className="max-sm:px-1.5" end>
                  <Trans context="requests">Failed</Trans>
                </Th>
              </tr>
            </thead>
            <tbody className="[&>tr:last-child>td]:border-b-0">
              {endpoints.map(({ endpoint, requests, refused, failed }) => (
                <tr key={endpoint}>
                  <Td className="font-mono text-[13px] [overflow-wrap:anywhere] max-sm:text-xs">
                    {nameEndpoint(endpoint)}
                  </Td>
                  <Td className="figures max-sm:px-1.5" end>
                    {formatNumber(requests)}
                  </Td>
                  <Td className="figures text-muted max-sm:px-1.5" end>
                    {formatNumber(refused)}
                  </Td>
                  <Td className="figures text-muted max-sm:px-1.5" end>
                    {formatNumber(failed)}
                  </Td>
                </tr>
              ))}
            </tbody>
          </Table>
        </div>
      )}
    </>
  )
}

/**
 * The name a program uses: `GET /payments`. An endpoint missing from the table keeps the service's
 * name; an unknown path is named in words.
 */
function nameEndpoint(name: string): string {
  if (name === 'unmatched') return t`Unknown path`
  const row = Object.entries(serviceCalls).find(([each]) => each === name)?.[1]
  return row ? `${row.method} ${row.path}` : name
}

function formatCount(count: bigint): string {
  return formatNumber(Number(count))
}
