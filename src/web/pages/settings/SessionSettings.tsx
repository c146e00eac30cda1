import { plural } from '@lingui/core/macro'
import { Trans, useLingui } from '@lingui/react/macro'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { shortAddress } from '#contract/known-address.ts'
import { callProxy } from '../../api/client.ts'
import { signOut, useSession } from '../../api/session.ts'
import { describeError } from '../../errors/codes.ts'
import { formatList } from '../../locales/formats.ts'
import { SignIn } from '../../shell/SignIn.tsx'
import { Address } from '../../ui/Address.tsx'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toast.tsx'

/** Which wallets this browser proved, until when, where else they are signed in, and the ways out. */
export function SessionSettings() {
  const { t } = useLingui()
  const state = useSession()
  const [leaving, setLeaving] = useState(false)
  const [userError, setUserError] = useState<string>()

  async function leave() {
    setLeaving(true)
    setUserError(undefined)
    try {
      await signOut()
      toast(t`Signed out`)
    } catch (error) {
      const reason = describeError(error).title
      setUserError(t`Still signed in. ${reason}.`)
    } finally {
      setLeaving(false)
    }
  }

  const session = state.kind === 'known' && state.viewer ? state.session : null
  return (
    <Card title={<Trans>Sessions</Trans>}>
      {state.kind === 'loading' && <Skeleton className="h-16" />}
      {state.kind === 'failed' && (
        <p className="text-sm text-muted">{describeError(state.error).title}</p>
      )}
      {state.kind === 'known' && !session && (
        <>
          <p className="mb-4 text-sm text-muted">
            <Trans>Not signed in.</Trans>
          </p>
          <div className="flex">
            <SignIn look="secondary" />
          </div>
        </>
      )}
      {session && (
        <>
          <Facts>
            {session.wallets.map((wallet) => (
              <Fact key={wallet} name={<Trans>Wallet</Trans>} long>
                <Address copy full value={wallet} />
              </Fact>
            ))}
            <Fact name={<Trans>Sees</Trans>}>
              {session.role !== null ? (
                <Badge tone="info">
                  <Trans>All merchant wallets</Trans>
                </Badge>
              ) : (
                <Trans>Your wallets</Trans>
              )}
            </Fact>
            <Fact name={<Trans>Expires</Trans>}>
              <Time at={session.expiresAt} look="full" />
            </Fact>
          </Facts>
          <div className="mt-5">
            <Button busy={leaving} icon={<Icon name="logout" />} onClick={() => void leave()}>
              <Trans>Sign out</Trans>
            </Button>
          </div>
          {userError && (
            <p className="mt-3 text-sm text-bad-ink" role="alert">
              {userError}
            </p>
          )}
          <OtherSessions />
        </>
      )}
    </Card>
  )
}

const sessionsQuery = queryOptions({
  queryKey: ['sessionList'],
  queryFn: async ({ signal }) => (await callProxy('sessionList', {}, { signal })).sessions,
})

/** Other browsers in which a wallet of this session is signed in, and one button that ends them all. */
function OtherSessions() {
  const { t } = useLingui()
  const { data, error, refetch } = useQuery(sessionsQuery)
  const [ending, setEnding] = useState(false)
  const [userError, setUserError] = useState<string>()
  const others = data?.filter(({ current }) => !current)

  async function endOthers() {
    setEnding(true)
    setUserError(undefined)
    try {
      const { ended } = await callProxy('sessionEndOthers', { body: {} })
      toast(
        t`${plural(ended, { one: '# other browser is signed out', other: '# other browsers are signed out' })}.`,
        { tone: 'good' },
      )
      await refetch()
    } catch (problem) {
      setUserError(describeError(problem).title)
    } finally {
      setEnding(false)
    }
  }

  return (
    <section className="mt-6 border-t border-line pt-5">
      <h3 className="text-sm font-medium">
        <Trans>Other browsers</Trans>
      </h3>
      {!data && !error && <Skeleton className="mt-3 h-10" />}
      {error && <p className="mt-1 text-sm text-muted">{describeError(error).title}</p>}
      {others?.length === 0 && (
        <p className="mt-1 text-sm text-muted">
          <Trans>None</Trans>
        </p>
      )}
      {others && others.length > 0 && (
        <>
          <ul className="mt-2 divide-y divide-line text-sm">
            {others.map(({ wallets, createdAt, lastUsedAt }) => (
              <li
                className="flex flex-wrap justify-between gap-x-4 py-2.5"
                key={`${createdAt} ${wallets.join()}`}
              >
                <span className="font-mono text-[13px]">
                  {formatList(wallets.map(shortAddress))}
                </span>
                <span className="text-muted">
                  <Trans>
                    Signed in <Time at={createdAt} />, last used{' '}
                    <Time at={lastUsedAt} look="relative" />
                  </Trans>
                </span>
              </li>
            ))}
          </ul>
          <Button busy={ending} className="mt-3" onClick={() => void endOthers()} size="sm">
            <Trans>Sign out others</Trans>
          </Button>
        </>
      )}
      {userError && (
        <p className="mt-3 text-sm text-bad-ink" role="alert">
          {userError}
        </p>
      )}
    </section>
  )
}
