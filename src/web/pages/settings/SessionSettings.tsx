import { useState } from 'react'
import { describeError } from '../../api/error-words.ts'
import { signOut, useSession } from '../../api/session.ts'
import { SignIn } from '../../session/SignIn.tsx'
import { Address } from '../../ui/Address.tsx'
import { Badge } from '../../ui/Badge.tsx'
import { Button } from '../../ui/Button.tsx'
import { Card } from '../../ui/Card.tsx'
import { Fact, Facts } from '../../ui/Facts.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/Toast.tsx'

/** Which wallets this browser proved, until when, and the way out. */
export function SessionSettings() {
  const state = useSession()
  const [leaving, setLeaving] = useState(false)
  const [trouble, setTrouble] = useState<string>()

  async function leave() {
    setLeaving(true)
    setTrouble(undefined)
    try {
      await signOut()
      toast('Signed out')
    } catch (error) {
      setTrouble(`You are still signed in. ${describeError(error).title}.`)
    } finally {
      setLeaving(false)
    }
  }

  const session = state.kind === 'known' && state.viewer ? state.session : null
  return (
    <Card title="Session">
      {state.kind === 'loading' && <Skeleton className="h-16" />}
      {state.kind === 'failed' && <p className="text-sm text-muted">{describeError(state.error).title}. Whether you are signed in is not known.</p>}
      {state.kind === 'known' && !session && (
        <>
          <p className="mb-4 text-sm text-muted">You are not signed in. Signing in shows your payments; it moves no money.</p>
          <div className="flex">
            <SignIn look="secondary" />
          </div>
        </>
      )}
      {session && (
        <>
          <Facts>
            {session.wallets.map((wallet) => (
              <Fact key={wallet} name="Wallet" under="narrow">
                <Address copy full value={wallet} />
              </Fact>
            ))}
            <Fact name="Sees">{session.operator ? <Badge tone="info">All payments of this desk</Badge> : 'Payments of these wallets'}</Fact>
            <Fact name="Signed in until">
              <Time at={session.expiresAt} look="full" />
            </Fact>
          </Facts>
          <div className="mt-5">
            <Button busy={leaving} icon={<Icon name="logout" />} onClick={() => void leave()}>
              Sign out
            </Button>
          </div>
          {trouble && (
            <p className="mt-3 text-sm text-bad-ink" role="alert">
              {trouble}
            </p>
          )}
        </>
      )}
    </Card>
  )
}
