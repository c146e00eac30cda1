import { Trans } from '@lingui/react/macro'
import type { HostedWallet } from '#contract/hosted-endpoints.ts'
import type { Asset } from '#contract/network.ts'
import { Amount } from '../../ui/Amount.tsx'

/** How much may be paid from a managed wallet here. */
export function HostedCaps({ wallet, asset }: { wallet: HostedWallet; asset: Asset }) {
  const { decimals, symbol } = asset
  return (
    <Trans>
      Up to <Amount atomic={wallet.maxPerPaymentAtomic} decimals={decimals} symbol={symbol} /> per
      payment. <Amount atomic={dayLeft(wallet)} decimals={decimals} symbol={symbol} /> of{' '}
      <Amount atomic={wallet.maxPerDayAtomic} decimals={decimals} symbol={symbol} /> left in 24
      hours.
    </Trans>
  )
}

/** What one payment may be now, in atomic units. */
export function leftOf(wallet: HostedWallet): bigint {
  const [day, payment] = [dayLeft(wallet), BigInt(wallet.maxPerPaymentAtomic)]
  return day < payment ? day : payment
}

function dayLeft({ maxPerDayAtomic, spentAtomic }: HostedWallet): bigint {
  const left = BigInt(maxPerDayAtomic) - BigInt(spentAtomic)
  return left < 0n ? 0n : left
}
