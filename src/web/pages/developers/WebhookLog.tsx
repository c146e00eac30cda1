import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { WebhookDeliveryBody } from '#contract/webhook-endpoints.ts'
import { call } from '../../api/client.ts'
import { deliveriesQuery, webhooksQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { describeError } from '../../errors/codes.ts'
import { joinMessage } from '../../errors/join-message.ts'
import { ForRole } from '../../session/ForRole.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { Badge, type Tone } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Disclosure } from '../../ui/Disclosure.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toast.tsx'
import { LoggedText } from './LoggedText.tsx'

const STATES: Readonly<
  Record<WebhookDeliveryBody['state'], { label: MessageDescriptor; tone: Tone }>
> = {
  pending: { label: msg`Waiting`, tone: 'warn' },
  delivered: { label: msg`Delivered`, tone: 'good' },
  dead: { label: msg`Failed`, tone: 'bad' },
}

/** What was sent to one webhook and what it answered, the newest first. */
export function WebhookLog({ id }: { id: string }) {
  const { t } = useLingui()
  const { data: deliveries, error, isFetching, refetch } = useQuery(deliveriesQuery(id))
  if (!deliveries)
    return error ? (
      <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
    ) : (
      <Skeleton className="mt-3 h-12" />
    )
  if (deliveries.length === 0)
    return (
      <p className="mt-3 text-sm text-muted">
        <Trans>Nothing sent yet.</Trans>
      </p>
    )
  return (
    <ul
      aria-label={t`Deliveries`}
      className="mt-3 max-h-96 divide-y divide-line overflow-y-auto rounded-lg border border-line px-3"
    >
      {deliveries.map((delivery) => (
        <DeliveryItem delivery={delivery} id={id} key={delivery.id} />
      ))}
    </ul>
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
      void queryClient.invalidateQueries(deliveriesQuery(id))
      void queryClient.invalidateQueries(webhooksQuery)
    }
  }

  return (
    <Button busy={busy} onClick={() => void repeat()} size="sm">
      <Trans>Deliver again</Trans>
    </Button>
  )
}
