import { familyOf, nativeAsset, type Network } from '#contract/network.ts'
import { Address } from '../../ui/Address.tsx'
import { Amount } from '../../ui/Amount.tsx'
import { Button } from '../../ui/Button.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { openConnectDialog, type ConnectedAccount } from '../../wallet/accounts.ts'
import { WalletIcon } from '../../wallet/WalletIcon.tsx'

export type FromAccountProps = {
  account: ConnectedAccount | undefined
  network: Network
  balanceAtomic: bigint | undefined
  loading: boolean
  unreadable: boolean
}

/** Who pays, and what they hold there. */
export function FromAccount({ account, network, balanceAtomic, loading, unreadable }: FromAccountProps) {
  const asset = nativeAsset(network)
  const family = familyOf(network.network)
  return (
    <div>
      <p className="mb-1.5 text-sm font-medium" id="from-label">
        From
      </p>
      <div aria-labelledby="from-label" className="flex min-h-14 flex-wrap items-center gap-3 rounded-lg border border-line bg-sunken px-3 py-2" role="group">
        {account ? (
          <>
            <WalletIcon icon={account.icon} />
            <div className="min-w-32 flex-1">
              <p className="text-sm font-medium">{account.walletName}</p>
              <Address value={account.address} />
            </div>
            <div className="max-sm:order-last max-sm:w-full max-sm:flex max-sm:flex-row-reverse max-sm:items-baseline max-sm:justify-between sm:text-end">
              {balanceAtomic !== undefined ? (
                <Amount atomic={balanceAtomic} decimals={asset.decimals} symbol={asset.symbol} />
              ) : loading ? (
                <Skeleton className="h-5 w-24" />
              ) : (
                <span className="text-sm text-muted">{unreadable ? 'Balance not readable' : ''}</span>
              )}
              <p className="text-xs text-muted">Balance</p>
            </div>
            <Button onClick={() => openConnectDialog(family)} size="sm" variant="quiet">
              Change
            </Button>
          </>
        ) : (
          <>
            <WalletIcon icon={undefined} />
            <p className="flex-1 text-sm text-muted">No {family === 'evm' ? 'Ethereum' : 'Solana'} wallet connected.</p>
            <Button onClick={() => openConnectDialog(family)} size="sm">
              Connect
            </Button>
          </>
        )}
      </div>
    </div>
  )
}
