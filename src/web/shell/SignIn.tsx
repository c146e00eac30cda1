import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import { errorSentence } from '../errors/codes.ts'
import { shortAddress } from '#contract/known-address.ts'
import { Button } from '../ui/Button.tsx'
import { Icon } from '../ui/Icon.tsx'
import { toast } from '../ui/Toast.tsx'
import { useAccounts, useConnectFirst, type ConnectedAccount } from '../wallet/state/accounts.ts'

/** Connect first, then prove the wallet by signing a text that moves no money. `look`: primary unless the page's main action is another. */
export function SignIn({ look = 'primary' }: { look?: 'primary' | 'secondary' }) {
  const accounts = useAccounts()
  const [asking, setAsking] = useState<ConnectedAccount>()
  const [userError, setUserError] = useState<string>()

  // Who asks to sign in and connects on the way is asked to sign next, without another press.
  const connect = useConnectFirst((account) => void start(account))

  async function start(account: ConnectedAccount) {
    setAsking(account)
    setUserError(undefined)
    try {
      const { signIn } = await import('../session/sign-in.ts')
      await signIn(account)
      const address = shortAddress(account.address)
      toast(t`Signed in as ${address}`, { tone: 'good' })
    } catch (error) {
      setUserError(describeSignInError(error, account))
    } finally {
      setAsking(undefined)
    }
  }

  if (accounts.length === 0) {
    return (
      <Button
        className="h-auto min-h-10 max-w-full shrink py-2 whitespace-normal!"
        icon={<Icon name="wallet" />}
        onClick={() => connect()}
        variant={look}
      >
        <Trans>Connect a wallet</Trans>
      </Button>
    )
  }
  return (
    <div className="flex flex-col items-stretch gap-2">
      {accounts.map((account, index) => (
        <Button
          busy={isSame(asking, account)}
          disabled={asking !== undefined && !isSame(asking, account)}
          icon={<Icon name="shield" />}
          key={`${account.walletId}:${account.address}`}
          onClick={() => void start(account)}
          variant={index === 0 ? look : 'secondary'}
        >
          <SignInAs address={shortAddress(account.address)} />
        </Button>
      ))}
      {asking && <Asking wallet={asking.walletName} />}
      {userError && (
        <p className="text-sm text-bad-ink" role="alert">
          {userError}
        </p>
      )}
    </div>
  )
}

function SignInAs({ address }: { address: string }) {
  return <Trans>Sign in as {address}</Trans>
}

function Asking({ wallet }: { wallet: string }) {
  return (
    <p className="text-sm text-muted">
      <Trans>Confirm in {wallet}. No money moves.</Trans>
    </p>
  )
}

function isSame(one: ConnectedAccount | undefined, other: ConnectedAccount): boolean {
  return one?.address === other.address && one.walletId === other.walletId
}

function describeSignInError(error: unknown, { walletName }: ConnectedAccount): string {
  return errorSentence(error, t`${walletName} did not sign. Nothing was sent.`)
}
