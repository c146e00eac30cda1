import { Trans, useLingui } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { shortAddress } from '#contract/known-address.ts'
import type { People, PersonRow } from '#contract/people-endpoints.ts'
import { hasRole } from '#contract/role.ts'
import { callProxy } from '../../api/client.ts'
import { useRole } from '../../api/session.ts'
import { describeError } from '../../errors/codes.ts'
import { joinMessage } from '../../errors/row.ts'
import { PageHeader } from '../../shell/PageHeader.tsx'
import { QueryError } from '../../shell/QueryError.tsx'
import { SignedIn } from '../../shell/SignedIn.tsx'
import { StaleBanner } from '../../shell/StaleBanner.tsx'
import { Address } from '../../ui/Address.tsx'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toast.tsx'
import { AuditCard } from './AuditCard.tsx'
import {
  ChangeRoleDialog,
  InviteDialog,
  InvitationLinkDialog,
  RemovePersonDialog,
} from './PeopleDialogs.tsx'
import { cachePeople, peopleQuery, refreshPeople } from './people-queries.ts'
import { roleWords } from './role-words.ts'

/** For owners: who may use this dashboard, and what they changed. */
export function PeoplePage() {
  const owner = hasRole(useRole(), 'owner')
  return (
    <>
      <PageHeader title={<Trans>People</Trans>} />
      <SignedIn skeleton={<Skeleton className="h-76 rounded-xl" />}>
        {() =>
          owner ? (
            <div className="grid gap-4">
              <PeopleCard />
              <AuditCard />
            </div>
          ) : (
            <Card>
              <EmptyState icon="people" title={<Trans>Owners only</Trans>}>
                <Trans>Use an owner’s wallet.</Trans>
              </EmptyState>
            </Card>
          )
        }
      </SignedIn>
    </>
  )
}

type Open =
  | { kind: 'invite' }
  | { kind: 'link'; code: string }
  | { kind: 'role' | 'remove'; person: PersonRow }

/** Wallets with a role, and invitations that nobody has used. */
export function PeopleCard() {
  const query = useQuery(peopleQuery)
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const { data, error } = query
  return (
    <Card
      action={
        data && (
          <Button onClick={() => setOpen({ kind: 'invite' })} variant="primary">
            <Trans>Invite</Trans>
          </Button>
        )
      }
      title={<Trans>Members</Trans>}
    >
      <StaleBanner
        error={data && error}
        onRetry={() => void query.refetch()}
        readAt={query.dataUpdatedAt}
      />
      {data ? (
        <>
          <ul className="divide-y divide-line">
            {data.people.map((person) => (
              <PersonItem
                key={person.wallet}
                onRemove={() => setOpen({ kind: 'remove', person })}
                onRole={() => setOpen({ kind: 'role', person })}
                person={person}
              />
            ))}
          </ul>
          {data.invitations.length > 0 && <Invitations invitations={data.invitations} />}
        </>
      ) : error ? (
        <QueryError busy={query.isFetching} error={error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton className="h-24" />
      )}
      {open?.kind === 'invite' && (
        <InviteDialog onClose={close} onMade={(code) => setOpen({ kind: 'link', code })} />
      )}
      {open?.kind === 'link' && <InvitationLinkDialog code={open.code} onClose={close} />}
      {open?.kind === 'role' && <ChangeRoleDialog onClose={close} person={open.person} />}
      {open?.kind === 'remove' && <RemovePersonDialog onClose={close} person={open.person} />}
    </Card>
  )
}

type PersonItemProps = { person: PersonRow; onRole: () => void; onRemove: () => void }

function PersonItem({ person, onRole, onRemove }: PersonItemProps) {
  const { t } = useLingui()
  const { wallet, role, configured, givenRole, givenAt, givenBy } = person
  const short = shortAddress(wallet)
  const changeRole = {
    id: 'role',
    label: t`Change role`,
    icon: <Icon name="people" />,
    onSelect: onRole,
  }
  return (
    <li className="flex items-start justify-between gap-3 py-3 first:pt-0 last:pb-0">
      <div className="min-w-0">
        <Address copy full value={wallet} />
        <p className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted">
          <Badge tone={role === 'viewer' ? 'neutral' : 'info'}>{t(roleWords[role].label)}</Badge>
          {configured && <Trans>From the configuration</Trans>}
          {givenRole && <Badge>{t(roleWords[givenRole].label)}</Badge>}
          {givenAt !== null && (
            <span>
              <Trans>
                Added <Time at={givenAt} /> by <Address value={givenBy ?? ''} />
              </Trans>
            </span>
          )}
        </p>
      </div>
      {(!configured || givenRole) && (
        <Menu
          items={[
            ...(configured ? [] : [changeRole]),
            {
              id: 'remove',
              label: t`Remove`,
              icon: <Icon name="cross" />,
              danger: true,
              onSelect: onRemove,
            },
          ]}
          label={t`Actions for ${{ name: short }}`}
          trigger={<Icon name="more" />}
          triggerClassName="touch-target inline-flex size-8 items-center justify-center rounded-lg text-muted hover:bg-hover hover:text-ink"
        />
      )}
    </li>
  )
}

function Invitations({ invitations }: Pick<People, 'invitations'>) {
  const { t } = useLingui()
  const [busy, setBusy] = useState<string>()

  async function withdraw(id: string) {
    setBusy(id)
    try {
      cachePeople(await callProxy('peopleUninvite', { body: { id } }))
      toast(t`Invitation revoked`)
    } catch (error) {
      toast(joinMessage(describeError(error)), { tone: 'bad' })
      refreshPeople()
    } finally {
      setBusy(undefined)
    }
  }

  return (
    <section className="mt-5 border-t border-line pt-5">
      <h3 className="text-sm font-medium">
        <Trans>Open invitations</Trans>
      </h3>
      <ul className="mt-2 divide-y divide-line">
        {invitations.map(({ id, role, expiresAt }) => (
          <li className="flex items-center justify-between gap-3 py-2.5" key={id}>
            <span className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-muted">
              <Badge>{t(roleWords[role].label)}</Badge>
              <span>
                <Trans>
                  Valid until <Time at={expiresAt} />
                </Trans>
              </span>
            </span>
            <Button busy={busy === id} onClick={() => void withdraw(id)} size="sm">
              <Trans>Revoke</Trans>
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}
