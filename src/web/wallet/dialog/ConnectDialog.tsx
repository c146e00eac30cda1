import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import type { Family } from '#contract/address.ts'
import { familyOf } from '#contract/network.ts'
import { configQuery } from '../../api/queries.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { closeConnectDialog } from '../state/accounts.ts'
import { useFoundWallets, type FoundWallet } from '../state/discover.ts'
import { WALLET_CONNECT } from '../evm/wallet-connect-id.ts'
import { loadWalletAdapter } from '../load-adapter.ts'
import { AccountList } from './AccountList.tsx'
import { ElsewhereRow } from './ElsewhereRow.tsx'
import { NoWallets } from './NoWallets.tsx'
import { ScanToConnect } from './ScanToConnect.tsx'
import { useConnect, type ConnectStep } from './use-connect.ts'
import { WalletRow } from './WalletRow.tsx'

const REMOTE: FoundWallet = { name: 'WalletConnect', ids: { evm: WALLET_CONNECT } }

/** One row per wallet, whichever of the two roads it was found on; wallets on other devices; then its account, if it offers several. */
export function ConnectDialog({ family }: { family: Family | undefined }) {
  const { data } = useQuery(configQuery)
  const offered = useMemo(
    () =>
      (['evm', 'solana'] as const).filter(
        (each) =>
          (family ?? each) === each &&
          (data?.networks.some(({ network }) => familyOf(network) === each) ?? true),
      ),
    [data, family],
  )
  const wallets = useFoundWallets().filter(({ ids }) => offered.some((each) => ids[each]))
  const { stage, ask, scan, cancel, choose } = useConnect()

  // The wallet code comes while the reader looks at the list.
  useEffect(() => {
    if (data) for (const each of offered) void loadWalletAdapter(each).catch(() => undefined)
  }, [data, offered])

  const remote = data?.walletConnect && offered.includes('evm') ? REMOTE : undefined
  return (
    <Dialog
      description={descriptionOf(stage)}
      onClose={closeConnectDialog}
      open
      size="sm"
      title={titleOf(stage, family)}
    >
      {stage.name === 'choose' && stage.userError && (
        <Banner className="mb-3" role="alert" tone="warn">
          {stage.userError}
        </Banner>
      )}
      {stage.name === 'accounts' && (
        <AccountList
          addresses={stage.addresses}
          onChoose={(address) => void choose(stage, address)}
        />
      )}
      {stage.name === 'scanning' && <ScanToConnect onCancel={cancel} uri={stage.uri} />}
      {(stage.name === 'choose' || stage.name === 'asking') && (
        <>
          {wallets.length === 0 && <NoWallets families={offered} />}
          <ul className="space-y-2">
            {wallets.map((wallet) => (
              <li key={Object.values(wallet.ids).join()}>
                <WalletRow
                  busy={
                    stage.name === 'asking' && stage.wallet.name === wallet.name
                      ? stage.family
                      : undefined
                  }
                  families={offered}
                  onConnect={(chosen) => ask(wallet, chosen)}
                  wallet={wallet}
                />
              </li>
            ))}
          </ul>
          <ElsewhereRow onScan={remote && (() => scan(remote))} open={wallets.length === 0} />
        </>
      )}
      {stage.name === 'asking' && <Asking wallet={stage.wallet} />}
    </Dialog>
  )
}

function Asking({ wallet: { name } }: { wallet: FoundWallet }) {
  return (
    <p className="mt-3 text-sm text-muted">
      <Trans>Approve in {name}. Nothing opened? Click its icon in your browser’s toolbar.</Trans>
    </p>
  )
}

function descriptionOf(stage: ConnectStep): string {
  if (stage.name !== 'accounts')
    return t`Connecting shows this page your address. It moves no money.`
  const { name } = stage.wallet
  return t`${name} offers several accounts.`
}

function titleOf(stage: ConnectStep, family: Family | undefined): string {
  if (stage.name === 'accounts') return t`Which account?`
  if (stage.name === 'scanning') return t`Connect a wallet on another device`
  if (!family) return t`Connect a wallet`
  return family === 'evm' ? t`Connect an Ethereum wallet` : t`Connect a Solana wallet`
}
