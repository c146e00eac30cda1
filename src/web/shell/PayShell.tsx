import { useLingui } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { Badge } from '../ui/Badge.tsx'
import { Toaster } from '../ui/Toast.tsx'
import { LiveRegion } from '../ui/announce.tsx'
import { PageHeading } from './PageHeading.tsx'
import { PayMain } from './PayMain.tsx'
import { HeaderNotices } from './Shell.tsx'
import { WalletDialog } from './WalletButton.tsx'

/** The frame of a payment link: the merchant's page, without the dashboard around it. */
export function PayShell({ children }: { children: ReactNode }) {
  return (
    <>
      <div className="flex min-h-dvh flex-col" data-shell="pay">
        <div className="no-print sticky top-0 z-20">
          <HeaderNotices />
        </div>
        <PayMain>{children}</PayMain>
      </div>
      <WalletDialog />
      <LiveRegion />
      <Toaster />
    </>
  )
}

export type MerchantHeaderProps = {
  name: string
  /** Whether the money of this payment is worth nothing. */
  testnet: boolean
}

/** Who is paid. It stays on every step, on the receipt and in print. */
export function MerchantHeader({ name, testnet }: MerchantHeaderProps) {
  const { t } = useLingui()
  return (
    <header className="mb-6 flex items-center justify-between gap-3">
      <div className="flex min-w-0 items-center gap-2.5">
        <span
          aria-hidden
          className="inline-flex size-9 shrink-0 items-center justify-center rounded-lg bg-accent font-semibold text-on-accent forced-edge"
        >
          {[...name.trim()][0]?.toUpperCase()}
        </span>
        <PageHeading className="min-w-0 font-semibold [overflow-wrap:anywhere] outline-none">
          {name}
        </PageHeading>
      </div>
      {testnet && <Badge tone="warn">{t`Test network`}</Badge>}
    </header>
  )
}
