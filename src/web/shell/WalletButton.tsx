import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import { shortAddress } from '#contract/known-address.ts'
import { ApiError } from '../api/errors.ts'
import { describeError } from '../errors/codes.ts'
import { formatList } from '../locales/formats.ts'
import { loadMessages } from '../locales/language.ts'
import { Button } from '../ui/Button.tsx'
import { buttonClass } from '../ui/button-class.ts'
import { Icon } from '../ui/Icon.tsx'
import { Menu, type MenuItem } from '../ui/Menu.tsx'
import { toast } from '../ui/Toast.tsx'
import {
  closeConnectDialog,
  openConnectDialog,
  useAccounts,
  useConnectDialog,
  type ConnectedAccount,
} from '../wallet/state/accounts.ts'
import { rememberedWallet } from '../wallet/state/remembered.ts'
import { WalletIcon } from '../ui/WalletIcon.tsx'

const loadDialog = async () =>
  (await Promise.all([import('../wallet/dialog/ConnectDialog.tsx'), loadMessages('paying')]))[0]
    .ConnectDialog
// What fails here fails again, visibly, when the dialog is opened.
const preload = () => void loadDialog().catch(() => undefined)

/** Connect, or who is connected. The wallet code is fetched when someone is about to use it. */
export function WalletButton() {
  const accounts = useAccounts()
  const dialog = useConnectDialog()
  const [ConnectDialog, setConnectDialog] = useState<Awaited<ReturnType<typeof loadDialog>>>()
  const connected = formatList(
    accounts.map((account) => `${account.walletName} ${shortAddress(account.address)}`),
  )

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
      () => {
        closeConnectDialog()
        toast(describeError(new ApiError({ code: 'OFFLINE' })).title, { tone: 'bad' })
      },
    )
  }, [dialog])

  return (
    <>
      {accounts.length === 0 ? (
        <Button
          icon={<Icon name="wallet" />}
          onClick={() => openConnectDialog()}
          onFocus={preload}
          onPointerEnter={preload}
        >
          <Trans>Connect</Trans>
        </Button>
      ) : (
        <Menu
          heading={<Trans>Connected wallets</Trans>}
          items={menuItems(accounts)}
          label={t`Wallets: ${connected}`}
          trigger={<Trigger accounts={accounts} />}
          triggerClassName={buttonClass({})}
        />
      )}
      {dialog && ConnectDialog && <ConnectDialog family={dialog === 'any' ? undefined : dialog} />}
    </>
  )
}

function Trigger({ accounts }: { accounts: readonly ConnectedAccount[] }) {
  const [first] = accounts
  return (
    <>
      <span className="flex -space-x-1">
        {accounts.map((account) => (
          <WalletIcon icon={account.icon} key={account.family} />
        ))}
      </span>
      {first && (
        <span className="font-mono text-[13px] max-sm:sr-only">{shortAddress(first.address)}</span>
      )}
      {accounts.length > 1 && <span className="text-xs text-muted">+{accounts.length - 1}</span>}
    </>
  )
}

function menuItems(accounts: readonly ConnectedAccount[]): MenuItem[] {
  return [
    ...accounts.flatMap(({ family, address, walletName }): MenuItem[] => [
      {
        id: `${family}-copy`,
        icon: <Icon name="copy" />,
        label: (
          <>
            <Trans>
              Copy <span className="font-mono text-[13px]">{shortAddress(address)}</span>
            </Trans>
          </>
        ),
        onSelect: () => void navigator.clipboard.writeText(address),
      },
      {
        id: `${family}-disconnect`,
        icon: <Icon name="logout" />,
        label:
          family === 'evm'
            ? t`Disconnect ${walletName} (Ethereum)`
            : t`Disconnect ${walletName} (Solana)`,
        onSelect: () =>
          void import('../wallet/load-adapter.ts').then(({ disconnect }) => disconnect(family)),
      },
    ]),
    {
      id: 'connect',
      icon: <Icon name="wallet" />,
      label: t`Connect another wallet`,
      onSelect: () => openConnectDialog(),
    },
  ]
}
