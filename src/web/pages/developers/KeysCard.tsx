import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import type { ApiKeyRow } from '#contract/api-key-body.ts'
import type { Network } from '#contract/network.ts'
import { rotationOf } from '#contract/approval.ts'
import { call } from '../../api/client.ts'
import { apiKeysQuery, usageQuery } from '../../api/queries.ts'
import { queryClient } from '../../api/query-client.ts'
import { refusalOf } from '../../errors/refusals.ts'
import { ForRole } from '../../session/ForRole.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { StaleBanner } from '../../shell/StaleBanner.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Field } from '../../ui/Field.tsx'
import { Input } from '../../ui/Input.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toast.tsx'
import { ApproveStep, SignerNote, useSigner } from '../../approval/ApproveStep.tsx'
import { CreateKeyDialog } from './CreateKeyDialog.tsx'
import {
  GraceSelect,
  USUAL_GRACE,
  type Grace,
  NewKeyDialog,
  type ShownKey,
  KeyProblem,
} from './NewKeyDialog.tsx'
import { KeyTable } from './KeyTable.tsx'
import { useApproval } from '../../approval/use-approval.ts'

type Open =
  | { kind: 'create' }
  | { kind: 'rotate' | 'delete'; key: ApiKeyRow }
  | { kind: 'shown'; made: ShownKey }

/** The account's keys: working ones first, ended ones collapsed. A new one is saved for `network`. */
export function KeysCard({ network }: { network: Network | undefined }) {
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
          <ForRole least="owner">
            <Button onClick={() => setOpen({ kind: 'create' })} variant="primary">
              <Trans>Create API key</Trans>
            </Button>
          </ForRole>
        )
      }
      flush
      subtitle={keys && <Plural one="# active key" other="# active keys" value={working.length} />}
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
            <EmptyState icon="shield" title={<Trans>No key yet</Trans>} />
          ) : (
            <KeyTable keys={working} {...table} />
          )}
          {ended.length > 0 && (
            <details className="border-t border-line">
              <summary className="touch-target cursor-pointer px-5 py-3 text-sm text-muted hover:text-ink">
                <Plural one="# inactive key" other="# inactive keys" value={ended.length} />
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
      {open?.kind === 'shown' && (
        <NewKeyDialog made={open.made} network={network} onClose={close} />
      )}
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
  const missing = refusalOf(error) === 'scope_missing'
  if (!missing) return <QueryError busy={busy} error={error} onRetry={onRetry} />
  return (
    <div className="px-5 pb-5">
      <Banner title={<Trans>Dashboard key lacks a permission</Trans>} tone="warn">
        <Trans>Set SERVICE_API_KEY to a key with keys:manage. Restart the proxy.</Trans>
      </Banner>
    </div>
  )
}

/** Deletes a key permanently, after its name was typed. The proxy compares the name again. */
function DeleteKeyDialog({ keyRow, onClose }: { keyRow: ApiKeyRow; onClose: () => void }) {
  const { t } = useLingui()
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>()
  const { id, name, lastUsedAt } = keyRow
  const same = typed.trim() === name

  async function remove(event: FormEvent) {
    event.preventDefault()
    if (!same || busy) return
    setBusy(true)
    setProblem(undefined)
    try {
      await call('apiKeyDelete', { params: { id } }, { confirmation: typed.trim() })
      toast(t`API key deleted`)
      onClose()
    } catch (error) {
      setProblem(error)
    } finally {
      setBusy(false)
      void queryClient.invalidateQueries(apiKeysQuery)
    }
  }

  const time = lastUsedAt !== null && <Time at={lastUsedAt} look="relative" />
  return (
    <Dialog onClose={onClose} open size="sm" title={<Trans>Delete “{name}”</Trans>}>
      <form className="grid gap-4" onSubmit={(event) => void remove(event)}>
        <Banner tone={lastUsedAt === null ? 'info' : 'bad'}>
          {time ? <Trans>Last used {time}.</Trans> : <Trans>Never used.</Trans>}{' '}
          <Trans>Deletion is immediate and permanent.</Trans>
        </Banner>
        <Field
          label={
            <Trans>
              Type <span className="font-mono text-[13px] font-semibold">{name}</span> to confirm
            </Trans>
          }
        >
          <Input onChange={(event) => setTyped(event.target.value)} value={typed} />
        </Field>
        {problem !== undefined && <KeyProblem problem={problem} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose} variant="quiet">
            <Trans>Cancel</Trans>
          </Button>
          <Button busy={busy} disabled={!same} type="submit" variant="danger">
            <Trans>Delete</Trans>
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Makes a successor of the same name and scopes. Both work until the grace ends. */
function RotateKeyDialog({
  keyRow,
  onClose,
  onMade,
}: {
  keyRow: ApiKeyRow
  onClose: () => void
  onMade: (made: ShownKey) => void
}) {
  const [grace, setGrace] = useState<Grace>(USUAL_GRACE)
  const { id, name } = keyRow
  const signer = useSigner()
  const approving = useApproval(rotate)

  function submit(event: FormEvent) {
    event.preventDefault()
    if (signer && !approving.busy) void approving.requestApproval(rotationOf(keyRow, grace), signer)
  }

  async function rotate(approval: string) {
    try {
      const options = { idempotencyKey: crypto.randomUUID(), confirmation: name, approval }
      const made = await call(
        'apiKeyRotate',
        { params: { id }, body: { graceSeconds: grace } },
        options,
      )
      onMade({ name: made.name, key: made.key })
    } finally {
      void queryClient.invalidateQueries(apiKeysQuery)
    }
  }

  return (
    <Dialog onClose={onClose} open size="sm" title={<Trans>Rotate “{name}”</Trans>}>
      {approving.approval && <ApproveStep approval={approving.approval} approving={approving} />}
      <form className="grid gap-4" hidden={approving.approval !== undefined} onSubmit={submit}>
        <Field label={<Trans>Old key valid for</Trans>}>
          <GraceSelect onChange={setGrace} value={grace} />
        </Field>
        {grace === 0 && (
          <Banner tone="warn">
            <Trans>The old key stops working immediately.</Trans>
          </Banner>
        )}
        <SignerNote signer={signer} />
        {approving.problem !== undefined && <KeyProblem problem={approving.problem} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose} variant="quiet">
            <Trans>Cancel</Trans>
          </Button>
          <Button busy={approving.busy} disabled={!signer} type="submit" variant="primary">
            <Trans>Rotate</Trans>
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
