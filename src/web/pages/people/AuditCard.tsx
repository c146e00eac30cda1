import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { parseAddress } from '#contract/address.ts'
import { isPaymentId } from '#contract/payment.ts'
import type { Audited, AuditEntry } from '#contract/people-endpoints.ts'
import type { Role } from '#contract/role.ts'
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
import { Table, Td, Th } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'
import { UntrustedText } from '../../ui/UntrustedText.tsx'
import { auditQuery } from './people-queries.ts'
import { roleWords } from './role-words.ts'

const ACTIONS: Readonly<Record<Audited, MessageDescriptor>> = {
  hostedSend: msg`Managed payment`,
  balanceAlert: msg`Balance alert`,
  transactionSend: msg`Transaction built`,
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

const REFUND_BUILT = msg`Refund built`

/** Every change by a person of the account, the newest first. */
export function AuditCard() {
  const { t } = useLingui()
  const query = useInfiniteQuery(auditQuery)
  const entries = query.data?.pages.flatMap((page) => page.entries)
  const isNamed = (kind: string) => entries?.some(({ subject }) => subject?.startsWith(kind))
  const { data: keys = [] } = useQuery({ ...apiKeysQuery, enabled: isNamed('key_') })
  const { data: webhooks = [] } = useQuery({ ...webhooksQuery, enabled: isNamed('whk_') })
  const nameOf = (id: string) =>
    keys.find((key) => key.id === id)?.name ?? webhooks.find((each) => each.id === id)?.url
  return (
    <Card flush title={<Trans>Audit log</Trans>}>
      {entries ? (
        entries.length === 0 ? (
          <EmptyState icon="clock" title={<Trans>Nothing yet</Trans>} />
        ) : (
          <Table caption={t`Audit log`}>
            <thead>
              <tr>
                <Th>
                  <Trans>Action</Trans>
                </Th>
                <Th>
                  <Trans>Object</Trans>
                </Th>
                <Th className="max-md:hidden">
                  <Trans>By</Trans>
                </Th>
                <Th end>
                  <Trans>Time</Trans>
                </Th>
              </tr>
            </thead>
            <tbody className="[&>tr:last-child>td]:border-b-0">
              {entries.map((entry) => (
                <EntryRow entry={entry} key={entry.id} nameOf={nameOf} />
              ))}
            </tbody>
          </Table>
        )
      ) : query.error ? (
        <QueryError
          busy={query.isFetching}
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      ) : (
        <Skeleton className="mx-5 mb-5 h-24" />
      )}
      {query.hasNextPage && (
        <Button
          busy={query.isFetchingNextPage}
          className="mx-5 my-3"
          onClick={() => void query.fetchNextPage()}
          size="sm"
        >
          <Trans>Show more</Trans>
        </Button>
      )}
    </Card>
  )
}

type EntryRowProps = {
  entry: AuditEntry
  /** What people call a key or a webhook: its id alone tells nobody which one it was. */
  nameOf: (id: string) => string | undefined
}

function EntryRow({ entry, nameOf }: EntryRowProps) {
  const { t } = useLingui()
  const { at, wallet, subject, outcome } = entry
  const action = actionOf(entry)
  return (
    <tr>
      <Td className="font-medium">
        {typeof action === 'string' ? action : t(action)}
        {outcome !== 'done' && (
          <Badge
            className="ms-2"
            title={outcome ?? undefined}
            tone={outcome === null ? 'warn' : 'bad'}
          >
            {outcome === null
              ? t`Outcome unknown`
              : t({ message: 'Refused', context: 'audit log' })}
          </Badge>
        )}
      </Td>
      <Td className="[overflow-wrap:anywhere]">
        {subject !== null && (
          <Subject entry={{ action: entry.action, subject }} name={nameOf(subject)} />
        )}
      </Td>
      <Td className="max-md:hidden">
        <Address value={wallet} />
      </Td>
      <Td className="whitespace-nowrap text-muted" end>
        <span className="block md:hidden">
          <Address value={wallet} />
        </span>
        <Time at={at} />
      </Td>
    </tr>
  )
}

type About = { action: string; subject: string }

function Subject({ entry, name }: { entry: About; name: string | undefined }) {
  const { t } = useLingui()
  return partsOf(entry).map(({ text, path }, index) => {
    const shown =
      isShortened(text) && !name ? (
        <Address value={text} />
      ) : (
        <UntrustedText text={name ?? (isRole(text) ? t(roleWords[text].label) : text)} />
      )
    return (
      <Fragment key={`${text} ${index}`}>
        {index > 0 && ', '}
        {path === undefined ? (
          shown
        ) : (
          <Link className="underline decoration-edge underline-offset-4" title={text} to={path}>
            {shown}
          </Link>
        )}
      </Fragment>
    )
  })
}

/** An id or an address is read by its ends. */
function isShortened(text: string): boolean {
  return parseAddress(text).ok || /^[a-z]{3}_[1-9A-HJ-NP-Za-km-z]{22}$/.test(text)
}

/** Where the objects of the account are, by the prefix of their ids. */
const PAGES: Readonly<Record<string, (id: string) => string>> = {
  pay: (paymentId) => pathTo('payment', { params: { paymentId } }),
  ivc: (invoiceId) => pathTo('invoice', { params: { invoiceId } }),
  lnk: (link) => pathTo('links', { search: { link } }),
  fil: () => pathTo('files', {}),
  prd: () => pathTo('products', {}),
  key: () => pathTo('developers', {}),
  whk: () => pathTo('developers', {}),
  umt: () => pathTo('overview', { search: { show: 'unmatched' } }),
  rfr: () => pathTo('overview', { search: { show: 'refundRequests' } }),
}

/** What an entry is about, each whole id and each customer with its page. The last one of many may be cut. A name that somebody typed is left as it is. */
export function partsOf({ action, subject }: About): { text: string; path: string | undefined }[] {
  const byRole = action.startsWith('people') ? subject.split(/ (?=(?:owner|operator|viewer)$)/) : []
  const listed = subject.split(',')
  const parts = byRole.length > 1 ? byRole : isShortened(listed[0] ?? '') ? listed : [subject]
  return parts.map((text) => ({
    text,
    path: !isShortened(text)
      ? undefined
      : action.startsWith('profile')
        ? pathTo('customer', { params: { walletAddress: text } })
        : PAGES[text.slice(0, 3)]?.(text),
  }))
}

/** A transaction that was built for a payment of the account returns it. An action of another version has its name there. */
export function actionOf({
  action,
  subject,
}: Pick<AuditEntry, 'action' | 'subject'>): MessageDescriptor | string {
  if (action === 'transactionSend' && subject !== null && isPaymentId(subject)) return REFUND_BUILT
  return isAudited(action) ? ACTIONS[action] : action
}

function isRole(text: string): text is Role {
  return Object.hasOwn(roleWords, text)
}

function isAudited(action: string): action is Audited {
  return Object.hasOwn(ACTIONS, action)
}
