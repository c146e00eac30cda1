import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { isInvoiceId } from '#contract/invoice-state.ts'
import { isPaymentId } from '#contract/payment.ts'
import type { Audited, AuditEntry } from '#contract/people-endpoints.ts'
import { apiKeysQuery, webhooksQuery } from '../../api/queries.ts'
import { Link } from '../../router/Link.tsx'
import { pathTo } from '../../router/paths.ts'
import { QueryError } from '../../shell/QueryError.tsx'
import { Address } from '../../ui/Address.tsx'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { auditQuery } from './people-queries.ts'

const ACTIONS: Readonly<Record<Audited, MessageDescriptor>> = {
  hostedSend: msg`Managed payment`,
  balanceAlert: msg`Balance alert`,
  transactionSend: msg`Payment or refund`,
  paymentReceive: msg`Proof settled`,
  linkCreate: msg`Link created`,
  shortLinkCreate: msg`Link created`,
  linkWithdraw: msg`Link deactivated`,
  linkRestore: msg`Link reactivated`,
  fileCreate: msg`File added`,
  fileUpdate: msg`File changed`,
  fileWithdraw: msg`File no longer sold`,
  fileRestore: msg`File on sale`,
  fileDelete: msg`File deleted`,
  productCreate: msg`Product created`,
  productUpdate: msg`Product changed`,
  invoiceSave: msg`Draft saved`,
  invoiceDelete: msg`Draft deleted`,
  invoiceIssue: msg`Invoice issued`,
  invoiceVoid: msg`Invoice voided`,
  invoiceUnvoid: msg`Invoice open again`,
  invoicePrefix: msg`Invoice prefix changed`,
  invoiceSeller: msg`Invoice seller changed`,
  invoiceForget: msg`Personal data deleted`,
  productArchive: msg`Product changed`,
  unmatchedAssign: msg`Payment assigned`,
  unmatchedUnassign: msg`Assignment undone`,
  undeliveredClose: msg`Marked as delivered`,
  undeliveredReopen: msg`Undelivered again`,
  transactionRelease: msg`Unsigned refund discarded`,
  refundRequestDecline: msg`Refund request declined`,
  refundRequestReopen: msg`Refund request reopened`,
  noteWrite: msg`Note or label`,
  mailWrite: msg`Email changed`,
  mailDelete: msg`Email deleted`,
  profileWrite: msg`Customer changed`,
  profileExport: msg`Personal data exported`,
  profileDelete: msg`Personal data deleted`,
  webhookCreate: msg`Webhook added`,
  webhookUpdate: msg`Webhook changed`,
  webhookDelete: msg`Webhook deleted`,
  webhookRotate: msg`Webhook secret replaced`,
  webhookTest: msg`Webhook tested`,
  webhookRedeliver: msg`Event redelivered`,
  apiKeyCreate: msg`API key created`,
  apiKeyRotate: msg`API key rotated`,
  apiKeyDelete: msg`API key deleted`,
  peopleInvite: msg`Invitation created`,
  peopleUninvite: msg`Invitation revoked`,
  peopleJoin: msg`Invitation used`,
  peopleChange: msg`Role changed`,
  peopleRemove: msg`Person removed`,
}

/** Every change by a person of the account, the newest first. */
export function AuditCard() {
  const query = useInfiniteQuery(auditQuery)
  const entries = query.data?.pages.flatMap((page) => page.entries)
  const isNamed = (kind: string) => entries?.some(({ subject }) => subject?.startsWith(kind))
  const { data: keys = [] } = useQuery({ ...apiKeysQuery, enabled: isNamed('key_') })
  const { data: webhooks = [] } = useQuery({ ...webhooksQuery, enabled: isNamed('whk_') })
  const nameOf = (id: string) =>
    keys.find((key) => key.id === id)?.name ?? webhooks.find((each) => each.id === id)?.url
  return (
    <Card title={<Trans>Audit log</Trans>}>
      {entries ? (
        entries.length === 0 ? (
          <EmptyState icon="clock" title={<Trans>Nothing yet</Trans>} />
        ) : (
          <ul className="divide-y divide-line">
            {entries.map((entry) => (
              <EntryItem entry={entry} key={entry.id} nameOf={nameOf} />
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
        <Skeleton className="h-24" />
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

type EntryItemProps = {
  entry: AuditEntry
  /** What people call a key or a webhook: its id alone tells nobody which one it was. */
  nameOf: (id: string) => string | undefined
}

function EntryItem({ entry: { at, wallet, action, subject, outcome }, nameOf }: EntryItemProps) {
  const { t } = useLingui()
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 gap-y-1 py-2.5 text-sm first:pt-0">
      <span className="font-medium">{isAudited(action) ? t(ACTIONS[action]) : action}</span>
      {subject !== null && (
        <span
          className="max-w-full font-mono text-xs [overflow-wrap:anywhere] text-muted"
          title={subject}
        >
          <Subject name={nameOf(subject)} subject={subject} />
        </span>
      )}
      {outcome !== 'done' && (
        <Badge title={outcome ?? undefined} tone={outcome === null ? 'warn' : 'bad'}>
          {outcome === null ? t`Outcome unknown` : t({ message: 'Refused', context: 'audit log' })}
        </Badge>
      )}
      <span className="ms-auto flex items-baseline gap-2 text-xs text-muted">
        <Address value={wallet} />
        <Time at={at} />
      </span>
    </li>
  )
}

function Subject({ name, subject }: { name: string | undefined; subject: string }) {
  const parts = partsOf(subject)
  if (parts.every(({ path }) => path === undefined)) return <UntrustedText text={name ?? subject} />
  return parts.map(({ text, path }, index) => (
    <Fragment key={`${text} ${index}`}>
      {index > 0 && ', '}
      {path === undefined ? (
        <UntrustedText text={text} />
      ) : (
        <Link className="underline decoration-edge underline-offset-4" to={path}>
          {text}
        </Link>
      )}
    </Fragment>
  ))
}

/** What an entry is about, each payment and invoice with its page. The last one of many may be cut. */
export function partsOf(subject: string): { text: string; path: string | undefined }[] {
  return subject.split(',').map((text) => ({
    text,
    path: isPaymentId(text)
      ? pathTo('payment', { params: { paymentId: text } })
      : isInvoiceId(text)
        ? pathTo('invoice', { params: { invoiceId: text } })
        : undefined,
  }))
}

function isAudited(action: string): action is Audited {
  return Object.hasOwn(ACTIONS, action)
}
