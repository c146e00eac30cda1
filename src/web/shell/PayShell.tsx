import { useLingui } from '@lingui/react/macro'
import { type ReactNode, useLayoutEffect } from 'react'
import { useConfig } from '../api/use-config.ts'
import { Badge } from '../ui/Badge.tsx'
import { Toaster } from '../ui/Toast.tsx'
import { UntrustedText } from '../ui/UntrustedText.tsx'
import { LiveRegion } from '../ui/announce.tsx'
import { PageHeading } from './PageHeading.tsx'
import { PayMain } from './PayMain.tsx'
import { HeaderNotices } from './Shell.tsx'
import { WalletDialog } from './WalletButton.tsx'
import { accentTokens } from './accent.ts'

/** The frame of a payment link: the merchant's page, without the dashboard around it. */
export function PayShell({ children }: { children: ReactNode }) {
  const { accentColor } = useConfig()
  useLayoutEffect(() => {
    if (accentColor === null) return
    const tokens = Object.entries(accentTokens(accentColor))
    const { style } = document.documentElement
    for (const [name, value] of tokens) style.setProperty(name, value)
    return () => {
      for (const [name] of tokens) style.removeProperty(name)
    }
  }, [accentColor])
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
  /** Of what is paid. On a test network the money is worth nothing; while it is not known, only where there is no other network. */
  network: string | undefined
}

/** Who is paid. It stays on every step, on the receipt and in print. */
export function MerchantHeader({ name, network }: MerchantHeaderProps) {
  const { t } = useLingui()
  const { logo, networks } = useConfig()
  const known = networks.find((each) => each.network === network)
  const testnet = known?.testnet ?? networks.every((each) => each.testnet)
  return (
    <header className="mb-6 flex items-center justify-between gap-3">
      <div className="flex min-w-0 items-center gap-2.5">
        {logo === null ? (
          <span
            aria-hidden
            className="inline-flex size-9 shrink-0 items-center justify-center rounded-lg bg-accent font-semibold text-on-accent forced-edge"
          >
            {[...name.trim()][0]?.toUpperCase()}
          </span>
        ) : (
          // The name stands beside it.
          <img alt="" className="h-9 max-w-36 shrink-0 object-contain" src={logo} />
        )}
        <PageHeading className="min-w-0 font-semibold [overflow-wrap:anywhere] outline-none">
          {name}
        </PageHeading>
      </div>
      {testnet && <Badge tone="warn">{t`Test network`}</Badge>}
    </header>
  )
}

/** What is paid for, where it is no product: its description and the merchant's reference. */
export function ItemLine({
  description,
  reference,
}: {
  description: string | null | undefined
  reference: string | null | undefined
}) {
  if (!description && !reference) return null
  return (
    <p className="mb-2 text-muted [overflow-wrap:anywhere]">
      {description && <UntrustedText className="text-ink" text={description} />}
      {description && reference && ' · '}
      {reference && <UntrustedText text={reference} />}
    </p>
  )
}
