import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { familyOf } from '#contract/network.ts'
import type { PaymentOrder } from '../../payment/order.ts'
import { inWallet } from '../../payment-uris/uris.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { QrCode } from '../../ui/QrCode.tsx'
import { Segmented } from '../../ui/Segmented.tsx'
import { WalletCode } from './WalletCode.tsx'

type Way = 'page' | 'MetaMask' | 'Phantom' | 'code'

export type PhonePayProps = {
  network: string
  /** The payment that a payer of this address would make; nothing while the form is not filled in. */
  orderFrom: (sender: string) => PaymentOrder | undefined
  /** This page's address with what was entered. */
  pageOf: () => URL
}

/** Paying with the wallet on a phone: the page there, the page inside the wallet's app, or a code that the wallet itself reads. */
export function PhonePay({ network, orderFrom, pageOf }: PhonePayProps) {
  const { t } = useLingui()
  const [open, setOpen] = useState(false)
  const [way, setWay] = useState<Way>('page')
  const wallets: ('MetaMask' | 'Phantom')[] = familyOf(network) === 'evm' ? ['MetaMask', 'Phantom'] : ['Phantom']
  return (
    <>
      <Button className="mt-3" icon={<Icon name="qr" />} onClick={() => setOpen(true)} variant="quiet" wide>
        <Trans>Pay with a phone</Trans>
      </Button>
      <Dialog onClose={() => setOpen(false)} open={open} title={t`Pay with a phone`}>
        <div className="space-y-4">
          <Segmented
            className="flex w-full"
            label={t`What the code opens`}
            onChange={setWay}
            options={[
              { value: 'page', label: t`This page` },
              ...wallets.map((wallet) => ({ value: wallet, label: wallet })),
              { value: 'code', label: t`Wallet code` },
            ]}
            value={way}
          />
          {way === 'code' ? <WalletCode orderFrom={orderFrom} /> : <PageCode page={pageOf()} wallet={way === 'page' ? undefined : way} />}
        </div>
      </Dialog>
    </>
  )
}

function PageCode({ page, wallet }: { page: URL; wallet: 'MetaMask' | 'Phantom' | undefined }) {
  const { t } = useLingui()
  const value = wallet ? inWallet[wallet](page) : page.href
  const { host } = page
  return (
    <>
      <QrCode
        className="mx-auto w-full max-w-64 border border-line"
        label={wallet ? t`Code that opens this page at ${host} in the app of ${wallet}` : t`Code that opens this page at ${host}`}
        value={value}
      />
      <p className="text-center text-sm text-muted">
        {wallet ? <Trans>Opens this page inside the app of {wallet}.</Trans> : <Trans>Opens this page in the phone’s browser.</Trans>}
      </p>
      {wallet && page.protocol !== 'https:' && (
        <Banner role="note" tone="warn">
          <Trans>Apps of wallets open only addresses with https. This desk runs without it.</Trans>
        </Banner>
      )}
      <div className="flex flex-wrap justify-center gap-2">
        <CopyButton label={t`Copy link`} text value={value} />
        {wallet && (
          <a
            className="touch-target inline-flex h-8 items-center rounded-lg border border-edge px-2.5 text-sm font-medium"
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
