import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { LinkBody } from '#contract/link-endpoints.ts'
import { useSession } from '../../api/session.ts'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { PageSkeleton } from '../../shell/PageSkeleton.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { SignIn } from '../../shell/SignIn.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { LinkList } from './LinkList.tsx'
import { linksQuery } from './links-query.ts'
import { NewLinkDialog } from './NewLinkDialog.tsx'
import { ShareDialog } from './ShareDialog.tsx'

type Open = { name: 'new' } | { name: 'share'; link: LinkBody } | null

/**
 * The merchant's payment links: create, share, withdraw, and what each received. For the operator.
 */
export function LinksPage() {
  const { t } = useLingui()
  const session = useSession()
  const operator = session.kind === 'known' && session.session?.operator === true
  const [open, setOpen] = useState<Open>(null)
  const create = () => setOpen({ name: 'new' })

  return (
    <div className="mx-auto max-w-[1080px]">
      <PageHeader
        action={
          operator && (
            <Button icon={<Icon name="link" />} onClick={create} variant="primary">
              <Trans>New link</Trans>
            </Button>
          )
        }
        subtitle={t`Ask for a payment with a link or a code. What you set in it cannot be changed by anyone.`}
        title={t`Payment links`}
      />
      {session.kind === 'loading' && <PageSkeleton />}
      {session.kind === 'failed' && (
        <Card>
          <QueryError error={session.error} onRetry={session.retry} />
        </Card>
      )}
      {session.kind === 'known' && !operator && (
        <Card>
          <EmptyState
            action={<SignIn />}
            icon="link"
            title={t`Only operators can create payment links`}
          >
            {session.session && session.session.wallets.length > 0
              ? t`The wallet you are signed in with is not an operator. Sign in with one that is.`
              : t`Sign in with an operator wallet.`}
          </EmptyState>
        </Card>
      )}
      {operator && (
        <OperatorLinks onCreate={create} onShare={(link) => setOpen({ name: 'share', link })} />
      )}
      {open?.name === 'new' && (
        <NewLinkDialog
          onClose={() => setOpen(null)}
          onCreated={(link) => setOpen({ name: 'share', link })}
        />
      )}
      {open?.name === 'share' && <ShareDialog link={open.link} onClose={() => setOpen(null)} />}
    </div>
  )
}

function OperatorLinks({
  onCreate,
  onShare,
}: {
  onCreate: () => void
  onShare: (link: LinkBody) => void
}) {
  const { t } = useLingui()
  const { data, error, refetch, isFetching } = useQuery(linksQuery)
  if (data === undefined) {
    return error ? (
      <Card>
        <QueryError busy={isFetching} error={error} onRetry={() => void refetch()} />
      </Card>
    ) : (
      <PageSkeleton />
    )
  }
  if (data.length === 0) {
    return (
      <Card>
        <EmptyState
          action={
            <Button icon={<Icon name="link" />} onClick={onCreate}>
              <Trans>Make the first one</Trans>
            </Button>
          }
          icon="link"
          title={t`No payment links yet`}
        >
          <Trans>
            A link names the wallet, the amount and the network. The buyer sees them locked, checks
            them, and pays.
          </Trans>
        </EmptyState>
      </Card>
    )
  }
  return <LinkList links={data} onShare={onShare} />
}
