import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { shortAddress } from '#contract/known-address.ts'
import { formatList } from '../locales/formats.ts'
import { buttonClass } from '../ui/button-class.ts'
import { Icon } from '../ui/Icon.tsx'
import { Menu, type MenuItem } from '../ui/Menu.tsx'
import { WalletIcon } from '../ui/WalletIcon.tsx'
import { openConnectDialog, type ConnectedAccount } from '../wallet/state/accounts.ts'

/** Who is connected, and what can be done about it. */
export function ConnectedWallets({ accounts }: { accounts: readonly ConnectedAccount[] }) {
  const connected = formatList(
    accounts.map((account) => `${account.walletName} ${shortAddress(account.address)}`),
  )
  return (
    <Menu
      heading={<Trans>Connected wallets</Trans>}
      items={menuItems(accounts)}
      label={t`Wallets: ${connected}`}
      trigger={<Trigger accounts={accounts} />}
      triggerClassName={buttonClass({})}
    />
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
