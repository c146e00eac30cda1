import { useQuery } from '@tanstack/react-query'
import { Plural, Trans } from '@lingui/react/macro'
import { useState } from 'react'
import type { ApiKeyRow } from '#contract/api-key-body.ts'
import { ApiError } from '../../api/errors.ts'
import { apiKeysQuery, usageQuery } from '../../api/queries.ts'
import { QueryError } from '../../shell/QueryError.tsx'
import { StaleBanner } from '../../shell/StaleBanner.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { CreateKeyDialog } from './CreateKeyDialog.tsx'
import { DeleteKeyDialog } from './DeleteKeyDialog.tsx'
import { KeyTable } from './KeyTable.tsx'
import { NewKeyDialog, type ShownKey } from './NewKeyDialog.tsx'
import { RotateKeyDialog } from './RotateKeyDialog.tsx'

type Open =
  | { kind: 'create' }
  | { kind: 'rotate' | 'delete'; key: ApiKeyRow }
  | { kind: 'shown'; made: ShownKey }

/** The account's keys: working ones first, ended ones collapsed. */
export function KeysCard() {
  const query = useQuery(apiKeysQuery)
  const { data: usage } = useQuery(usageQuery('hour'))
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const shown = (made: ShownKey) => setOpen({ kind: 'shown', made })
  const requests = new Map<string, number>()
  for (const { keyId, requests: count } of usage?.usage ?? [])
    requests.set(keyId, (requests.get(keyId) ?? 0) + count)

  const keys = query.data
  const working = keys?.filter(({ status }) => status === 'active') ?? []
  const ended = keys?.filter(({ status }) => status !== 'active') ?? []
  const table = {
    requests,
    onRotate: (key: ApiKeyRow) => setOpen({ kind: 'rotate', key }),
    onDelete: (key: ApiKeyRow) => setOpen({ kind: 'delete', key }),
  }
  return (
    <Card
      action={
        keys && (
          <Button onClick={() => setOpen({ kind: 'create' })} variant="primary">
            <Trans>Create key</Trans>
          </Button>
        )
      }
      flush
      subtitle={keys && <Plural one="# key works" other="# keys work" value={working.length} />}
      title={<Trans>API keys</Trans>}
    >
      <div className="px-5">
        <StaleBanner
          error={keys && query.error}
          onRetry={() => void query.refetch()}
          readAt={query.dataUpdatedAt}
        />
      </div>
      {keys ? (
        <>
          {working.length === 0 ? (
            <EmptyState icon="shield" title={<Trans>No key yet</Trans>}>
              <Trans>A key lets a server of yours ask the payment service directly.</Trans>
            </EmptyState>
          ) : (
            <KeyTable keys={working} {...table} />
          )}
          {ended.length > 0 && (
            <details className="border-t border-line">
              <summary className="touch-target cursor-pointer px-5 py-3 text-sm text-muted hover:text-ink">
                <Plural one="# key that ended" other="# keys that ended" value={ended.length} />
              </summary>
              <KeyTable keys={ended} {...table} />
            </details>
          )}
        </>
      ) : query.error ? (
        <KeysProblem
          busy={query.isFetching}
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      ) : (
        <div className="space-y-3 px-5 pb-5">
          {Array.from({ length: 3 }, (_, index) => (
            <Skeleton className="h-12" key={index} />
          ))}
        </div>
      )}
      {open?.kind === 'create' && <CreateKeyDialog onClose={close} onMade={shown} />}
      {open?.kind === 'rotate' && (
        <RotateKeyDialog keyRow={open.key} onClose={close} onMade={shown} />
      )}
      {open?.kind === 'delete' && <DeleteKeyDialog keyRow={open.key} onClose={close} />}
      {open?.kind === 'shown' && <NewKeyDialog made={open.made} onClose={close} />}
    </Card>
  )
}

/**
 * If the dashboard's own key may not manage keys, this says what to do about it; everything else is
 * an ordinary error.
 */
function KeysProblem({
  error,
  onRetry,
  busy,
}: {
  error: Error
  onRetry: () => void
  busy: boolean
}) {
  const missing = error instanceof ApiError && error.details['reason'] === 'scope_missing'
  if (!missing) return <QueryError busy={busy} error={error} onRetry={onRetry} />
  return (
    <div className="px-5 pb-5">
      <Banner title={<Trans>This dashboard may not manage keys</Trans>} tone="warn">
        <Trans>
          Its own key lacks the scope keys:manage. Make one that has it with the service’s admin
          command, set SERVICE_API_KEY to it, and start the proxy again.
        </Trans>
      </Banner>
    </div>
  )
}
