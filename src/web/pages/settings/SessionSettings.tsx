import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { describeError } from '../../errors/codes.ts'
import { signOut, useSession } from '../../api/session.ts'
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
import { OtherSessions } from './OtherSessions.tsx'

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
      setUserError(t`You are still signed in. ${reason}.`)
    } finally {
      setLeaving(false)
    }
  }

  const session = state.kind === 'known' && state.viewer ? state.session : null
  return (
    <Card title={<Trans>Sessions</Trans>}>
      {state.kind === 'loading' && <Skeleton className="h-16" />}
      {state.kind === 'failed' && <NotKnown reason={describeError(state.error).title} />}
      {state.kind === 'known' && !session && (
        <>
          <p className="mb-4 text-sm text-muted">
            <Trans>You are not signed in. Signing in shows your payments; it moves no money.</Trans>
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
              {session.operator ? (
                <Badge tone="info">
                  <Trans>All payments of the merchant</Trans>
                </Badge>
              ) : (
                <Trans>Payments of these wallets</Trans>
              )}
            </Fact>
            <Fact name={<Trans>Signed in until</Trans>}>
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

function NotKnown({ reason }: { reason: string }) {
  return (
    <p className="text-sm text-muted">
      <Trans>{reason}. Whether you are signed in is not known.</Trans>
    </p>
  )
}
