import { Plural, Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { FileBody, FileSource } from '#contract/file-endpoints.ts'
import { callProxy } from '../../api/client.ts'
import { useRole, useSession } from '../../api/session.ts'
import { describeRefusal } from '../../errors/refusals.ts'
import { formatPrice } from '../../locales/formats.ts'
import { hrefOf } from '../../router/location.ts'
import { pathTo } from '../../router/paths.ts'
import { ForRole } from '../../session/ForRole.tsx'
import { NoAccess } from '../../shell/NoAccess.tsx'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { SignIn } from '../../shell/SignIn.tsx'
import { StaleBanner } from '../../shell/StaleBanner.tsx'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { toast } from '../../ui/Toast.tsx'
import { FileDialog } from './FileDialog.tsx'
import { cacheFile, filesQuery, forgetFile, formatSize } from './files-query.ts'

type Open = { kind: 'new' } | { kind: 'source'; file: FileBody }

/** Files that the merchant sells, and how often each was sold and read. */
export function FilesPage() {
  const session = useSession()
  const role = useRole()
  const [open, setOpen] = useState<Open>()
  const { data } = useQuery({ ...filesQuery, enabled: role !== null })
  const sellFile = (
    <ForRole least="operator">
      <Button onClick={() => setOpen({ kind: 'new' })} variant="primary">
        <Trans>Sell a file</Trans>
      </Button>
    </ForRole>
  )
  return (
    <div className="mx-auto max-w-[1080px]">
      <PageHeader
        action={data?.offered && data.files.length > 0 && sellFile}
        title={<Trans>Files</Trans>}
      />
      {session.kind === 'loading' && <PageSkeleton />}
      {session.kind === 'failed' && (
        <Card>
          <QueryError error={session.error} onRetry={session.retry} />
        </Card>
      )}
      {session.kind === 'known' && role === null && (
        <NoAccess action={<SignIn />} icon="download" />
      )}
      {role !== null && (
        <Files onSource={(file) => setOpen({ kind: 'source', file })} sellFile={sellFile} />
      )}
      {open && (
        <FileDialog
          file={open.kind === 'source' ? open.file : undefined}
          onClose={() => setOpen(undefined)}
          sealed={data?.sealed ?? false}
        />
      )}
    </div>
  )
}

function Files({
  sellFile,
  onSource,
}: {
  sellFile: ReactNode
  onSource: (file: FileBody) => void
}) {
  const { t } = useLingui()
  const query = useQuery(filesQuery)
  const { data, error } = query
  if (!data)
    return error ? (
      <Card>
        <QueryError busy={query.isFetching} error={error} onRetry={() => void query.refetch()} />
      </Card>
    ) : (
      <PageSkeleton />
    )
  if (!data.offered)
    return (
      <Card>
        <EmptyState icon="download" title={<Trans>Files are turned off</Trans>}>
          <Trans>Ask the operator to set PUBLIC_URL.</Trans>
        </EmptyState>
      </Card>
    )
  return (
    <>
      <StaleBanner
        error={error}
        onRetry={() => void query.refetch()}
        readAt={query.dataUpdatedAt}
      />
      {data.files.length === 0 ? (
        <Card>
          <EmptyState
            action={sellFile}
            icon="download"
            title={<Trans>Buyers pay, then download.</Trans>}
          />
        </Card>
      ) : (
        <ul
          aria-label={t`Files`}
          className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface"
        >
          {data.files.map((file) => (
            <FileItem file={file} key={file.id} onSource={() => onSource(file)} />
          ))}
        </ul>
      )}
    </>
  )
}

function FileItem({ file, onSource }: { file: FileBody; onSource: () => void }) {
  const { sales, downloads, undelivered, failed, size, withdrawnAt } = file
  const unread = undelivered - failed
  return (
    <li className="relative flex flex-wrap items-center gap-x-6 gap-y-3 px-5 py-4">
      <div className="min-w-52 flex-1 max-sm:pe-10">
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span className="font-medium [overflow-wrap:anywhere]">{file.name}</span>
          {withdrawnAt !== null && (
            <Badge icon={<Icon name="back" size={14} />}>
              <Trans>No longer sold</Trans>
            </Badge>
          )}
        </p>
        <p className="figures mt-1 text-sm">
          {file.prices.map(({ currency, amount }) => formatPrice(amount, currency)).join(' · ')}
        </p>
        <p className="mt-0.5 text-sm [overflow-wrap:anywhere] text-muted">
          <SourceText source={file.source} />
          {size !== null && <> · {formatSize(size)}</>}
        </p>
      </div>
      <p className="figures text-sm max-sm:w-full sm:w-32">
        <span className="block font-medium">
          <Plural one="# sale" other="# sales" value={sales} />
        </span>
        <span className="block text-muted">
          <Plural one="# download" other="# downloads" value={downloads} />
        </span>
        {failed > 0 && (
          <span className="block text-bad-ink">
            <Plural one="# failed download" other="# failed downloads" value={failed} />
          </span>
        )}
        {unread > 0 && (
          <span className="block text-warn">
            <Plural one="# not downloaded yet" other="# not downloaded yet" value={unread} />
          </span>
        )}
      </p>
      <FileActions file={file} onSource={onSource} />
    </li>
  )
}

function SourceText({ source }: { source: FileSource }) {
  if (source.kind === 'text') return <Trans>Text</Trans>
  return source.kind === 'https' ? source.url : `s3://${source.bucket}/${source.key}`
}

function FileActions({ file, onSource }: { file: FileBody; onSource: () => void }) {
  const { t } = useLingui()
  const { id, code, name, withdrawnAt } = file
  const page = new URL(hrefOf(pathTo('file', { params: { code } })), window.location.origin)

  async function act(work: () => Promise<void>) {
    try {
      await work()
    } catch (error) {
      const { title, body } = describeRefusal(error)
      toast(title, { tone: 'warn', body })
    }
  }
  const withdraw = async () =>
    cacheFile(
      withdrawnAt === null
        ? (await callProxy('fileWithdraw', { body: { id } })).file
        : (await callProxy('fileRestore', { body: { id } })).file,
    )
  async function remove() {
    await callProxy('fileDelete', { body: { id } })
    forgetFile(id)
    toast(t`File deleted`)
  }

  return (
    <div className="flex flex-wrap items-center gap-2">
      <CopyButton label={t`Copy page link`} text value={page.href} />
      <CopyButton label={t`Copy x402 URL`} text value={file.url} />
      <ForRole least="operator">
        <Menu
          items={[
            {
              id: 'source',
              label: t`Change`,
              icon: <Icon name="settings" />,
              onSelect: onSource,
            },
            {
              id: 'withdraw',
              label: withdrawnAt === null ? t`Stop selling` : t`Sell again`,
              icon: <Icon name={withdrawnAt === null ? 'lock' : 'check'} />,
              onSelect: () => void act(withdraw),
            },
            {
              id: 'delete',
              label: t`Delete`,
              icon: <Icon name="cross" />,
              danger: true,
              onSelect: () => void act(remove),
            },
          ]}
          label={t`Actions for ${name}`}
          trigger={<Icon name="more" />}
          triggerClassName="touch-target max-sm:absolute max-sm:end-4 max-sm:top-3 inline-flex size-8 items-center justify-center rounded-lg text-muted hover:bg-hover hover:text-ink"
        />
      </ForRole>
    </div>
  )
}
