import { t } from '@lingui/core/macro'
import type { Family } from '#contract/address.ts'
import { Button } from '../../ui/Button.tsx'
import type { FoundWallet } from '../state/discover.ts'
import { WalletIcon } from '../../ui/WalletIcon.tsx'

export type WalletRowProps = {
  wallet: FoundWallet
  /** The families that can be connected here. */
  families: readonly Family[]
  /** The family that the wallet is being asked for. */
  busy: Family | undefined
  onConnect: (family: Family) => void
}

const labels = { evm: 'Ethereum', solana: 'Solana' } as const

/** A wallet with one button for each family it speaks. */
export function WalletRow({ wallet, families, busy, onConnect }: WalletRowProps) {
  return (
    <div className="flex items-center gap-3 rounded-lg border border-line bg-surface px-3 py-2.5">
      <WalletIcon icon={wallet.icon} large />
      <span className="min-w-0 flex-1 truncate text-sm font-medium">{wallet.name}</span>
      {families
        .filter((family) => wallet.ids[family])
        .map((family) => (
          <Button
            aria-label={label(wallet.name, labels[family])}
            busy={busy === family}
            key={family}
            onClick={() => onConnect(family)}
            size="sm"
          >
            {labels[family]}
          </Button>
        ))}
    </div>
  )
}

function label(wallet: string, network: string): string {
  return t`Connect ${wallet} on ${network}`
}
