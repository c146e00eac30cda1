import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import type { ApiKeyRow } from '#contract/api-key-body.ts'
import { serverNow } from '../../api/clock.ts'
import { apiKeysQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { formatNumber } from '../../locales/formats.ts'
import { ForRole } from '../../session/ForRole.tsx'
import { Badge } from '../../ui/Badge.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { Table, Td, Th } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { cx } from '../../ui/button-class.ts'
import { formatDuration } from '../../ui/format-time.ts'

export type KeyTableProps = {
  keys: readonly ApiKeyRow[]
  /** Of the last 24 hours, by key. */
  requests: ReadonlyMap<string, number>
  onRotate: (key: ApiKeyRow) => void
  onDelete: (key: ApiKeyRow) => void
}

export function KeyTable({ keys, requests, onRotate, onDelete }: KeyTableProps) {
  const { t } = useLingui()
  return (
    <Table caption={t`API keys`} className="sm:min-w-160">
      <thead className="border-t border-line">
        <tr>
          <Th>
            <Trans>Name</Trans>
          </Th>
          <Th className="max-sm:hidden">
            <Trans>Permissions</Trans>
          </Th>
          <Th className="max-sm:hidden">
            <Trans>Last used</Trans>
          </Th>
          <Th className="max-sm:hidden" end>
            <Trans>Requests, 24 h</Trans>
          </Th>
          <Th className="max-sm:hidden">
            <Trans>Expires</Trans>
          </Th>
          <Th end>
            <span className="sr-only">
              <Trans>Actions</Trans>
            </span>
          </Th>
        </tr>
      </thead>
      <tbody className="[&>tr:last-child>td]:border-b-0">
        {keys.map((key) => (
          <tr key={key.id}>
            <Td className="sm:max-w-52">
              <span className="block truncate font-medium" title={key.name}>
                <UntrustedText text={key.name} />
              </span>
              <span className={cx('block text-xs text-muted', key.hint && 'truncate font-mono')}>
                {key.hint || <Trans>dashboard key</Trans>}
              </span>
              <span className="mt-1 block text-xs text-muted sm:hidden">
                {key.scopes.join(', ')}
              </span>
              <span className="mt-1 block text-xs sm:hidden">
                <Ends apiKey={key} />
              </span>
              <span className="mt-1 flex flex-wrap gap-x-3 text-xs text-muted sm:hidden">
                <span>
                  <Trans>Last used</Trans>{' '}
                  <span className="text-ink">
                    <LastUse apiKey={key} />
                  </span>
                </span>
                <span>
                  <Trans>Requests, 24 h</Trans>{' '}
                  <span className="figures text-ink">
                    {formatNumber(requests.get(key.id) ?? 0)}
                  </span>
                </span>
              </span>
            </Td>
            <Td className="max-w-52 text-xs text-muted max-sm:hidden">{key.scopes.join(', ')}</Td>
            <Td className="whitespace-nowrap text-muted max-sm:hidden">
              <LastUse apiKey={key} />
            </Td>
            <Td className="figures max-sm:hidden" end>
              {formatNumber(requests.get(key.id) ?? 0)}
            </Td>
            <Td className="whitespace-nowrap max-sm:hidden">
              <Ends apiKey={key} />
            </Td>
            <Td className="w-14 max-sm:align-top" end>
              {key.status === 'active' && key.hint !== '' && (
                <ForRole least="owner">
                  <Actions apiKey={key} onDelete={onDelete} onRotate={onRotate} />
                </ForRole>
              )}
            </Td>
          </tr>
        ))}
      </tbody>
    </Table>
  )
}

function LastUse({ apiKey: { lastUsedAt } }: { apiKey: ApiKeyRow }) {
  return lastUsedAt === null ? <Trans>Never</Trans> : <Time at={lastUsedAt} look="relative" />
}

/** When a key ends, or how it did. One that was rotated counts down. */
function Ends({ apiKey: { status, expiresAt, rotation } }: { apiKey: ApiKeyRow }) {
  if (status === 'deleted') {
    return (
      <Badge>
        <Trans>Deleted</Trans>
      </Badge>
    )
  }
  if (status === 'expired')
    return (
      <Badge>
        {rotation.replacedBy === null ? (
          <Trans context="API key">Expired</Trans>
        ) : (
          <Trans>Replaced</Trans>
        )}
      </Badge>
    )
  if (rotation.replacedBy !== null && expiresAt !== null) {
    return (
      <Badge icon={<Icon name="hourglass" size={14} />} tone="warn">
        <Countdown until={expiresAt} />
      </Badge>
    )
  }
  if (expiresAt === null) {
    return (
      <span className="text-muted">
        <Trans>No expiry</Trans>
      </span>
    )
  }
  return <Time at={expiresAt} />
}

function Actions({
  apiKey,
  onRotate,
  onDelete,
}: { apiKey: ApiKeyRow } & Pick<KeyTableProps, 'onRotate' | 'onDelete'>) {
  const { t } = useLingui()
  const { name } = apiKey
  const rotate = {
    id: 'rotate',
    label: t`Rotate`,
    icon: <Icon name="refresh" />,
    onSelect: () => onRotate(apiKey),
  }
  return (
    <Menu
      items={[
        ...(apiKey.rotation.replacedBy === null ? [rotate] : []),
        {
          id: 'delete',
          label: t`Delete`,
          icon: <Icon name="cross" />,
          danger: true,
          onSelect: () => onDelete(apiKey),
        },
      ]}
      label={t`Actions for ${name}`}
      trigger={<Icon name="more" />}
      triggerClassName="touch-target inline-flex size-8 items-center justify-center rounded-lg text-muted hover:bg-hover hover:text-ink"
    />
  )
}

/** Until a rotated key ends, by the second; then the list is read again. */
function Countdown({ until }: { until: number }) {
  const [left, setLeft] = useState(() => until - serverNow())
  useEffect(() => {
    const timer = setInterval(() => {
      const next = until - serverNow()
      setLeft(next)
      if (next > 0) return
      clearInterval(timer)
      void queryClient.invalidateQueries(apiKeysQuery)
    }, 1000)
    return () => clearInterval(timer)
  }, [until])
  const time = formatDuration(Math.max(0, Math.ceil(left / 1000) * 1000))
  return (
    <span className="figures">
      <Trans>expires {time}</Trans>
    </span>
  )
}
