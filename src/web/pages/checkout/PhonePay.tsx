import { Trans, useLingui } from '@lingui/react/macro'
import { lazy, Suspense, useState } from 'react'
import { familyOf } from '#contract/network.ts'
import type { WalletPaymentIntent } from '../../payment-intent/intent.ts'
import { inWallet } from '../../payment-uris/uris.ts'
import { Banner } from '../../ui/Banner.tsx'
import { buttonClass } from '../../ui/button-class.ts'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { QrCode } from '../../ui/QrCode.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'

const WalletCode = lazy(() =>
  import('./WalletCode.tsx').then((module) => ({ default: module.WalletCode })),
)

type Wallet = 'MetaMask' | 'Phantom'
type Way = 'page' | Wallet | 'code'

export type PhonePayProps = {
  network: string
  /**
   * The payment that a payer with this address would make; nothing while the form is incomplete.
   */
  orderFrom: (sender: string) => WalletPaymentIntent | undefined
  /** Begins a payment by code. */
  onStart: (order: WalletPaymentIntent) => Promise<void>
  /** This page's URL with what was entered. */
  pageOf: () => URL
}

/**
 * Paying with a wallet on a phone: this page on the phone, this page inside the wallet's app, or a
 * code that the wallet itself reads.
 */
export function PhonePay({ network, orderFrom, onStart, pageOf }: PhonePayProps) {
  const { t } = useLingui()
  const [open, setOpen] = useState(false)
  const [chosen, setChosen] = useState<Way>()
  const wallets: Wallet[] = familyOf(network) === 'evm' ? ['MetaMask', 'Phantom'] : ['Phantom']
  // A reader on a phone has no second device to scan with: there the wallet's app comes first.
  const onPhone = window.matchMedia('(pointer: coarse)').matches
  const ways: readonly Way[] = onPhone ? [...wallets, 'code', 'page'] : ['page', ...wallets, 'code']
  const way = chosen && ways.includes(chosen) ? chosen : (ways[0] ?? 'page')
  const title = onPhone ? t`Pay in a wallet’s app` : t`Pay with a phone`
  return (
    <>
      <Button icon={<Icon name="qr" />} onClick={() => setOpen(true)} variant="quiet" wide>
        {title}
      </Button>
      <Dialog onClose={() => setOpen(false)} open={open} title={title}>
        <div className="space-y-4">
          <Segmented
            className="grid w-full grid-cols-2 sm:flex"
            label={t`What the code opens`}
            onChange={setChosen}
            options={ways.map((value) => ({
              value,
              label: value === 'page' ? t`This page` : value === 'code' ? t`Wallet code` : value,
            }))}
            value={way}
          />
          {way === 'code' ? (
            <Suspense fallback={<Skeleton className="mx-auto aspect-square w-full max-w-64" />}>
              <WalletCode onStart={onStart} orderFrom={orderFrom} />
            </Suspense>
          ) : (
            <PageCode onPhone={onPhone} page={pageOf()} wallet={way === 'page' ? undefined : way} />
          )}
        </div>
      </Dialog>
    </>
  )
}

function PageCode({
  page,
  wallet,
  onPhone,
}: {
  page: URL
  wallet: Wallet | undefined
  onPhone: boolean
}) {
  const { t } = useLingui()
  const value = wallet ? inWallet[wallet](page) : page.href
  const { host } = page
  return (
    <>
      {!(wallet && onPhone) && (
        <QrCode
          className="mx-auto w-full max-w-64 border border-line"
          label={
            wallet
              ? t`Code for ${{ name: host }} in ${{ way: wallet }}`
              : t`Code for ${{ name: host }}`
          }
          value={value}
        />
      )}
      <p className="text-center text-sm text-muted">
        {wallet ? t`Opens in ${{ way: wallet }}.` : t`Opens in the browser.`}
      </p>
      {wallet && page.protocol !== 'https:' && (
        <Banner role="note" tone="warn">
          <Trans>Mobile wallets need HTTPS.</Trans>
        </Banner>
      )}
      <div className="flex flex-wrap justify-center gap-2">
        <CopyButton label={t`Copy link`} text value={value} />
        {wallet && page.protocol === 'https:' && (
          <a
            className={buttonClass({
              size: onPhone ? 'lg' : 'sm',
              variant: onPhone ? 'primary' : 'secondary',
              wide: onPhone,
            })}
            href={value}
            rel="noopener noreferrer"
          >
            <Trans>Open {wallet}</Trans>
          </a>
        )}
      </div>
    </>
  )
}
