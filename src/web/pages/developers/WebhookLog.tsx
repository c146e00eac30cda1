import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import {
  WEBHOOK_STATES,
  type Webhook,
  type WebhookDeliveryBody,
  type WebhookState,
} from '#contract/webhook-endpoints.ts'
import { call } from '../../api/client.ts'
import { deliveriesKey, deliveriesQuery, webhooksQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { describeError } from '../../errors/codes.ts'
import { joinMessage } from '../../errors/row.ts'
import { ForRole } from '../../session/ForRole.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { StaleBanner } from '../../shell/StaleBanner.tsx'
import { Badge, type Tone } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Disclosure } from '../../ui/Disclosure.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Select } from '../../ui/Select.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toast.tsx'
import { LoggedText } from './RequestsCard.tsx'
import { RedeliverDialog } from './WebhookDialogs.tsx'

const STATES: Readonly<Record<WebhookState, { label: MessageDescriptor; tone: Tone }>> = {
  pending: { label: msg`Waiting`, tone: 'warn' },
  delivered: { label: msg({ message: 'Delivered', context: 'webhook' }), tone: 'good' },
  dead: { label: msg`Failed`, tone: 'bad' },
}

/** What was sent to one webhook and what it answered, the newest first. With `state`, at first that alone, and in view. */
export function WebhookLog({ webhook, state }: { webhook: Webhook; state?: WebhookState }) {
  const { id } = webhook
  const { t } = useLingui()
  const [shown, setShown] = useState(state)
  const [range, setRange] = useState(false)
  return (
    <div className="mt-3">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <Select
          aria-label={t`Deliveries`}
          className="min-w-44"
          onChange={({ target: { value } }) =>
            setShown(WEBHOOK_STATES.find((each) => each === value))
          }
          value={shown ?? ''}
        >
          <option value="">{t`All deliveries`}</option>
          {WEBHOOK_STATES.toReversed().map((each) => (
            <option key={each} value={each}>
              {t(STATES[each].label)}
            </option>
          ))}
        </Select>
        <ForRole least="operator">
          <Button icon={<Icon name="refresh" />} onClick={() => setRange(true)}>
            <Trans>Redeliver a time range</Trans>
          </Button>
        </ForRole>
      </div>
      <Deliveries id={id} key={shown} linked={state !== undefined} state={shown} />
      {range && <RedeliverDialog onClose={() => setRange(false)} webhook={webhook} />}
    </div>
  )
}

type DeliveriesProps = { id: string; linked: boolean; state: WebhookState | undefined }

function Deliveries({ id, linked, state }: DeliveriesProps) {
  const { t } = useLingui()
  const query = useInfiniteQuery(deliveriesQuery(id, state))
  const { data, error, isFetching, hasNextPage, isFetchingNextPage } = query
  const list = useRef<HTMLUListElement>(null)
  const showMore = async () => {
    // A reading under way may be that after a new delivery: the next page would cancel it.
    if (isFetching) await query.refetch({ cancelRefetch: false })
    await query.fetchNextPage()
  }
  const loaded = data !== undefined
  useEffect(() => {
    if (!linked || !loaded) return
    // After the page has gone to its top.
    const frame = requestAnimationFrame(() => list.current?.scrollIntoView({ block: 'center' }))
    return () => cancelAnimationFrame(frame)
  }, [linked, loaded])
  if (!data)
    return error ? (
      <QueryError busy={isFetching} error={error} onRetry={() => void query.refetch()} />
    ) : (
      <Skeleton className="h-12" />
    )
  // What ends a page begins the next one.
  const deliveries = new Map(data.pages.flat().map((each) => [each.id, each]))
  return (
    <>
      <StaleBanner
        error={error}
        onRetry={() => void query.refetch()}
        readAt={query.dataUpdatedAt}
      />
      {deliveries.size === 0 ? (
        <p className="text-sm text-muted">
          {state === undefined ? <Trans>Nothing yet</Trans> : <Trans>Nothing found</Trans>}
        </p>
      ) : (
        <ul
          aria-label={t`Deliveries`}
          ref={list}
          className="max-h-96 divide-y divide-line overflow-y-auto rounded-lg border border-line px-3"
        >
          {[...deliveries.values()].map((delivery) => (
            <DeliveryItem delivery={delivery} id={id} key={delivery.id} />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Button
          busy={isFetchingNextPage}
          className="mt-3"
          onClick={() => void showMore()}
          size="sm"
        >
          <Trans>Show more</Trans>
        </Button>
      )}
    </>
  )
}

function DeliveryItem({ id, delivery }: { id: string; delivery: WebhookDeliveryBody }) {
  const { t } = useLingui()
  const { type, state, attempts, createdAt, lastAttemptAt, request, response, cursor } = delivery
  const { label, tone } = STATES[state]
  return (
    <li className="py-2.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Badge tone={tone}>{t(label)}</Badge>
        <span className="font-mono text-[13px]">{type}</span>
        <span className="ms-auto text-xs text-muted">
          <Time at={lastAttemptAt ?? createdAt} look="relative" />
        </span>
      </div>
      <div className="mt-1 flex flex-wrap items-start justify-between gap-2">
        <Disclosure label={<Said delivery={delivery} />}>
          <p className="mt-2 text-xs text-muted">
            {t`Attempts: ${attempts}`} · <span className="font-mono">{delivery.id}</span>
          </p>
          {request !== null && <LoggedText label={t`Request`} text={request} />}
          {response !== null && <LoggedText label={t`Response`} text={response.body} />}
        </Disclosure>
        {/* A server that works again need not wait for the next attempt. */}
        {cursor !== null && attempts > 0 && (
          <ForRole least="operator">
            <Repeat cursor={cursor} id={id} />
          </ForRole>
        )}
      </div>
    </li>
  )
}

/** What came of the last attempt, in one line. */
function Said({ delivery: { failure, response } }: { delivery: WebhookDeliveryBody }) {
  if (failure === 'address_refused') return <Trans>The address is not public</Trans>
  if (failure === 'no_answer') return <Trans>No answer in 15 seconds</Trans>
  if (response === null) return <Trans>Not sent yet</Trans>
  const { status, durationMs } = response
  return (
    <Trans>
      Status {status} in {durationMs} ms
    </Trans>
  )
}

/** Sends one event once more, under the same id. */
function Repeat({ id, cursor }: { id: string; cursor: string }) {
  const [busy, setBusy] = useState(false)

  async function repeat() {
    setBusy(true)
    try {
      await call('webhookRedeliver', { params: { id }, body: { from: cursor, to: cursor } })
    } catch (error) {
      toast(joinMessage(describeError(error)), { tone: 'bad' })
    } finally {
      setBusy(false)
      void queryClient.invalidateQueries({ queryKey: deliveriesKey(id) })
      void queryClient.invalidateQueries(webhooksQuery)
    }
  }

  return (
    <Button busy={busy} onClick={() => void repeat()} size="sm">
      <Trans>Deliver again</Trans>
    </Button>
  )
}
