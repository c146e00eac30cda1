import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Webhook } from '#contract/webhook-endpoints.ts'
import { call } from '../../api/client.ts'
import { deliveriesKey, webhooksQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { describeError } from '../../errors/codes.ts'
import { joinMessage } from '../../errors/row.ts'
import { useSearch } from '../../router/use-route.tsx'
import { ForRole } from '../../session/ForRole.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { StaleBanner } from '../../shell/StaleBanner.tsx'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { toast } from '../../ui/Toast.tsx'
import { WebhookLog } from './WebhookLog.tsx'
import {
  CreateWebhookDialog,
  DeleteWebhookDialog,
  RotateSecretDialog,
  SecretDialog,
} from './WebhookDialogs.tsx'

type Open =
  | { kind: 'create' }
  | { kind: 'rotate' | 'delete'; webhook: Webhook }
  | { kind: 'secret'; secret: string }

/** The merchant's servers that are sent events, each with its log. */
export function WebhooksCard() {
  const query = useQuery(webhooksQuery)
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const showSecret = (secret: string) => setOpen({ kind: 'secret', secret })
  const { data: webhooks, error } = query
  const addWebhook = (
    <ForRole least="operator">
      <Button onClick={() => setOpen({ kind: 'create' })}>
        <Trans>Add webhook</Trans>
      </Button>
    </ForRole>
  )
  return (
    <Card action={webhooks && webhooks.length > 0 && addWebhook} title={<Trans>Webhooks</Trans>}>
      <StaleBanner
        error={webhooks && error}
        onRetry={() => void query.refetch()}
        readAt={query.dataUpdatedAt}
      />
      {webhooks ? (
        webhooks.length === 0 ? (
          <EmptyState
            action={addWebhook}
            icon="pay"
            title={<Trans>Get events on your server.</Trans>}
          />
        ) : (
          <ul className="divide-y divide-line">
            {webhooks.map((webhook) => (
              <WebhookItem
                key={webhook.id}
                onDelete={() => setOpen({ kind: 'delete', webhook })}
                onRotate={() => setOpen({ kind: 'rotate', webhook })}
                webhook={webhook}
              />
            ))}
          </ul>
        )
      ) : error ? (
        <QueryError busy={query.isFetching} error={error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton className="h-12" />
      )}
      {open?.kind === 'create' && <CreateWebhookDialog onClose={close} onMade={showSecret} />}
      {open?.kind === 'rotate' && (
        <RotateSecretDialog onClose={close} onMade={showSecret} webhook={open.webhook} />
      )}
      {open?.kind === 'delete' && <DeleteWebhookDialog onClose={close} webhook={open.webhook} />}
      {open?.kind === 'secret' && <SecretDialog onClose={close} secret={open.secret} />}
    </Card>
  )
}

type WebhookItemProps = { webhook: Webhook; onRotate: () => void; onDelete: () => void }

function WebhookItem({ webhook, onRotate, onDelete }: WebhookItemProps) {
  const { t } = useLingui()
  const { id, url, events, enabled, pending, dead } = webhook
  const failed = useSearch('developers').deliveries === 'failed' && dead > 0
  const [logShown, setLogShown] = useState(failed)

  async function act(work: () => Promise<unknown>) {
    try {
      await work()
    } catch (error) {
      toast(joinMessage(describeError(error)), { tone: 'bad' })
    } finally {
      void queryClient.invalidateQueries(webhooksQuery)
      void queryClient.invalidateQueries({ queryKey: deliveriesKey(id) })
    }
  }

  function sendTest() {
    setLogShown(true)
    void act(() => call('webhookTest', { params: { id } }))
  }

  function turn() {
    void act(() => call('webhookUpdate', { params: { id }, body: { enabled: !enabled } }))
  }

  return (
    <li className="py-3 first:pt-0 last:pb-0">
      <div className="flex items-start justify-between gap-3">
        <div className="min-w-0">
          <p className="font-mono text-[13px] [overflow-wrap:anywhere]">{url}</p>
          <p className="mt-1 text-xs text-muted">
            {events.length === 0 ? <Trans>All events</Trans> : events.join(', ')}
          </p>
          <p className="mt-1.5 flex flex-wrap gap-1.5 empty:hidden">
            {!enabled && (
              <Badge>
                <Trans>Off</Trans>
              </Badge>
            )}
            {pending > 0 && (
              <Badge icon={<Icon name="hourglass" size={14} />} tone="warn">
                <Plural one="# waiting" other="# waiting" value={pending} />
              </Badge>
            )}
            {dead > 0 && (
              <Badge icon={<Icon name="cross" size={14} />} tone="bad">
                <Plural one="# failed" other="# failed" value={dead} />
              </Badge>
            )}
          </p>
        </div>
        <ForRole least="operator">
          <Menu
            items={[
              {
                id: 'test',
                label: t`Send test event`,
                icon: <Icon name="pay" />,
                onSelect: sendTest,
              },
              {
                id: 'turn',
                label: enabled ? t`Turn off` : t`Turn on`,
                icon: <Icon name={enabled ? 'lock' : 'check'} />,
                onSelect: turn,
              },
              {
                id: 'rotate',
                label: t`New secret`,
                icon: <Icon name="refresh" />,
                onSelect: onRotate,
              },
              {
                id: 'delete',
                label: t`Delete`,
                icon: <Icon name="cross" />,
                danger: true,
                onSelect: onDelete,
              },
            ]}
            label={t`Actions for ${{ name: url }}`}
            trigger={<Icon name="more" />}
            triggerClassName="touch-target inline-flex size-8 items-center justify-center rounded-lg text-muted hover:bg-hover hover:text-ink"
          />
        </ForRole>
      </div>
      {/* A log that was opened once stays, and is read while it is there. */}
      {logShown ? (
        <WebhookLog webhook={webhook} {...(failed && { state: 'dead' })} />
      ) : (
        <Button
          className="-ms-2.5 mt-1"
          icon={<Icon name="chevronRight" size={14} />}
          onClick={() => setLogShown(true)}
          size="sm"
          variant="quiet"
        >
          <Trans>Deliveries</Trans>
        </Button>
      )}
    </li>
  )
}
