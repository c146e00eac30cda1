import { Trans } from '@lingui/react/macro'
import { lazy, Suspense, useEffect, useState } from 'react'
import { ApiError } from '../api/errors.ts'
import { reloadForNewVersion } from '../api/new-version.ts'
import { describeError } from '../errors/codes.ts'
import { loadMessages } from '../locales/language.ts'
import { Button } from '../ui/Button.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { toast } from '../ui/Toast.tsx'
import {
  closeConnectDialog,
  openConnectDialog,
  useAccounts,
  useConnectDialog,
} from '../wallet/state/accounts.ts'
import { rememberedWallet } from '../wallet/state/remembered.ts'

const loadDialog = async () =>
  (await Promise.all([import('../wallet/dialog/ConnectDialog.tsx'), loadMessages('paying')]))[0]
    .ConnectDialog
// A connected wallet has loaded its own code, and this comes with it.
const ConnectedWallets = lazy(async () => ({
  default: (await import('./ConnectedWallets.tsx')).ConnectedWallets,
}))
// What fails here fails again, visibly, when the dialog is opened.
const preload = () => void loadDialog().catch(() => undefined)

/** Connect, or who is connected. The wallet code is fetched when someone is about to use it. */
export function WalletButton() {
  const accounts = useAccounts()

  return (
    <>
      {accounts.length === 0 ? (
        <Button
          icon={<Icon className="max-[25rem]:hidden" name="wallet" />}
          onClick={() => openConnectDialog()}
          onFocus={preload}
          onPointerEnter={preload}
        >
          <Trans>Connect</Trans>
        </Button>
      ) : (
        <Suspense fallback={<Skeleton className="h-10 w-32 rounded-lg max-sm:w-14" />}>
          <ConnectedWallets accounts={accounts} />
        </Suspense>
      )}
      <WalletDialog />
    </>
  )
}

/** The connect dialog, wherever on the page it is opened from; wallets of an earlier visit reconnect silently. Once per page. */
export function WalletDialog() {
  const dialog = useConnectDialog()
  const [ConnectDialog, setConnectDialog] = useState<Awaited<ReturnType<typeof loadDialog>>>()

  useEffect(() => {
    // Nobody connected on an earlier visit: then this page loads no wallet code at all.
    if (rememberedWallet('evm') ?? rememberedWallet('solana'))
      void import('../wallet/load-adapter.ts').then(({ reconnectWallets }) => reconnectWallets())
  }, [])

  // Where its code cannot be fetched, the page stays and says so, and the next press tries again.
  useEffect(() => {
    if (!dialog) return
    loadDialog().then(
      (loaded) => setConnectDialog(() => loaded),
      async () => {
        closeConnectDialog()
        if (!(await reloadForNewVersion()))
          toast(describeError(new ApiError({ code: 'OFFLINE' })).title, { tone: 'bad' })
      },
    )
  }, [dialog])

  return dialog && ConnectDialog && <ConnectDialog family={dialog === 'any' ? undefined : dialog} />
}
