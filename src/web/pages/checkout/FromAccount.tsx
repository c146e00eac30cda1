import { Trans, useLingui } from '@lingui/react/macro'
import { familyOf, nativeAsset, type Asset, type Network } from '#contract/network.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Button } from '../../ui/Button.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { openConnectDialog, type ConnectedAccount } from '../../wallet/state/accounts.ts'
import { WalletIcon } from '../../ui/WalletIcon.tsx'

export type FromAccountProps = {
  account: ConnectedAccount | undefined
  network: Network
  asset: Asset
  /** Of the asset, and of the currency the fee is paid in. */
  balances: { asset: bigint; native: bigint } | undefined
  loading: boolean
  unreadable: boolean
}

/** Who pays, and what they hold there. */
export function FromAccount({
  account,
  network,
  asset,
  balances,
  loading,
  unreadable,
}: FromAccountProps) {
  const { t } = useLingui()
  const family = familyOf(network.network)
  const native = nativeAsset(network)
  return (
    <div>
      <p className="mb-1.5 text-sm font-medium" id="from-label">
        <Trans>From</Trans>
      </p>
      <div
        aria-labelledby="from-label"
        className="flex min-h-14 flex-wrap items-center gap-3 rounded-lg border border-line bg-sunken px-3 py-2"
        role="group"
      >
        {account ? (
          <>
            <WalletIcon icon={account.icon} />
            <div className="min-w-32 flex-1">
              <p className="text-sm font-medium">{account.walletName}</p>
              <Address value={account.address} />
            </div>
            <div className="max-sm:order-last max-sm:flex max-sm:w-full max-sm:flex-row-reverse max-sm:items-baseline max-sm:justify-between sm:text-end">
              {balances !== undefined ? (
                <Amount atomic={balances.asset} decimals={asset.decimals} symbol={asset.symbol} />
              ) : loading ? (
                <Skeleton className="h-5 w-24" />
              ) : (
                <span className="text-sm text-muted">
                  {unreadable ? t`Balance not readable` : ''}
                </span>
              )}
              <p className="text-xs text-muted">
                {balances === undefined || asset.native ? (
                  <Trans>Balance</Trans>
                ) : (
                  <Trans>
                    and{' '}
                    <Amount
                      atomic={balances.native}
                      className="!text-xs"
                      decimals={native.decimals}
                      symbol={native.symbol}
                    />{' '}
                    for the fee
                  </Trans>
                )}
              </p>
            </div>
            <Button onClick={() => openConnectDialog(family)} size="sm" variant="quiet">
              <Trans>Change</Trans>
            </Button>
          </>
        ) : (
          <>
            <WalletIcon icon={undefined} />
            <p className="flex-1 text-sm text-muted">
              {family === 'evm' ? t`No Ethereum wallet connected.` : t`No Solana wallet connected.`}
            </p>
          </>
        )}
      </div>
    </div>
  )
}
